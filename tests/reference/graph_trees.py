#!/usr/bin/env python3
"""Makes the stored values of test_paths, test_steiner and test_pcst: networkx's and pcst_fast's results on random graphs.

The graphs are not stored: this draws them as tests/random_graph.h does. Needs: networkx, numpy, and pcst_fast (its own
1.0.10 returns garbage when built with pybind11 3; pcst-fast2 is the same C++ in a newer wrapping).

    tests/reference/graph_trees.py [FOLDER]
"""
import pathlib
import sys

import networkx as nx
import numpy as np
from networkx.algorithms.approximation import steiner_tree
from pcst_fast import pcst_fast

ALL = (1 << 64) - 1


class Random:
    """base/random.h: splitmix64, xoshiro256**, Lemire's multiplication."""

    def __init__(self, seed):
        self.s = []
        for _ in range(4):
            seed = seed + 0x9E3779B97F4A7C15 & ALL
            z = (seed ^ seed >> 30) * 0xBF58476D1CE4E5B9 & ALL
            z = (z ^ z >> 27) * 0x94D049BB133111EB & ALL
            self.s.append(z ^ z >> 31)

    def next(self):
        def rotate(x, k):
            return (x << k | x >> 64 - k) & ALL
        s = self.s
        result, t = rotate(s[1] * 5 & ALL, 7) * 9 & ALL, s[1] << 17 & ALL
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = rotate(s[3], 45)
        return result

    def below(self, n):
        product = self.next() * n
        while product & ALL < (1 << 64) % n:
            product = self.next() * n
        return product >> 64

    def unit(self):
        return (self.next() >> 11) * 2.0**-53


class Graph:
    """made_random of tests/random_graph.h."""

    def __init__(self, seed, most, connected):
        r, kind = Random(seed), seed % 3
        self.n = 2 + r.below(most - 1)
        tree = self.n - 1 if connected else 0
        self.m = tree + r.below(3 * self.n)
        self.edges = []
        for e in range(self.m):
            source = e + 1 if e < tree else r.below(self.n)
            self.edges.append((source, r.below(e + 1 if e < tree else self.n)))
        self.cost = [float(np.float32(r.unit())) if kind == 0 else r.below(4) if kind == 1 else .5 for _ in self.edges]
        self.prize = []
        for _ in range(self.n):
            none, prize = r.unit() < .4, 2 * r.unit()
            self.prize.append(0 if none else float(np.float32(prize)) if kind == 0 else int(2 * prize))
        self.terminals = [r.below(self.n) for _ in range(r.below(8))]
        self.root = r.below(self.n)

    def multi(self):
        g = nx.MultiGraph()
        g.add_nodes_from(range(self.n))
        g.add_edges_from(self.edges)
        return g

    def simple(self):
        g = nx.Graph()
        g.add_nodes_from(range(self.n))
        for (u, v), cost in zip(self.edges, self.cost):
            if u != v and cost < g.get_edge_data(u, v, {"weight": np.inf})["weight"]:
                g.add_edge(u, v, weight=cost)
        return g


def simple_paths(seed, hops):
    g = Graph(seed, 20, False)
    graph = g.multi()
    others = [v for v in range(g.n) if v != g.root]
    return sum(1 for _ in nx.all_simple_edge_paths(graph, g.root, others, cutoff=hops))


def steiner_cost(seed):
    g = Graph(seed, 30, True)
    if len(set(g.terminals)) < 2:
        return 0.0
    return steiner_tree(g.simple(), list(dict.fromkeys(g.terminals)), method="mehlhorn").size(weight="weight")


def pcst_objective(seed, root, trees, pruning):
    g = Graph(seed, 30, False)
    if not g.m:
        return None
    nodes, edges = pcst_fast(np.array(g.edges), np.array(g.prize, float), np.array(g.cost, float),
                             g.root if root else -1, trees, pruning, 0)
    assert len(set(nodes)) == len(nodes)
    return sum(g.cost[e] for e in edges) + sum(g.prize) - sum(g.prize[v] for v in nodes)


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "trees")
    folder.mkdir(exist_ok=True)
    with open(folder / "paths.tsv", "w") as out:
        for seed in range(150):
            print(seed, 1 + seed % 3, simple_paths(seed, 1 + seed % 3), sep="\t", file=out)
    with open(folder / "steiner.tsv", "w") as out:
        for seed in range(400):
            print(seed, f"{steiner_cost(seed):.9g}", sep="\t", file=out)
    with open(folder / "pcst.tsv", "w") as out:
        for seed in range(300):
            for root, trees, pruning in [(0, 1, "strong"), (0, 3, "strong"), (1, 1, "strong"), (0, 1, "gw"), (1, 1, "gw"),
                                         (0, 1, "simple"), (0, 1, "none")]:
                found = pcst_objective(seed, root, trees, pruning)
                if found is not None:
                    print(seed, root, trees, pruning, f"{found:.9g}", sep="\t", file=out)


if __name__ == "__main__":
    main()
