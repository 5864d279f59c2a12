#!/usr/bin/env python3
"""What `quipu index` finds of the references that documents make, against labels it has not seen.

    references.py cross     "Rule 5.2.1(3)" in ObliQA's regulations, put together again out of their passages, against the
                            references within a document that the data set lists (edges.tsv, type ref)

An edge counts as right if it leads from a chunk that holds part of the citing passage to one that holds part of the cited
one; a listed reference as found if there is such an edge, to any of the passages under its number (5.2.1 is listed as its
parts (1), (2), ...).
"""
import argparse
import collections
import json
import os
import pathlib
import random
import re
import sqlite3
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent


def index(args, folder, name, *options):
    store = pathlib.Path(args.work) / f"{name}.store"
    subprocess.run(["rm", "-rf", str(store)], check=True)
    given = [x for o in options for x in ("-o", o)]
    subprocess.run([args.quipu, "index", "-s", str(store), "--embedder", "none", *given, str(folder)], check=True, stdout=subprocess.DEVNULL)
    return sqlite3.connect(store / "truth.db")


# ---- cross-references ----

def number(passage):
    return re.sub(r"^((PART|Part|Chapter|CHAPTER|Schedule|SECTION)[ _]\w+\.|APP\w*\.)+", "", passage)


def regulations(args, folder):
    """Writes each document as one text; {document: [(passage, from, to)]} in bytes."""
    documents = collections.defaultdict(list)
    for line in open(pathlib.Path(args.data) / "obliqa" / "corpus.jsonl", encoding="utf-8"):
        record = json.loads(line)
        documents[record["_id"].split(":")[0]].append(record)
    spans = {}
    folder.mkdir(parents=True, exist_ok=True)
    for name, passages in documents.items():
        text = os.path.commonprefix([p["title"] for p in passages[:5]]).strip().rstrip("0123456789. ").encode() + b"\n\n"
        spans[name] = []
        for p in passages:
            said = f"{number(p['passage'])} {p['text']}".encode()
            spans[name].append((p["_id"], len(text), len(text) + len(said)))
            text += said + b"\n\n"
        (folder / f"{name}.txt").write_bytes(text)
    return spans


def listed(args):
    out = set()
    for line in list(open(pathlib.Path(args.data) / "obliqa" / "edges.tsv", encoding="utf-8"))[1:]:
        tail, head, kind, _ = line.rstrip("\n").split("\t")
        if kind == "ref" and tail.split(":")[0] == head.split(":")[0]:
            out.add((tail, head))
    return out


def cross(args):
    folder = pathlib.Path(args.work) / "regulations"
    spans, gold = regulations(args, folder), listed(args)
    db = index(args, folder, "cross", "chunk_size=48")
    chunks = {(d, o): (pathlib.Path(key).stem, a, b) for d, o, key, a, b in db.execute(
        "select document, ordinal, key, start, stop from chunk join document on row = document")}

    def held(chunk):
        name, a, b = chunks[chunk]
        return {p for p, start, stop in spans[name] if start < b and a < stop}

    found, right, wrong = set(), 0, []
    for tail, tail_chunk, head, head_chunk in db.execute("select tail, tail_chunk, head, head_chunk from edge where type = 'xref'"):
        pairs = {(p, q) for p in held((tail, tail_chunk)) for q in held((head, head_chunk))}
        hit = pairs & gold
        found |= hit
        right += bool(hit)
        if not hit:
            wrong.append((sorted(held((tail, tail_chunk))), sorted(held((head, head_chunk)))))
    group = lambda pair: (pair[0], re.sub(r"(\.?\([^.]*\)|\.Guidance.*)+$", "", pair[1]))
    groups, hit_groups = {group(p) for p in gold}, {group(p) for p in found}
    edges = right + len(wrong)
    print(f"cross: {edges} edges, right {right} = {right / edges:.3f}; listed {len(groups)}, found {len(hit_groups)} = {len(hit_groups) / len(groups):.3f}")
    if args.show:
        random.seed(1)
        text = {p: (folder / f"{n}.txt").read_bytes()[a:b].decode()[:400] for n in spans for p, a, b in spans[n]}
        for tail, head in random.sample(wrong, min(args.show, len(wrong))):
            print("\nnot listed", head, tail, *(text[p] for p in tail))
        for pair in random.sample(sorted(groups - hit_groups), args.show):
            print("\nnot found", *pair, text[pair[0]])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=str(ROOT.parent / "shared" / "data"))
    parser.add_argument("--work", default="/tmp/quipu-references")
    parser.add_argument("--quipu", default=str(ROOT / "build" / "quipu"))
    parser.add_argument("--show", type=int, default=0, help="so many of what was missed and of what was not listed")
    parser.add_argument("what", choices=["cross"])
    args = parser.parse_args()
    pathlib.Path(args.work).mkdir(parents=True, exist_ok=True)
    globals()[args.what](args)


if __name__ == "__main__":
    main()
