#!/usr/bin/env python3
"""Milliseconds a question takes, by method and stage, on an index that is there.

    bench/speed.py [--store DIR] [--questions N] [--budget N]

The store is by default what `make demo` made. The questions are titles of its documents. A warm process answers them one
after the other; the first is not counted. `rest` is what is ours: search, graph, snapshot, JSON. The load average is
printed: above the number of cores the times say more about the neighbours than about Quipu.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
METHODS = ["bm25", "vector", "hybrid", "rerank", "gar", "fastinsight"]
WITH_BUDGET = ["rerank", "gar", "fastinsight"]


def retrieve(store, *args):
    done = subprocess.run([ROOT / "build/quipu", "retrieve", "-q", "-s", store, "--json", *map(str, args)],
                          stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(done.returncode)  # quipu has said why
    return [json.loads(line) for line in done.stdout.splitlines()]


def titles(store, count):
    """Of what words that stand everywhere find, each title once, evenly drawn."""
    (found,) = retrieve(store, "-m", "bm25", "-k", 1000, "how the what when")
    all_titles = list(dict.fromkeys(hit["title"] for hit in found["hits"]))
    return all_titles[:: max(1, len(all_titles) // count)][:count]


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", default=ROOT / "demo/store", type=pathlib.Path)
    parser.add_argument("--questions", default=20, type=int)
    parser.add_argument("--budget", default=100, type=int, help="passages that a method reranks")
    args = parser.parse_args()
    if not args.store.is_dir():
        sys.exit(f"speed: {args.store} is no index; make demo, or --store DIR")

    questions = titles(args.store, args.questions + 1)
    print(f"{len(questions) - 1} questions, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; milliseconds")
    print(f"{'method':<12} {'total p50':>9} {'p95':>9} {'embed p50':>9} {'rank p50':>9} {'rest p50':>9} {'p95':>9} {'passes':>7}")
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        for number, text in enumerate(questions):
            print(json.dumps({"_id": str(number), "text": text}), file=file)
        file.flush()
        for method in METHODS:
            options = ["-o", f"budget={args.budget}"] if method in WITH_BUDGET else []
            answers = retrieve(args.store, "-m", method, *options, "--queries", file.name)[1:]
            ms = {stage: [a["timings_ms"][stage] for a in answers] for stage in ["total", "embed", "rank", "rest"]}
            print(f"{method:<12} {percentile(ms['total'], .5):9.1f} {percentile(ms['total'], .95):9.1f} "
                  f"{percentile(ms['embed'], .5):9.1f} {percentile(ms['rank'], .5):9.1f} {percentile(ms['rest'], .5):9.2f} "
                  f"{percentile(ms['rest'], .95):9.2f} {sum(a['model_passes'] for a in answers) / len(answers):7.0f}", flush=True)


if __name__ == "__main__":
    main()
