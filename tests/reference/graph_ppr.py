#!/usr/bin/env python3
"""Makes the stored values of test_ppr: personalised PageRank by networkx (both rules for dangling nodes) and igraph (PRPACK).

    tests/reference/graph_ppr.py tests/reference/graph

ppr.txt, all numbers apart by blanks: a count of cases, and for each
    nodes  arcs  uniform (dangling nodes' mass to all: 1, to the seeds: 0)  restart probability  seeds
    u v weight, an arc a line; an undirected edge stands both ways
    seed weight, a seed a line
    the score of every node, by networkx or igraph
"""
import pathlib
import random
import sys

import igraph
import networkx as nx


def graphs():
    yield nx.karate_club_graph()
    rng = random.Random(4)
    for directed in (False, True):
        for weighted in (False, True):
            g = nx.gnm_random_graph(30, 50, seed=rng.randrange(1000), directed=directed)
            g.add_edge(3, 3)
            for u, v in g.edges:
                g[u][v]["weight"] = rng.choice([.25, .5, 1, 2]) if weighted else 1
            yield g


def by_networkx(g, restart, seeds, uniform):
    dangling = {v: 1 for v in g} if uniform else None
    scores = nx.pagerank(g, 1 - restart, seeds, max_iter=2000, tol=1e-14, weight="weight", dangling=dangling)
    return [scores[v] for v in g]


def by_igraph(g, restart, seeds):
    """PRPACK, which lets dangling nodes start again; an undirected loop is two arcs there, so both ways are given."""
    arcs = nx.DiGraph(g)
    other = igraph.Graph(len(g), list(arcs.edges), directed=True)
    weights = [arcs[u][v]["weight"] for u, v in arcs.edges]
    return other.personalized_pagerank(damping=1 - restart, reset=[seeds.get(v, 0) for v in g], weights=weights)


def cases():
    rng = random.Random(5)
    for g in graphs():
        for restart in (.15, .5):
            seeds = {v: rng.choice([1, 2, 3]) for v in rng.sample(sorted(g), 3)}
            arcs = [(u, v, d["weight"]) for u, v, d in nx.DiGraph(g).edges(data=True)]
            for uniform in (0, 1):
                yield g, arcs, uniform, restart, seeds, by_networkx(g, restart, seeds, uniform)
            yield g, arcs, 0, restart, seeds, by_igraph(g, restart, seeds)


def main():
    made = list(cases())
    for i in range(0, len(made), 3):
        far = max(abs(a - b) for a, b in zip(made[i][-1], made[i + 2][-1]))
        assert far < 1e-9, f"case {i}: networkx and igraph differ by {far}"
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "tests/reference/graph")
    folder.mkdir(exist_ok=True)
    with open(folder / "ppr.txt", "w", encoding="utf-8") as out:
        print(len(made), file=out)
        for g, arcs, uniform, restart, seeds, scores in made:
            print(len(g), len(arcs), uniform, restart, len(seeds), file=out)
            for row in sorted(arcs):
                print(*row, file=out)
            for row in seeds.items():
                print(*row, file=out)
            print(*(f"{score:.12g}" for score in scores), file=out)


if __name__ == "__main__":
    main()
