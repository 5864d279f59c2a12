"""Write trained weights, of several runs their mean, as GGUF: matrices as Q8_0 or BF16, norms, biases and the head's small
tensors as F32."""
import argparse
from pathlib import Path

import numpy as np
from gguf import GGMLQuantizationType, GGUFWriter, PoolingType, TokenType, quants
from safetensors.numpy import load_file
from transformers import AutoConfig, AutoTokenizer

BLOCK = {
    "attention.self.query": "attn_q", "attention.self.key": "attn_k", "attention.self.value": "attn_v",
    "attention.output.dense": "attn_output", "attention.output.LayerNorm": "attn_output_norm",
    "intermediate.dense": "ffn_up", "output.dense": "ffn_down", "output.LayerNorm": "layer_output_norm",
}
OUTER = {
    "bert.embeddings.word_embeddings": "token_embd", "bert.embeddings.position_embeddings": "position_embd",
    "bert.embeddings.token_type_embeddings": "token_types", "bert.embeddings.LayerNorm": "token_embd_norm",
    "dense": "cls", "output": "cls.output",
}
KEPT_F32 = ("position_embd", "token_types", "cls")


def gguf_name(name):
    stem, kind = name.rsplit(".", 1)
    if stem in OUTER:
        return f"{OUTER[stem]}.{kind}"
    layer, part = stem.removeprefix("bert.encoder.layer.").split(".", 1)
    return f"blk.{layer}.{BLOCK[part]}.{kind}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weights", required=True, nargs="+", help="of runs that began with one another's weights: their mean")
    parser.add_argument("--base", required=True)
    parser.add_argument("--type", choices=["q8_0", "bf16"], default="q8_0")
    parser.add_argument("--name", default="quipu-rerank-v1")
    parser.add_argument("--max-tokens", type=int, default=0, help="longest input, the rest is cut; 0: 512")
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    config, tokenizer = AutoConfig.from_pretrained(args.base), AutoTokenizer.from_pretrained(args.base)

    writer = GGUFWriter(args.out, "bert")
    writer.add_name(args.name)
    writer.add_license("apache-2.0")
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_head_count(config.num_attention_heads)
    writer.add_layer_norm_eps(config.layer_norm_eps)
    writer.add_causal_attention(False)
    writer.add_pooling_type(PoolingType.RANK)
    writer.add_classifier_output_labels(["relevance"])
    writer.add_uint32("quipu.segments", 0)
    if args.max_tokens:
        writer.add_uint32("quipu.max_tokens", args.max_tokens)

    # llama.cpp's WordPiece marks word starts instead of continuations.
    vocabulary = sorted(tokenizer.get_vocab(), key=tokenizer.get_vocab().get)
    special = set(tokenizer.all_special_tokens)
    tokens, types = [], []
    for token in vocabulary:
        if token in special:
            tokens.append(token)
            types.append(TokenType.CONTROL)
        elif token.startswith("[unused"):
            tokens.append(token)
            types.append(TokenType.UNUSED)
        else:
            tokens.append(token[2:] if token.startswith("##") else "\u2581" + token)
            types.append(TokenType.NORMAL)
    writer.add_tokenizer_model("bert")
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    writer.add_bos_token_id(tokenizer.cls_token_id)
    writer.add_eos_token_id(tokenizer.sep_token_id)
    writer.add_sep_token_id(tokenizer.sep_token_id)
    writer.add_unk_token_id(tokenizer.unk_token_id)
    writer.add_pad_token_id(tokenizer.pad_token_id)
    writer.add_token_type_count(config.type_vocab_size)

    kind = GGMLQuantizationType[args.type.upper()]
    runs = [load_file(path) for path in args.weights]
    for name in runs[0]:
        target, tensor = gguf_name(name), sum(run[name].astype(np.float32) for run in runs) / len(runs)
        if tensor.ndim == 2 and not target.startswith(KEPT_F32):
            writer.add_tensor(target, quants.quantize(tensor, kind), raw_dtype=kind)
        else:
            writer.add_tensor(target, tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    print(args.out, f"{Path(args.out).stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
