#!/usr/bin/env python3
"""How fast, and in how much memory, `quipu index` loads a knowledge graph: an R-MAT graph as triples, in scattered order.

    bench/loading.py [--nodes 10000000] [--edges 30000000] [--folder DIR] [--quipu build/quipu] [--memory 512] [--ask 40]

Needs `ninja -C build quipu bench_graph`; 200 bytes of disk for an edge. No embedder, no words of names (`names=no`): entities,
relations and edges alone. Told are processor and clock seconds, the most memory that is the process's own (RssAnon) and the
most in sight (with what it maps), and the bytes on disk. `--ask N` then puts N questions to the store with `-m lego`, each about
one entity drawn from the edges with seed 1, and tells what each operator took: of the first question, which also prepares the
walk, and the medians of the others.
"""
import argparse
import array
import json
import os
import pathlib
import random
import resource
import shutil
import statistics
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


def heads(triples, n):
    """Of n places drawn in the file, the first entity after each: an edge is as likely as it is long."""
    size, draw = triples.stat().st_size, random.Random(1)
    with open(triples, "rb") as file:
        for _ in range(n):
            file.seek(draw.randrange(size * 99 // 100))
            file.readline()
            yield file.readline().split(b"\t")[0].decode()


def ask(args, store, triples):
    questions = store.with_name("questions.jsonl")
    with open(questions, "w", encoding="utf-8") as file:
        for i, name in enumerate(heads(triples, args.ask)):
            print(json.dumps({"_id": str(i), "text": f"what is next to {name}?", "entities": [name]}), file=file)
    told = subprocess.run([args.quipu, "retrieve", "-q", "-s", store, "-m", "lego", "--json", "--explain", "--threads", "1",
                           "--queries", questions], stdout=subprocess.PIPE, check=True, text=True)
    took = {}
    for line in told.stdout.splitlines():
        for step in json.loads(line)["trace"]:
            took.setdefault(step["op"], []).append(step["ms"])
    for op, ms in took.items():
        rest = sorted(ms[1:])
        print(f"{op}: first {ms[0]:.1f} ms, then {statistics.median(rest):.1f} (p95 {rest[len(rest) * 95 // 100]:.1f})")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", default=10_000_000, type=int)
    parser.add_argument("--edges", default=30_000_000, type=int)
    parser.add_argument("--folder", default=".")
    parser.add_argument("--memory", default=512, type=int, help="MiB, of quipu index")
    parser.add_argument("--ask", default=0, type=int, help="questions put to the store")
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
    if args.ask > 1:
        ask(args, store, triples)


if __name__ == "__main__":
    main()
