#!/usr/bin/env python3
"""PPR by the fast engine beside our own exact one, on R-MAT graphs too large for other programs. Standard library alone.

    bench/large.py [--nodes 100000000] [--edges 300000000] [--folder DIR] [--times 20] [--alpha .15] [--directed]
                   [--weighted] [--exact f32,f64] [--tolerances 2e-5,1e-5,5e-6] [--csv]

Needs `ninja -C build bench_graph bench_truth`. At 100M nodes and 300M edges: 8 GB of memory, and in --folder, where the
graph and the truth are kept and found again, 3.2 GB. Truth is bench/truth.c's for eight sources; of a directed or weighted
graph our exact engine's. Milliseconds are of processor time, the median and 95 of 100 over sources x times; then by the
clock. R: share of the true best k found. near: share whose true score is within 5 % of the k-th. mass: true score found
over that of the best k. answers: of 100 nodes where two random steps from the source end, the share among the true best
1,000, and among the 1,000 found.
"""
import argparse
import csv
import os
import pathlib
import struct
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCES = 8


class Graph:
    def __init__(self, args):
        self.args = args
        self.kinds = ["directed"] * args.directed + ["weighted"] * args.weighted
        self.name = " ".join([f"R-MAT {args.nodes}/{args.edges}", *self.kinds, f"alpha {args.alpha}"])
        self.stem = pathlib.Path(args.folder) / "-".join(["rmat", str(args.nodes), str(args.edges), *self.kinds])
        kept = self.stem.with_suffix(".graph")
        found = kept.exists()
        self.process = subprocess.Popen(
            [ROOT / "build/bench_graph", *([kept] if found else [str(args.nodes), str(args.edges), *self.kinds])],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        made, prepared, arcs = self.read()
        print(f"{self.name}: {'read' if found else 'made'} in {made / 1000:.0f} s, prepared in {prepared / 1000:.1f} s, "
              f"{arcs:.0f} arcs, {self.memory():.1f} GB", flush=True)
        if not found and not self.kinds:
            self.say("keep", kept)

    def read(self):
        return [float(word) for word in self.process.stdout.readline().split()]

    def say(self, *words):
        print(*words, file=self.process.stdin, flush=True)
        return self.read()

    def memory(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1e6

    def truth(self):
        path = self.stem.with_suffix(f".truth-{self.args.alpha}")
        if not path.exists() and self.kinds:
            self.say("truth", path, self.args.alpha, 0, SOURCES, 7)
        elif not path.exists():
            subprocess.run([ROOT / "build/bench_truth", self.stem.with_suffix(".graph"), path, "7", str(self.args.alpha)],
                           check=True)
        return path


def exact(graph, truth, single):
    """Processor time from the first source, and how much of the true 1,000 it finds."""
    with open(truth, "rb") as file:
        source, _ = struct.unpack("=II", file.read(8))
        best = {struct.unpack("=dII", file.read(16))[1] for _ in range(1000)}
    ms, _, error, *found = graph.say("exact", graph.args.alpha, 0, 1000, 1, int(single), source)
    recall = len(best.intersection(map(int, found[::2]))) / 1000
    print(f"exact {'f32' if single else 'f64'}: {ms / 1000:.1f} s, l1 error {error:.1e}, R@1000 {recall:.3f}, "
          f"{graph.memory():.1f} GB, load {os.getloadavg()[0]:.1f}", flush=True)
    return ms


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in {"nodes": 100_000_000, "edges": 300_000_000, "times": 20}.items():
        parser.add_argument(f"--{name}", default=value, type=int)
    parser.add_argument("--alpha", default=.15, type=float)
    parser.add_argument("--tolerances", default="2e-5,1e-5,5e-6")
    parser.add_argument("--exact", default="f32", help="also timed: f32, f64, both or none")
    parser.add_argument("--folder", default=".")
    for flag in ("directed", "weighted", "csv"):
        parser.add_argument(f"--{flag}", action="store_true")
    args = parser.parse_args()
    graph, rows = Graph(args), []
    truth = graph.truth()
    for tolerance in args.tolerances.split(","):
        ms, worst, wall, arcs, *q = graph.say("recall", truth, args.alpha, "fast", tolerance, args.times)
        load = os.getloadavg()[0]
        print(f"fast {tolerance}: {ms:.2f} ms, p95 {worst:.2f}, by the clock {wall:.2f}; {arcs:.0f} arcs; R@100 {q[0]:.3f} "
              f"(near {q[1]:.3f}, mass {q[2]:.4f}), R@1000 {q[3]:.3f} (near {q[4]:.3f}, mass {q[5]:.4f}); answers {q[6]:.3f} "
              f"and {q[7]:.3f}; {graph.memory():.1f} GB, load {load:.1f}", flush=True)
        rows.append([f"ppr fast {tolerance}", ms, f"R@100 {q[0]:.3f} R@1000 {q[3]:.3f}",
                     f"near {q[1]:.3f}/{q[4]:.3f}; answers {q[7]:.3f} of {q[6]:.3f}; p95 {worst:.2f} ms; load {load:.1f}"])
    for kind in [kind for kind in args.exact.split(",") if kind != "none"]:
        slow = exact(graph, truth, kind == "f32")
        if args.csv:
            with open(ROOT / "bench/graph.csv", "a", encoding="utf-8", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows(
                    [name, graph.name, f"quipu exact {kind}", f"{slow:.0f}", f"{ms:.3f}", f"{slow / ms:.4g}", quality, note]
                    for name, ms, quality, note in rows)


if __name__ == "__main__":
    main()
