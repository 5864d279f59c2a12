#!/usr/bin/env python3
"""Texts as FastInsight's text-rich knowledge graphs are: entities are the documents, facts the edges, and right is every entity of a right
text. For want of a writer's descriptions an entity's text is the first sentences that it stands in.

    bench/entities.py DATA OUT [QUESTIONS DOCUMENTS]

With numbers: that many questions, drawn, and of the texts those that are right for them and others, drawn. OUT/texts is that set, OUT/store its
index with the graph drawn out of it, OUT/entities what is to be indexed and measured.
"""
import collections
import json
import pathlib
import random
import re
import subprocess
import sys

SEED = 1
SENTENCES, LONGEST = 2, 240  # of a description; letters of each
ROOT = pathlib.Path(__file__).resolve().parent.parent


def lines(path):
    return open(path, encoding="utf-8").read().splitlines()


def judgements(data):
    return [line.split("\t") for line in lines(data / "qrels.tsv")[1:]]


def sample(data, out, questions, documents):
    random.seed(SEED)
    asked = set(random.sample(sorted({q for q, _, s in judgements(data) if int(s) > 0}), questions))
    kept = [j for j in judgements(data) if j[0] in asked]
    corpus = {json.loads(line)["_id"]: line for line in lines(data / "corpus.jsonl")}
    right = {d for _, d, _ in kept}
    others = random.sample(sorted(corpus.keys() - right), max(documents - len(right), 0))
    write(out, "corpus.jsonl", (corpus[d] for d in corpus if d in right or d in others))
    write(out, "queries.jsonl", (line for line in lines(data / "queries.jsonl") if json.loads(line)["_id"] in asked))
    write(out, "qrels.tsv", ["query-id\tcorpus-id\tscore", *map("\t".join, kept)])
    return out


def graph(store):
    facts, mentions = set(), collections.defaultdict(set)
    told = subprocess.run([ROOT / "build" / "bench_entities", store], stdout=subprocess.PIPE, check=True).stdout.decode(errors="replace")
    for what, a, b, _ in (line.split("\t", 3) for line in told.split("\n") if line):
        if what == "mention":
            mentions[b].add(a)
        elif a != b:
            facts.add((min(a, b), max(a, b)))
    return facts, mentions


def describe(corpus, mentions):
    """The first sentences that have an entity's words."""
    said = collections.defaultdict(list)
    for line in lines(corpus):
        document = json.loads(line)
        sentences = re.split(r"(?<=[.!?])\s+", document.get("title", "") + ". " + document["text"])
        words = [" " + " ".join(re.findall(r"\w+", s.lower())) + " " for s in sentences]
        for entity in sorted(mentions.get(document["_id"], ())):
            if len(said[entity]) < SENTENCES:
                name = " " + " ".join(re.findall(r"\w+", entity.lower())) + " "
                said[entity] += [s[:LONGEST] for s, w in zip(sentences, words) if name in w][:SENTENCES - len(said[entity])]
    return said


def write(out, name, written):
    out.mkdir(parents=True, exist_ok=True)
    with open(out / name, "w", encoding="utf-8") as f:
        f.writelines(line + "\n" for line in written)


def main():
    if len(sys.argv) not in (3, 5):
        sys.exit(__doc__)
    data, out = map(pathlib.Path, sys.argv[1:3])
    if len(sys.argv) == 5:
        data = sample(data, out / "texts", *map(int, sys.argv[3:]))
    subprocess.run([ROOT / "build" / "quipu", "index", "-q", "--embedder", "hash", "-o", "graph=text", "-s", out / "store", data], check=True)
    facts, mentions = graph(out / "store")
    said, out = describe(data / "corpus.jsonl", mentions), out / "entities"
    entities = sorted(set().union(*mentions.values()))
    write(out, "corpus.jsonl", (json.dumps({"_id": e, "title": e, "text": " ".join(said[e])}) for e in entities))
    write(out, "edges.tsv", ["src\tdst\ttype\tweight", *(f"{a}\t{b}\tfact\t1" for a, b in sorted(facts))])
    write(out, "qrels.tsv", ["query-id\tcorpus-id\tscore", *sorted({f"{q}\t{e}\t1" for q, d, s in judgements(data) if int(s) > 0 for e in mentions[d]})])
    write(out, "queries.jsonl", lines(data / "queries.jsonl"))
    print(f"{len(entities)} entities, {len(facts)} pairs, {sum(map(len, said.values()))} sentences")


if __name__ == "__main__":
    main()
