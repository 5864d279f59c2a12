#!/usr/bin/env python3
"""Our Steiner trees beside networkx's and our prize-collecting ones beside pcst_fast's, on the same graphs in one run.

    ninja -C build bench_trees && bench/trees.py [--nodes N] [--edges M] [--rounds R] [--write]

Each round times both, one after the other, the first in turn; medians over the rounds, and the median of each round's
ratio, because the machine may change from one round to the next; the ratio of processor times beside it, for a machine
that others use too. Both get the graph in memory in their own form: networkx a Graph, we rows; pcst_fast and we the edges
as arrays, from which each makes its own. --write appends to bench/graph.csv.

Needs numpy, networkx, and pcst-fast2, or pcst_fast 1.0.10 built with pybind11 2: built with 3 it returns garbage.

Graphs are connected: a random tree, then random edges (`random`), or with ends drawn by the number of edges they have
(`hubs`). Costs are uniform in 0..1; prizes uniform in 0..5, or as G-Retriever's: ranks k..1 on edges of .5 (`ranks`),
where costs are equal and so many trees equally good for the algorithm that objectives differ either way.
"""
import argparse
import csv
import os
import pathlib
import statistics
import subprocess
import sys
import time

import networkx as nx
import numpy as np
from networkx.algorithms.approximation import steiner_tree
from pcst_fast import pcst_fast

ROOT = pathlib.Path(__file__).resolve().parent.parent
COLUMNS = ["kernel", "input", "peer", "peer_ms", "quipu_ms", "ratio", "quality", "note"]


def random_edges(kind, nodes, count, rng):
    tree = np.arange(1, nodes)
    edges = [np.column_stack([tree, (rng.random(nodes - 1) * tree).astype(np.int64)])]
    if kind == "hubs":  # an end of a random earlier edge is a node by its degree
        for step in range(1, nodes - 1):
            edges[0][step, 1] = edges[0][rng.integers(step), rng.integers(2)]
        more = edges[0].ravel()[rng.integers(2 * nodes - 2, size=(count - nodes + 1, 2))]
    else:
        more = rng.integers(nodes, size=(count - nodes + 1, 2))
    return np.concatenate([*edges, more]).astype(np.int64)


class Ours:
    def __init__(self, kind, nodes, edges, costs, extra):
        self.process = subprocess.Popen([ROOT / "build/bench_trees"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        lines = [f"{kind} {nodes} {len(edges)} {len(extra)}"]
        lines += [f"{u} {v} {cost:.9g}" for (u, v), cost in zip(edges, costs)] + extra
        print("\n".join(lines), file=self.process.stdin, flush=True)

    def __call__(self):
        print("again", file=self.process.stdin, flush=True)
        ms, busy, objective, _, _ = map(float, self.process.stdout.readline().split())
        return ms, busy, objective

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def timed(work):
    def call():
        begin, busy = time.perf_counter(), time.process_time()
        objective = work()
        return 1e3 * (time.perf_counter() - begin), 1e3 * (time.process_time() - busy), objective
    return call


def alternate(ours, theirs, rounds):
    times, busy = ([], []), ([], [])
    for turn in range(-1, rounds):  # the first warms up
        seen = [None, None]
        for side in ((0, 1) if turn % 2 else (1, 0)):
            seen[side] = (ours, theirs)[side]()
            if turn >= 0:
                times[side].append(seen[side][0])
                busy[side].append(seen[side][1])
    ratios = [statistics.median(b / a for a, b in zip(*each)) for each in (times, busy)]
    return *map(statistics.median, times), *ratios, seen[0][2], seen[1][2]


def steiner(kind, nodes, edges, costs, terminals, rounds):
    graph = nx.Graph()
    graph.add_nodes_from(range(nodes))
    for (u, v), cost in zip(edges.tolist(), costs.tolist()):
        if u != v and cost < graph.get_edge_data(u, v, {"weight": np.inf})["weight"]:
            graph.add_edge(u, v, weight=cost)
    ours = Ours("steiner", nodes, edges, costs, [str(v) for v in terminals])
    found = alternate(ours, timed(lambda: steiner_tree(graph, terminals, method="mehlhorn")), rounds)
    ours.close()
    cost = found[5].size(weight="weight")
    return ["steiner", f"{kind} {nodes}/{len(edges)}, {len(terminals)} terminals", "networkx mehlhorn", *found[:4],
            found[4] / cost]


def pcst(kind, nodes, edges, costs, prizes, rounds):
    chosen = np.flatnonzero(prizes)
    ours = Ours("pcst", nodes, edges, costs, [f"{v} {prizes[v]:.9g}" for v in chosen])
    found = alternate(ours, timed(lambda: pcst_fast(edges, prizes, costs, -1, 1, "strong", 0)), rounds)
    ours.close()
    v, e = found[5]
    objective = costs[e].sum() + prizes.sum() - prizes[v].sum()
    return ["pcst strong", f"{kind} {nodes}/{len(edges)}, {len(chosen)} prizes", "pcst_fast strong", *found[:4],
            found[4] / objective]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", default=30000, type=int)
    parser.add_argument("--edges", default=100000, type=int)
    parser.add_argument("--rounds", default=7, type=int)
    parser.add_argument("--write", action="store_true", help="append the rows to bench/graph.csv")
    args = parser.parse_args()
    if not (ROOT / "build/bench_trees").exists():
        sys.exit("trees: build/bench_trees is not there; ninja -C build bench_trees")
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    rows = []
    for kind in ["random", "hubs"]:
        rng = np.random.default_rng(1)
        edges = random_edges(kind, args.nodes, args.edges, rng)
        costs = rng.random(len(edges)).astype(np.float32).astype(float)
        order = rng.permutation(args.nodes)
        rows.append(steiner(kind, args.nodes, edges, costs, order[:10].tolist(), args.rounds))
        for count in [10, 100, 2000]:
            prizes = np.zeros(args.nodes)
            prizes[order[:count]] = (5 * rng.random(count)).astype(np.float32)
            rows.append(pcst(kind, args.nodes, edges, costs, prizes, args.rounds))
        ranks = np.zeros(args.nodes)
        ranks[order[:10]] = np.arange(10, 0, -1)
        rows.append(pcst(kind + " ranks", args.nodes, edges, np.full(len(edges), .5), ranks, args.rounds))
    load = os.getloadavg()[0]
    out = [[*row[:3], f"{row[3 + 1]:.3f}", f"{row[3]:.3f}", f"{row[5]:.1f}", f"objective {row[7]:.5f} of the peer's",
            f"ratio of processor time {row[6]:.1f}; bench/trees.py --rounds {args.rounds}, load {load:.1f}"] for row in rows]
    for row in out:
        print(f"{row[0]:<12} {row[1]:<38} {row[2]:<18} {row[3]:>10} ms  ours {row[4]:>8} ms  ratio {row[5]:>7}  {row[6]}, {row[7]}")
    if args.write:
        path = ROOT / "bench/graph.csv"
        fresh = not path.exists()
        with open(path, "a", newline="") as file:
            table = csv.writer(file, lineterminator="\n")
            if fresh:
                table.writerow(COLUMNS)
            table.writerows(out)


if __name__ == "__main__":
    main()
