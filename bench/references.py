#!/usr/bin/env python3
"""What `quipu index` finds of the references that documents make, against labels it has not seen.

    references.py cross     "Rule 5.2.1(3)" in ObliQA's regulations, put together again out of their passages, against the
                            references within a document that the data set lists (edges.tsv, type ref)

    references.py papers PAPERS
                            the reference lists of twenty papers in the folder PAPERS, against bench/references.tsv: entries
                            found, their fields, and the papers among the twenty that they are

The twenty: the five papers in shared/papers (texts); vignettes in PDF of Debian's r-cran-clue, coin, flexmix, multcomp, party, pscl,
sandwich, strucchange, vcd, zoo; user's guides of KLU and UMFPACK in libsuitesparse-doc or -dev; vignettes in HTML of r-cran-loo
(loo2-lfo, loo2-non-factorized) and r-cran-rstanarm (jm). They are not in the repository. Labels were drafted by the parser under
test and corrected by reading each list; strucchange-intro.pdf's, whose text comes out scrambled, were written by hand.

An edge counts as right if it leads from a chunk that holds part of the citing passage to one that holds part of the cited
one; a listed reference as found if there is such an edge, to any of the passages under its number (5.2.1 is listed as its
parts (1), (2), ...).
"""
import argparse
import collections
import csv
import difflib
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


# ---- reference lists ----

FIELDS = ("surname", "title", "year", "doi", "arxiv")


def letters(text):
    return re.sub(r"[\W_]+", "", text.lower())


def same(field, found, label):
    if field == "title":
        return letters(found) == letters(label)
    return letters(found) == letters(label) if field == "surname" else found == label


def points(found, label):
    like = difflib.SequenceMatcher(None, letters(found["title"]), letters(label["title"])).ratio()
    return 2 * (like > 0.6) + like + (found["surname"] == label["surname"]) + (found["year"][:4] == label["year"][:4])


def pairs(found, labels):
    """(entry, label) that are the same reference: by number, else the most alike first; each once."""
    scored = sorted(((points(f, l) + 4 * (bool(l["number"]) and str(f["number"]) == l["number"]), i, j)
                     for i, f in enumerate(found) for j, l in enumerate(labels)), reverse=True)
    out, left, right = [], set(), set()
    for score, i, j in scored:
        if score >= 2.5 and i not in left and j not in right:
            left.add(i)
            right.add(j)
            out.append((found[i], labels[j]))
    return out


def ratio(a, b):
    return f"{a} of {b} = {a / b:.3f}" if b else "none"


def papers(args):
    folder = pathlib.Path(args.papers)
    labels = list(csv.DictReader(open(ROOT / "bench" / "references.tsv", encoding="utf-8"), delimiter="\t", quoting=csv.QUOTE_NONE))
    names = sorted({l["document"] for l in labels})
    tool = pathlib.Path(args.quipu).with_name("bench_references")
    told = subprocess.run([str(tool), *(str(folder / n) for n in names)], check=True, capture_output=True, text=True).stdout
    found = [json.loads(line) for line in told.splitlines()]
    matched = [pair for n in names for pair in pairs([f for f in found if pathlib.Path(f["file"]).name == n], [l for l in labels if l["document"] == n])]
    print(f"entries: precision {ratio(len(matched), len(found))}, recall {ratio(len(matched), len(labels))}")
    for field in FIELDS:
        right = [same(field, f[field], l[field]) for f, l in matched if l[field]]
        print(f"{field}: precision {ratio(sum(right), sum(bool(f[field]) for f, l in matched))}, recall {ratio(sum(right), sum(bool(l[field]) for l in labels))}")
        for f, l in matched[:] if args.show else []:
            if not same(field, f[field], l[field]):
                print("   ", l["document"], l["number"], repr(f[field]), "wanted", repr(l[field]))
    db = index(args, folder, "papers")
    edges = {(pathlib.Path(a).name, pathlib.Path(b).name) for a, b in db.execute(
        "select t.key, h.key from edge join document t on t.row = tail join document h on h.row = head where type = 'cites'")}
    wanted = {(l["document"], l["cites"]) for l in labels if l["cites"] and l["cites"] != l["document"]}
    print(f"papers cited: precision {ratio(len(edges & wanted), len(edges))}, recall {ratio(len(edges & wanted), len(wanted))}")
    for edge in sorted(edges ^ wanted):
        print("   ", "not labelled" if edge in edges else "not found", *edge)
    said = db.execute("select count(*), sum(chunk < 4294967295) from reference where type = 'cites' and target like 'work:%'").fetchone()
    print(f"citations in the text: {said[1]} of {said[0]} references lead from a chunk")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=str(ROOT.parent / "shared" / "data"))
    parser.add_argument("--work", default="/tmp/quipu-references")
    parser.add_argument("--quipu", default=str(ROOT / "build" / "quipu"))
    parser.add_argument("--show", type=int, default=0, help="so many of what was missed and of what was not listed")
    parser.add_argument("what", choices=["cross", "papers"])
    parser.add_argument("papers", nargs="?")
    args = parser.parse_args()
    pathlib.Path(args.work).mkdir(parents=True, exist_ok=True)
    globals()[args.what](args)


if __name__ == "__main__":
    main()
