#!/usr/bin/env python3
"""PPR and Leiden beside igraph, SciPy and networkx: one run, one R-MAT graph, taking turns; medians, ratios and recalls.

    bench/graph.py [--nodes 100000] [--edges 1000000] [--alpha .15] [--rounds 5] [--peers igraph,scipy] [--directed]
                   [--weighted] [--leiden] [--csv]

Needs: igraph, networkx, numpy, scipy (tests/reference/requirements.txt), and `ninja -C build bench_graph`. A round asks
every contender for one source, each in turn, on one thread. Milliseconds are of processor time, which other people's
work on the machine disturbs least; a ratio is the median over rounds of peer / ours. Truth is igraph's PRPACK. R: share
of its best k found. near: share whose true score is within 5 % of its k-th. mass: true score of what was found over that
of the best k. --csv appends to bench/graph.csv, with the load.
"""
import argparse
import csv
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

import igraph
import networkx
import numpy as np
import scipy.sparse

ROOT = pathlib.Path(__file__).resolve().parent.parent
OURS = {  # name: engine, tolerance, f32
    "exact": ("exact", 1e-9, 0), "exact f32": ("exact", 1e-6, 1), "bounded 1e-4": ("bounded", 1e-4, 0),
    "fast 2e-5": ("fast", 2e-5, 0), "fast 1e-5": ("fast", 1e-5, 0), "fast": ("fast", 0, 0), "fast 1e-6": ("fast", 1e-6, 0),
}
MOST_FOR_NETWORKX = 200_000


class Quipu:
    def __init__(self, args):
        kinds = ["directed"] * args.directed + ["weighted"] * args.weighted
        command = [ROOT / "build/bench_graph", str(args.nodes), str(args.edges), *kinds]
        self.process = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        made, prepared, arcs = self.process.stdout.readline().split()
        print(f"graph made in {float(made):.0f} ms, prepared in {float(prepared):.0f} ms, {arcs} arcs", flush=True)

    def say(self, *words):
        print(*words, file=self.process.stdin, flush=True)
        return self.process.stdout.readline().split()

    def ask(self, kind, alpha, source, top=1000):
        engine, tolerance, single = OURS[kind]
        answer = self.say(engine, alpha, tolerance, top, 1, single, source)
        return float(answer[0]), np.array(answer[3::2], dtype=np.int64)


def timed(call):
    start = time.process_time()
    result = call()
    return 1000 * (time.process_time() - start), result


def scipy_power(matrix, loose, alpha, source):
    """x = alpha s + (1 - alpha) P' x, dangling mass to the source, until the l1 change is below 1e-9."""
    x = np.zeros(matrix.shape[0])
    x[source] = 1
    while True:
        y = (1 - alpha) * (matrix @ x)
        y[source] += alpha + (1 - alpha) * x[loose].sum()
        change = np.abs(y - x).sum()
        x = y
        if change < 1e-9:
            return x


class Peers:
    def __init__(self, args, edges, weights):
        self.alpha, n = args.alpha, args.nodes
        self.names = [name for name in args.peers.split(",") if name != "networkx" or len(edges) <= MOST_FOR_NETWORKX]
        self.igraph = igraph.Graph(n, edges, directed=args.directed)
        self.weights = weights
        u, v = edges.T
        w = np.ones(len(edges)) if weights is None else weights.astype(float)
        if not args.directed:
            u, v, w = np.concatenate([u, v]), np.concatenate([v, u]), np.concatenate([w, w])
        self.degree = np.bincount(u, minlength=n)
        total = np.bincount(u, w, minlength=n)
        if "scipy" in self.names:
            self.matrix = scipy.sparse.csr_matrix((w / total[u], (v, u)), shape=(n, n))
            self.loose = np.flatnonzero(total == 0)
        if "networkx" in self.names:
            self.networkx = (networkx.DiGraph if args.directed else networkx.Graph)()
            self.networkx.add_nodes_from(range(n))
            self.networkx.add_weighted_edges_from(zip(*edges.T.tolist(), [1.] * len(edges) if weights is None else weights.tolist()))

    def ask(self, name, source):
        if name == "igraph":
            return timed(lambda: np.array(self.igraph.personalized_pagerank(
                damping=1 - self.alpha, reset_vertices=[source], weights=self.weights)))
        if name == "scipy":
            return timed(lambda: scipy_power(self.matrix, self.loose, self.alpha, source))
        return timed(lambda: networkx.pagerank(self.networkx, 1 - self.alpha, {source: 1}))


def quality(truth, got):
    """Strict recall at 100 and 1000, then what ties within 5 % and true mass say, at both."""
    order = np.argsort(-truth, kind="stable")
    row = []
    for k in (100, 1000):
        best, mine = order[:k], got[:k]
        row += [len(np.intersect1d(best, mine)) / k, np.mean(truth[mine] >= .95 * truth[best[-1]]),
                truth[mine].sum() / truth[best].sum()]
    return row


def compare_ppr(args, quipu, peers, rows):
    rng = np.random.default_rng(1)
    sources = rng.choice(np.flatnonzero(peers.degree), args.rounds + 1)
    times = {name: [] for name in [*OURS, *peers.names]}
    found = {name: [] for name in OURS}
    for kind in OURS:
        quipu.ask(kind, args.alpha, sources[-1])
    for source in sources[:-1].tolist():
        answers = {name: peers.ask(name, source) for name in peers.names}
        for name, (ms, _) in answers.items():
            times[name].append(ms)
        for kind in OURS:
            ms, got = quipu.ask(kind, args.alpha, source)
            times[kind].append(ms)
            found[kind].append(quality(answers["igraph"][1], got))
        print(f"  from {source}: igraph {times['igraph'][-1]:.0f} ms, fast {times['fast'][-1]:.3f} ms", flush=True)
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; medians of {args.rounds}, ms; at 100 and 1000: R, near, mass")
    for name in peers.names:
        print(f"  {name:<14}{statistics.median(times[name]):10.2f}")
    for kind in OURS:
        q = np.mean(found[kind], axis=0)
        text = f"R@100 {q[0]:.3f} ({q[1]:.3f}, {q[2]:.4f})  R@1000 {q[3]:.3f} ({q[4]:.3f}, {q[5]:.4f})"
        ratios = []
        for name in peers.names:
            ratio = statistics.median(a / b for a, b in zip(times[name], times[kind]))
            ratios.append(f"{name} x{ratio:.4g}")
            rows.append([f"ppr {kind}", args.input, name, f"{statistics.median(times[name]):.2f}",
                         f"{statistics.median(times[kind]):.3f}", f"{ratio:.4g}", f"R@100 {q[0]:.3f} R@1000 {q[3]:.3f}",
                         f"near {q[1]:.3f}/{q[4]:.3f}; load {os.getloadavg()[0]:.1f}"])
        print(f"  {kind:<14}{statistics.median(times[kind]):10.3f}  {'  '.join(ratios):<50}  {text}")


def compare_leiden(args, quipu, peers, rows, folder):
    ours, theirs, both = [], [], []
    for seed in range(3):
        ms, parts, q = map(float, quipu.say("leiden", f"{folder}/parts", 1, seed))
        other, partition = timed(lambda: peers.igraph.community_leiden("modularity", weights=peers.weights, n_iterations=2))
        ours.append(ms)
        theirs.append(other)
        both.append((q, partition.modularity if peers.weights is None else partition.recalculate_modularity(), parts, len(partition)))
    mine, other = np.mean(both, axis=0)[:2]
    ratio = statistics.median(a / b for a, b in zip(theirs, ours))
    print(f"  leiden: {statistics.median(ours):.0f} ms, igraph {statistics.median(theirs):.0f} ms, x{ratio:.2f}; modularity "
          f"{mine:.4f}, igraph {other:.4f}; communities {both[0][2]:.0f}, igraph {both[0][3]:.0f}")
    rows.append(["leiden", args.input, "igraph", f"{statistics.median(theirs):.0f}", f"{statistics.median(ours):.0f}",
                 f"{ratio:.3g}", f"Q {mine:.4f} against {other:.4f}", f"2 iterations; load {os.getloadavg()[0]:.1f}"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", default=100_000, type=int)
    parser.add_argument("--edges", default=1_000_000, type=int)
    parser.add_argument("--alpha", default=.15, type=float)
    parser.add_argument("--rounds", default=5, type=int)
    parser.add_argument("--peers", default="igraph,scipy,networkx", help="igraph is always the truth")
    for flag in ("directed", "weighted", "leiden", "csv"):
        parser.add_argument(f"--{flag}", action="store_true")
    args = parser.parse_args()
    args.input = (f"R-MAT {args.nodes}/{args.edges}{' directed' * args.directed}{' weighted' * args.weighted} "
                  f"alpha {args.alpha}")
    quipu, rows = Quipu(args), []
    with tempfile.TemporaryDirectory() as folder:
        quipu.say("edges", f"{folder}/edges")
        raw = np.fromfile(f"{folder}/edges", dtype=np.uint32)
        count = len(raw) // (3 if args.weighted else 2)
        weights = raw[2 * count:].view(np.float32) if args.weighted else None
        peers = Peers(args, raw[:2 * count].reshape(-1, 2).astype(np.int64), weights)
        compare_ppr(args, quipu, peers, rows)
        if args.leiden and not args.directed:
            compare_leiden(args, quipu, peers, rows, folder)
    if args.csv:
        path = ROOT / "bench/graph.csv"
        new = not path.exists()
        with open(path, "a", encoding="utf-8", newline="") as file:
            out = csv.writer(file, lineterminator="\n")
            if new:
                out.writerow("kernel input peer peer_ms quipu_ms ratio quality note".split())
            out.writerows(rows)


if __name__ == "__main__":
    main()
