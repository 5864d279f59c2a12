"""GEAR's head vectors by PyTorch: what the last layer's output projection reads, by a hook on it. Of a decoder the last
token's row, of an encoder the mean of its rows.

    heads.py                        writes tests/reference/heads/: the tiny BERT's (bert.py), and those of a tiny decoder
                                    with grouped queries, which it makes
    heads.py BUILD MODEL.gguf...    holds each model's against PyTorch on the same weights: the file's own, made floats.
                                    Texts: MetaQA's triples from $QUIPU_DATA or ../shared/data. BERT's tokeniser: QUIPU_CHECKPOINT
"""
import json
import os
import pathlib
import random
import subprocess
import sys

import gguf
import numpy as np
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import BertConfig, BertModel, LlamaConfig, LlamaModel

import llama
import parity

HERE = pathlib.Path(__file__).resolve().parent
torch.set_num_threads(1)
TEXTS = ["", "a", "the graph", "Walking the GRAPHS, retrieval-ed?", "caf\u00e9 na\u00efve", "\u4e2d\u56fd\u6587\u5b57",
         "The Godfather directed_by Francis Ford Coppola", "x" * 100, "the graph walks " * 12, "y" * 300]  # none has "ab"


def tensors(file):
    for t in file.tensors:
        array = gguf.quants.dequantize(t.data, t.tensor_type).reshape(tuple(reversed(t.shape.tolist())))
        yield t.name, torch.from_numpy(np.array(array, np.float32))


def load(model, weights):
    missing, unknown = model.load_state_dict(weights, strict=False)
    assert not unknown and all("position_ids" in name for name in missing), (missing, unknown)
    return model.eval()


def torch_encoder(file):
    value = {key: field.contents() for key, field in file.fields.items() if key.startswith("bert.")}
    weights = {}
    for name, array in tensors(file):
        stem, kind = name.rsplit(".", 1)
        if stem.startswith("cls"):
            continue
        if stem.startswith("blk."):
            _, layer, part = stem.split(".")
            stem = f"encoder.layer.{layer}.{parity.NAMES[part]}"
        else:
            stem = parity.OUTER[stem].removeprefix("bert.")
        weights[f"{stem}.{kind}"] = array
    words = weights["embeddings.word_embeddings.weight"]
    types = weights["embeddings.token_type_embeddings.weight"] = weights["embeddings.token_type_embeddings.weight"].reshape(-1, words.shape[1])
    config = BertConfig(vocab_size=words.shape[0], hidden_size=words.shape[1], num_hidden_layers=value["bert.block_count"],
                        num_attention_heads=value["bert.attention.head_count"], intermediate_size=value["bert.feed_forward_length"],
                        max_position_embeddings=weights["embeddings.position_embeddings.weight"].shape[0], type_vocab_size=types.shape[0],
                        layer_norm_eps=value["bert.attention.layer_norm_epsilon"])
    model = load(BertModel(config, add_pooling_layer=False), weights)
    return model, model.encoder.layer[-1].attention.output.dense, config.num_attention_heads


LLAMA = {"attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj",
         "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj", "attn_norm": "input_layernorm",
         "ffn_norm": "post_attention_layernorm"}


def apart(w, heads):
    """A file of this family has the two halves that RoPE turns in turns; PyTorch has one after the other."""
    return w.reshape(heads, w.shape[0] // heads // 2, 2, w.shape[1]).swapaxes(1, 2).reshape(w.shape)


def torch_decoder(file):
    value = {key: field.contents() for key, field in file.fields.items() if key.startswith("llama.")}
    heads, kv = value["llama.attention.head_count"], value["llama.attention.head_count_kv"]
    weights = {}
    for name, array in tensors(file):
        stem, kind = name.rsplit(".", 1)
        if stem.startswith("blk."):
            _, layer, part = stem.split(".")
            array = apart(array, heads if part == "attn_q" else kv) if part in ("attn_q", "attn_k") else array
            weights[f"layers.{layer}.{LLAMA[part]}.{kind}"] = array
        elif stem != "output":
            weights[{"token_embd": "embed_tokens", "output_norm": "norm"}[stem] + "." + kind] = array
    config = LlamaConfig(vocab_size=weights["embed_tokens.weight"].shape[0], hidden_size=value["llama.embedding_length"],
                         intermediate_size=value["llama.feed_forward_length"], num_hidden_layers=value["llama.block_count"],
                         num_attention_heads=heads, num_key_value_heads=kv, rms_norm_eps=value["llama.attention.layer_norm_rms_epsilon"],
                         rope_parameters={"rope_type": "default", "rope_theta": value.get("llama.rope.freq_base", 10000.0)},
                         max_position_embeddings=value["llama.context_length"])
    model = load(LlamaModel(config), weights)
    return model, model.layers[-1].self_attn.o_proj, heads


def open_model(path):
    file = gguf.GGUFReader(path)
    encoder = file.fields["general.architecture"].contents() == "bert"
    model, projection, heads = torch_encoder(file) if encoder else torch_decoder(file)
    seen = []
    projection.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0][0]))

    def attend(ids):
        seen.clear()
        with torch.no_grad():
            model(input_ids=torch.tensor([ids]))
        return (seen[0].mean(0) if encoder else seen[0][-1]).numpy()

    return attend, heads, encoder, file


# ---- real models, by hand ----

def triples():
    """Relations' names, triples, and ten triples in a row."""
    path = pathlib.Path(os.environ.get("QUIPU_DATA") or HERE.parent.parent.parent / "shared" / "data") / "metaqa" / "triples.tsv"
    lines = [line.rstrip("\n").replace("\t", " ") for line in open(path, encoding="utf-8")]
    chance = random.Random(3)
    return ["directed_by", "has_tags"] + chance.sample(lines, 36) + [". ".join(chance.sample(lines, 10)) for _ in range(2)]


def tokenizer_of(file, encoder):
    if encoder:
        own = Tokenizer.from_file(str(parity.checkpoint() / "tokenizer.json"))
        own.no_truncation()
        own.no_padding()
        return own
    words, merges = (file.fields[f"tokenizer.ggml.{key}"].contents() for key in ("tokens", "merges"))
    own = Tokenizer(models.BPE({w: i for i, w in enumerate(words)}, [tuple(m.split(" ")) for m in merges]))
    assert file.fields["tokenizer.ggml.pre"].contents() == "smollm", "only SmolLM2's way to split text is known here"
    own.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True),
                                                 pre_tokenizers.ByteLevel(add_prefix_space=False)])
    return own


def compare(build, path):
    attend, heads, encoder, file = open_model(path)
    tokenizer, texts = tokenizer_of(file, encoder), triples()
    parity.BUILD = build
    ours = np.array(parity.ours("heads", path, [{"text": t} for t in texts])).reshape(len(texts), heads, -1)
    theirs = np.array([attend(tokenizer.encode(t).ids) for t in texts]).reshape(ours.shape)
    cosine = (ours * theirs).sum(2) / np.linalg.norm(ours, axis=2) / np.linalg.norm(theirs, axis=2)
    for h in range(heads):
        print(f"      head {h:2}: cosine {cosine[:, h].mean():.6f}, least {cosine[:, h].min():.6f}")
    quantised = any(t.tensor_type.name.startswith("Q") for t in file.tensors)
    bound = .97 if quantised else .9999
    parity.check(cosine.min() > bound, f"{os.path.basename(path)}: {len(texts)} texts, {heads} heads of {ours.shape[2]}: least cosine "
                 f"{cosine.min():.6f}, largest difference {abs(ours - theirs).max():.2g} of {abs(theirs).max():.2g}")


# ---- tiny ones, kept ----

def write():
    folder = HERE / "heads"
    folder.mkdir(exist_ok=True)
    decoder = folder / "decoder.gguf"
    llama.write(str(decoder), "tiny decoder", blocks=3, kv_heads=1, seed=13)

    def put(name, attend, lines):
        with open(folder / name, "w", encoding="utf-8") as out:
            for text, ids in lines:
                out.write(json.dumps({"text": text, "heads": [round(float(v), 7) for v in attend(ids)]}) + "\n")

    known = [json.loads(line) for line in open(HERE / "bert" / "tiny.jsonl", encoding="utf-8")]
    put("bert.jsonl", open_model(str(HERE / "bert" / "tiny.gguf"))[0], [(k["text"], [2, *k["ids"][:38], 3]) for k in known if "ids" in k])
    put("decoder.jsonl", open_model(str(decoder))[0], [(t, list(t.encode())[:llama.CONTEXT] or [258]) for t in TEXTS])


def main():
    if len(sys.argv) > 1:
        for path in sys.argv[2:]:
            compare(pathlib.Path(sys.argv[1]).resolve(), path)
        sys.exit(parity.check.failed)
    write()


if __name__ == "__main__":
    main()
