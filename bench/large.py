#!/usr/bin/env python3
"""PPR by the fast engine against our own exact one, on R-MAT graphs too large for other programs. Standard library alone.

    bench/large.py [--nodes 100000000] [--edges 300000000] [--sources 8] [--times 5] [--alpha .15] [--directed] [--weighted]
                   [--single] [--tolerances 2e-5,1e-5,5e-6] [--truth FILE] [--csv]

Needs `ninja -C build bench_graph`; at 100M nodes and 300M edges 13 GB of memory. --truth keeps the exact answers, which
take a minute a source there, in a file, and reads them if it is there already. Milliseconds are of processor time, the
median and 95 of 100 over sources x times; then by the clock. R: share of the exact best k found. near: share whose true
score is within 5 % of the k-th. mass: true score found over that of the best k. A run with a load above 2 is void.
"""
import argparse
import csv
import os
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in {"nodes": 100_000_000, "edges": 300_000_000, "sources": 8, "times": 5}.items():
        parser.add_argument(f"--{name}", default=value, type=int)
    parser.add_argument("--alpha", default=.15, type=float)
    parser.add_argument("--tolerances", default="2e-5,1e-5,5e-6")
    parser.add_argument("--truth", help="kept here")
    for flag in ("directed", "weighted", "single", "csv"):
        parser.add_argument(f"--{flag}", action="store_true")
    args = parser.parse_args()
    kinds = ["directed"] * args.directed + ["weighted"] * args.weighted
    process = subprocess.Popen([ROOT / "build/bench_graph", str(args.nodes), str(args.edges), *kinds],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def say(*words):
        if words:
            print(*words, file=process.stdin, flush=True)
        return [float(word) for word in process.stdout.readline().split()]

    made, prepared, arcs = say()
    name = " ".join([f"R-MAT {args.nodes}/{args.edges}", *kinds, f"alpha {args.alpha}"])
    print(f"{name}: made in {made / 1000:.0f} s, prepared in {prepared / 1000:.1f} s, {arcs:.0f} arcs", flush=True)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        truth = args.truth or f"{folder}/truth"
        exact = 0
        if not os.path.exists(truth):
            exact = say("truth", truth, args.alpha, int(args.single), args.sources, 1)[0] / args.sources
            print(f"exact{' f32' * args.single}: {exact / 1000:.1f} s a source", flush=True)
        for tolerance in args.tolerances.split(","):
            ms, worst, wall, touched, *q = say("recall", truth, args.alpha, "fast", tolerance, args.times)
            load = os.getloadavg()[0]
            print(f"fast {tolerance}: {ms:.2f} ms, p95 {worst:.2f}, by the clock {wall:.2f}; {touched:.0f} arcs; "
                  f"R@100 {q[0]:.3f} (near {q[1]:.3f}, mass {q[2]:.4f}), R@1000 {q[3]:.3f} (near {q[4]:.3f}, mass {q[5]:.4f}); "
                  f"load {load:.1f}", flush=True)
            rows.append([f"ppr fast {tolerance}", name, "quipu exact", f"{exact:.0f}" if exact else "", f"{ms:.3f}",
                         f"{exact / ms:.4g}" if exact else "", f"R@100 {q[0]:.3f} R@1000 {q[3]:.3f}",
                         f"near {q[1]:.3f}/{q[4]:.3f}; p95 {worst:.2f} ms; {touched:.0f} arcs; load {load:.1f}"])
    if args.csv:
        with open(ROOT / "bench/graph.csv", "a", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    main()
