"""A tiny BERT with random weights, and what PyTorch and HF tokenizers say about it: tests/reference/bert/.

tiny.gguf has two layers and the oddest sizes that are allowed; tiny.jsonl holds its vectors, latents, scores and tokens, and of
each text's thirds (bytes) the mean over the tokens whose word begins there.
"""
import json
import os
import tempfile

import gguf
import numpy as np
import torch
from tokenizers import BertWordPieceTokenizer
from transformers import BertConfig, BertForSequenceClassification

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bert")
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789αβγδбвгдעبक한글ßøłđıﬁ"
ALONE = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~–—“”…。、々中国文字漢€°あア🙂"
WORDS = ["the", "graph", "##ing", "##ed", "cafe", "naive", "retrieval", "vitamin", "walk"]
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *LETTERS, *("##" + c for c in LETTERS), *ALONE, *WORDS]

TEXTS = [
    "", " ", "the graph", "Walking the GRAPHS, retrieval-ed?", "café naïve Ångström cafe\u0301", "e\u0301\u0302x ﬁt İstanbul ıı",
    "中国文字 abc漢字def", "한글 한\u1100\u1161글", "a\u200bb\u00adc\ufeffd\u0000e", "a\u00a0b\u2003c\u3000d\u2028e\te\nf\rg",
    "“quoted”—dash…end。", "[CLS] in [MASK] text [SEP][PAD] [cls] [UNK]x", "x" * 100, "y" * 101, "αβγ ΑΒΓ Σς", "БВГД бвгд",
    "עב ـب", "क़ कि", "🙂🙂 🇫🇷", "a\u0300\u0301\u0302\u0303b", "\u2581the \u2581", "##ing ing##ed", "50%off $3.50 a_b a-b a/b",
    "\u0378\ufffdab", "the the the graph graph walk " * 12,
]
PAIRS = [("the graph", "Walking the graphs"), ("vitamin", ""), ("", "the walk"), ("cafe naive", "the " * 60),
         ("graph " * 50, "the walk of vitamin"), ("b", "retrieval 中国 x")]


def make():
    torch.manual_seed(7)
    config = BertConfig(vocab_size=len(VOCABULARY), hidden_size=36, num_hidden_layers=2, num_attention_heads=3,
                        intermediate_size=52, max_position_embeddings=40, num_labels=1, layer_norm_eps=1e-12)
    model = BertForSequenceClassification(config).eval()
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.randn_like(p) * (0.3 if p.dim() > 1 else 0.2))
        for name, p in model.named_parameters():
            if name.endswith("LayerNorm.weight"):
                p.add_(1)
    return model


def write(model):
    w = gguf.GGUFWriter(os.path.join(HERE, "tiny.gguf"), "bert")
    c = model.config
    w.add_name("tiny")
    w.add_context_length(c.max_position_embeddings)
    w.add_embedding_length(c.hidden_size)
    w.add_feed_forward_length(c.intermediate_size)
    w.add_block_count(c.num_hidden_layers)
    w.add_head_count(c.num_attention_heads)
    w.add_layer_norm_eps(c.layer_norm_eps)
    w.add_causal_attention(False)
    w.add_tokenizer_model("bert")
    w.add_token_list([t if i < 5 else t[2:] if t.startswith("##") and len(t) > 2 else "\u2581" + t for i, t in enumerate(VOCABULARY)])
    w.add_token_types([3 if i < 5 else 1 for i in range(len(VOCABULARY))])
    w.add_token_type_count(2)
    names = {"bert.embeddings.word_embeddings": "token_embd", "bert.embeddings.position_embeddings": "position_embd",
             "bert.embeddings.token_type_embeddings": "token_types", "bert.embeddings.LayerNorm": "token_embd_norm",
             "bert.pooler.dense": "cls", "classifier": "cls.output"}
    for i in range(c.num_hidden_layers):
        for ours, theirs in {"attn_q": "attention.self.query", "attn_k": "attention.self.key", "attn_v": "attention.self.value",
                             "attn_output": "attention.output.dense", "attn_output_norm": "attention.output.LayerNorm",
                             "ffn_up": "intermediate.dense", "ffn_down": "output.dense",
                             "layer_output_norm": "output.LayerNorm"}.items():
            names[f"bert.encoder.layer.{i}.{theirs}"] = f"blk.{i}.{ours}"
    for name, p in model.named_parameters():
        stem, kind = name.rsplit(".", 1)
        w.add_tensor(f"{names[stem]}.{kind}", p.detach().numpy().astype(np.float32))
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


def unit(rows):
    mean = rows.mean(0)
    return [round(v, 7) for v in (mean / mean.norm()).tolist()]


def thirds(encoding, text, rows):
    """[from, to, vector]; no vector where no word begins."""
    begins = {}
    for word, (a, _) in zip(encoding.word_ids, encoding.offsets):
        begins.setdefault(word, len(text[:a].encode()))
    n = len(text.encode())
    for i in range(3):
        a, b = n * i // 3, n * (i + 1) // 3
        chosen = [k for k, word in enumerate(encoding.word_ids[:39]) if word is not None and a <= begins[word] < b]
        yield [a, b, unit(rows[chosen]) if chosen else [0.0] * rows.shape[1]]


def main():
    os.makedirs(HERE, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as f:
        f.write("\n".join(VOCABULARY))
        f.flush()
        tokenizer = BertWordPieceTokenizer(f.name, lowercase=True)
    model = make()
    write(model)
    with torch.no_grad(), open(os.path.join(HERE, "tiny.jsonl"), "w") as out:
        def run(ids, segments):
            x = {"input_ids": torch.tensor([ids]), "token_type_ids": torch.tensor([segments])}
            return model.bert(**x).last_hidden_state[0], model(**x).logits.item()

        for text in TEXTS:
            encoding = tokenizer.encode(text)
            ids = encoding.ids
            cut = ids[:1] + ids[1:-1][:38] + ids[-1:]
            rows, _ = run(cut, [0] * len(cut))
            out.write(json.dumps({"text": text, "ids": ids[1:-1], "mean": unit(rows), "first": unit(rows[:1]),
                                  "spans": list(thirds(encoding, text, rows))}) + "\n")
        for query, text in PAIRS:
            q = tokenizer.encode(query).ids[1:-1][: 37 - 37 // 4]
            t = tokenizer.encode(text).ids[1:-1][: 37 - len(q)]
            for segment in (0, 1):
                rows, score = run([2, *q, 3, *t, 3], [0] * (len(q) + 2) + [segment] * (len(t) + 1))
                out.write(json.dumps({"query": query, "text": text, "segment": segment, "score": round(score, 7),
                                      "latent": [round(v, 6) for v in rows[0].tolist()]}) + "\n")


main()
