"""A tiny language model with random weights: tests/reference/llama/tiny.gguf. It writes nonsense, but by the rules: a
byte-level vocabulary, ChatML, a context of 256. heads.py makes another of its kind."""
import os

import gguf
import numpy as np

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "llama")
WIDTH, FEED, HEADS, CONTEXT = 32, 48, 2, 256


def byte_names():
    """GPT-2's spelling of the 256 bytes."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    extra = iter(range(256, 512))
    return [chr(b) if b in plain else chr(next(extra)) for b in range(256)]


def write(path, name, blocks, kv_heads, seed):
    tokens = [*byte_names(), "ab", "<|im_start|>", "<|im_end|>"]
    random = np.random.default_rng(seed)

    def some(*shape, scale=0.35):
        return (random.standard_normal(shape) * scale).astype(np.float32)

    w = gguf.GGUFWriter(path, "llama")
    w.add_name(name)
    w.add_context_length(CONTEXT)
    w.add_embedding_length(WIDTH)
    w.add_feed_forward_length(FEED)
    w.add_block_count(blocks)
    w.add_head_count(HEADS)
    w.add_head_count_kv(kv_heads)
    w.add_layer_norm_rms_eps(1e-5)
    w.add_rope_dimension_count(WIDTH // HEADS)
    w.add_vocab_size(len(tokens))
    w.add_tokenizer_model("gpt2")
    w.add_tokenizer_pre("default")
    w.add_token_list(tokens)
    w.add_token_types([1] * 257 + [3, 3])
    w.add_token_merges(["a b"])
    w.add_bos_token_id(257)
    w.add_eos_token_id(258)
    w.add_add_bos_token(False)
    w.add_chat_template("{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + "
                        "'<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}")
    w.add_tensor("token_embd.weight", some(len(tokens), WIDTH, scale=1))
    w.add_tensor("output_norm.weight", np.ones(WIDTH, np.float32))
    w.add_tensor("output.weight", some(len(tokens), WIDTH))
    kv = WIDTH // HEADS * kv_heads
    for block in range(blocks):
        for part, rows, columns in [("attn_q", WIDTH, WIDTH), ("attn_k", kv, WIDTH), ("attn_v", kv, WIDTH),
                                    ("attn_output", WIDTH, WIDTH), ("ffn_gate", FEED, WIDTH), ("ffn_up", FEED, WIDTH),
                                    ("ffn_down", WIDTH, FEED)]:
            w.add_tensor(f"blk.{block}.{part}.weight", some(rows, columns))
        for part in ("attn_norm", "ffn_norm"):
            w.add_tensor(f"blk.{block}.{part}.weight", np.ones(WIDTH, np.float32))
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


def main():
    os.makedirs(HERE, exist_ok=True)
    write(os.path.join(HERE, "tiny.gguf"), "tiny writer", blocks=1, kv_heads=HEADS, seed=11)


if __name__ == "__main__":
    main()
