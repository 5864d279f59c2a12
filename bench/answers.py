#!/usr/bin/env python3
"""Answer recall as LEGO-GraphRAG means it (its Table 5): the share of a question's answers among the 1,000 nodes that PPR finds
from the entities it names, by each engine, on knowledge graphs with questions. Standard library alone.

    bench/answers.py [--data DIR] [--sample 500] [--alpha .15] [--top 1000] [--csv] SET...

SET: a folder with triples.tsv, queries.jsonl (`entities`, perhaps `hops`) and answers.jsonl, as metaqa or webqsp-paths. Needs
`ninja -C build bench_graph`. Questions are drawn with seed 1; edges go both ways. Milliseconds: median, of processor time.
"""
import argparse
import array
import collections
import csv
import json
import os
import pathlib
import random
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
ENGINES = {"exact": ("exact", 0), "fast": ("fast", 0), "fast 1e-6": ("fast", 1e-6)}


def rows_of(triples):
    """Ids by name, and who stands beside whom."""
    ids, beside = {}, collections.defaultdict(set)
    for line in triples:
        head, _, tail = line.rstrip("\n").split("\t")[:3]
        u, v = ids.setdefault(head, len(ids)), ids.setdefault(tail, len(ids))
        if u != v:
            beside[u].add(v)
            beside[v].add(u)
    return ids, [sorted(beside[v]) for v in range(len(ids))]


def keep(rows, path):
    start, target = array.array("Q", [0]), array.array("I")
    for row in rows:
        target.extend(row)
        start.append(len(target))
    with open(path, "wb") as file:
        for part in (array.array("Q", [len(rows), len(target)]), start, target):
            part.tofile(file)


def questions(folder, ids, sample):
    """Of each number of hops: its entities' ids and its answers'; what the graph does not hold is an answer missed."""
    with open(folder / "answers.jsonl", encoding="utf-8") as file:
        answers = {line["_id"]: line["answers"] for line in map(json.loads, file)}
    groups = collections.defaultdict(list)
    with open(folder / "queries.jsonl", encoding="utf-8") as file:
        for line in map(json.loads, file):
            seeds = [ids[name] for name in line["entities"] if name in ids]
            if seeds and answers.get(line["_id"]):
                groups[line.get("hops", "any")].append((seeds, [ids.get(name, -1) for name in answers[line["_id"]]]))
    return {hops: random.Random(1).sample(group, min(sample, len(group))) for hops, group in sorted(groups.items())}


def ask(process, args, kind, seeds):
    engine, tolerance = ENGINES[kind]
    print(engine, args.alpha, tolerance, args.top, 1, 0, *seeds, file=process.stdin, flush=True)
    ms, _, _, *found = process.stdout.readline().split()
    return float(ms), set(map(int, found[::2]))


def measure(process, args, group):
    ms, recall, overlap = ({kind: [] for kind in ENGINES} for _ in range(3))
    for seeds, answers in group:
        for kind in ENGINES:
            took, found = ask(process, args, kind, seeds)
            best = found if kind == "exact" else best
            ms[kind].append(took)
            recall[kind].append(sum(answer in found for answer in answers) / len(answers))
            overlap[kind].append(len(found & best) / max(len(best), 1))
    return {kind: (statistics.median(ms[kind]), statistics.mean(recall[kind]), statistics.mean(overlap[kind])) for kind in ENGINES}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--data", default=os.environ.get("QUIPU_DATA", "."))
    parser.add_argument("--sample", default=500, type=int)
    parser.add_argument("--alpha", default=.15, type=float)
    parser.add_argument("--top", default=1000, type=int)
    parser.add_argument("--csv", action="store_true")
    args = parser.parse_args()
    rows = []
    for name in args.sets:
        folder = pathlib.Path(args.data) / name
        with open(folder / "triples.tsv", encoding="utf-8") as file:
            next(file)
            ids, beside = rows_of(file)
        with tempfile.NamedTemporaryFile(suffix=".graph") as graph:
            keep(beside, graph.name)
            process = subprocess.Popen([ROOT / "build/bench_graph", graph.name], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, text=True)
            process.stdout.readline()
        for hops, group in questions(folder, ids, args.sample).items():
            result = measure(process, args, group)
            for kind, (ms, recall, overlap) in result.items():
                print(f"{name}, hops {hops}, {len(group)} questions, {kind}: {ms:.3f} ms, answers {recall:.3f}, "
                      f"R@{args.top} {overlap:.3f}; load {os.getloadavg()[0]:.1f}", flush=True)
                rows.append([f"ppr {kind}", f"{name} hops {hops} alpha {args.alpha}", "quipu exact", f"{result['exact'][0]:.3f}",
                             f"{ms:.3f}", f"{result['exact'][0] / ms:.4g}", f"answers {recall:.3f} R@{args.top} {overlap:.3f}",
                             f"{len(group)} questions; load {os.getloadavg()[0]:.1f}"])
        process.stdin.close()
    if args.csv:
        with open(ROOT / "bench/graph.csv", "a", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    main()
