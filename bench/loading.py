#!/usr/bin/env python3
"""How fast, and in how much memory, `quipu index` loads a knowledge graph: an R-MAT graph as triples, in scattered order.

    bench/loading.py [--nodes 10000000] [--edges 30000000] [--folder DIR] [--quipu build/quipu] [--memory 512]

Needs `ninja -C build quipu bench_graph`; 200 bytes of disk for an edge. No embedder, no words of names (`names=no`): entities,
relations and edges alone. Told are processor and clock seconds, the most memory that is the process's own (RssAnon) and the
most in sight (with what it maps), and the bytes on disk.
"""
import argparse
import array
import os
import pathlib
import resource
import shutil
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
RELATIONS = 500


def write_triples(args, path):
    """Every edge once; a stride that shares no divisor with their number scatters them. The k-th relation is 1/k as frequent."""
    drawn = path.with_suffix(".edges")
    process = subprocess.Popen([ROOT / "build/bench_graph", str(args.nodes), str(args.edges), "directed"],
                               stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    process.communicate(f"edges {drawn}\n")
    edges = array.array("I")
    with open(drawn, "rb") as file:
        edges.fromfile(file, drawn.stat().st_size // 4)
    drawn.unlink()
    n, at = len(edges) // 2, 0
    with open(path, "w", encoding="ascii") as file:
        for i in range(n):
            at = (at + 1_000_003_559) % n
            relation = int(RELATIONS ** (i % 9973 / 9973))
            file.write(f"entity {edges[2 * at]}\trelation {relation}\tentity {edges[2 * at + 1]}\n")
    return n


def memory(process):
    """Kilobytes: its own, in sight."""
    try:
        with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
            found = dict(line.split(":", 1) for line in file)
        return [int(found[key].split()[0]) for key in ("RssAnon", "VmRSS")]
    except (OSError, KeyError):
        return [0, 0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", default=10_000_000, type=int)
    parser.add_argument("--edges", default=30_000_000, type=int)
    parser.add_argument("--folder", default=".")
    parser.add_argument("--memory", default=512, type=int, help="MiB, of quipu index")
    parser.add_argument("--quipu", default=ROOT / "build/quipu")
    args = parser.parse_args()
    triples, store = (pathlib.Path(args.folder) / name for name in ("triples.tsv", "loaded"))
    shutil.rmtree(store, ignore_errors=True)
    n = write_triples(args, triples)
    print(f"{n} triples, {triples.stat().st_size / 1e6:.0f} MB", flush=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start, most = time.time(), [0, 0]
    process = subprocess.Popen([args.quipu, "index", "-s", store, "--embedder", "none", "-o", "names=no", "-o", "triples=no",
                                "--threads", "1", "--memory", str(args.memory), triples])
    while process.poll() is None:
        most = [max(pair) for pair in zip(most, memory(process))]
        time.sleep(.1)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    disk = sum(file.stat().st_size for file in store.iterdir())
    print(f"exit {process.returncode}; processor {seconds:.0f} s, clock "
          f"{time.time() - start:.0f} s; memory {most[0] / 1e3:.0f} MB, with maps {most[1] / 1e3:.0f}; disk {disk / 1e6:.0f} MB; "
          f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
