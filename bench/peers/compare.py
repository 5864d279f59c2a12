#!/usr/bin/env python3
"""Quipu beside HippoRAG 2 and LightRAG, installed: recall, time, memory, disk. Rows stand in bench/peers.csv; see README.md.

    bench/peers/compare.py --python VENV/bin/python STEP... [SET...]

Steps:
    prepare  a folder for each set: the data, and triples.tsv with the passage of each triple
    index    each system over it, from nothing
    adopt    LightRAG's folder as it then lies, indexed by Quipu: our methods on its graph
    query    the systems in turn, --rounds times over, each question alone; writes the rows
    tables   what docs/results.md shows, from bench/peers.csv

Sets: musique-100 (its OpenIE triples), hotpotqa-100 (the triples that Quipu draws out of its texts). All processes on one core, one thread.
"""
import argparse
import csv
import json
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SETS = ["musique-100", "hotpotqa-100"]
PEERS = {"hipporag2": "with_hipporag.py", "lightrag": "with_lightrag.py"}
OURS = {"vector": [], "hybrid": [], "agrag": [], "hipporag2": [], "hipporag2:rescore=20": ["rescore=20"],
        **{f"lightrag:mode={m}": [f"mode={m}", "k=40", "rank=found", "pick=nearest"] for m in ("local", "global", "hybrid", "mix")}}
ADOPTED = "quipu on lightrag's graph"
SAME = {"lightrag:mode=naive": "vector"}  # what a peer's method is called with us, where not the same
DRAWS, SEED = 10000, 1
COLUMNS = ["dataset", "system", "method", "metric", "value", "low", "high"]
EVERY_TRIPLE = "name: every.yaml\nhelp: every triple\nsteps:\n  - {op: search, index: triple.dense, k: 1000000000, exact: true}\n"


def lines(path):
    return [json.loads(line) for line in open(path, encoding="utf-8")]


def words(text):
    return " " + " ".join(re.findall(r"\w+", text.lower())) + " "


def size_mib(folder):
    return sum(f.lstat().st_size for f in pathlib.Path(folder).rglob("*") if f.is_file() and not f.is_symlink()) / 2**20


class Bench:
    def __init__(self, args):
        self.args, self.work = args, pathlib.Path(args.work).resolve()
        self.env = {**os.environ, "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1"}

    def data(self, name):
        return self.work / name / "data"

    def store(self, name, system):
        return self.work / name / system

    def run(self, *command):
        """On one core, to its end: processor seconds, clock, most memory."""
        print("+", *map(str, command), f"(load {os.getloadavg()[0]:.1f})", file=sys.stderr, flush=True)
        began = time.perf_counter()
        child = subprocess.Popen([*map(str, command)], env=self.env, stdout=subprocess.DEVNULL,
                                 preexec_fn=lambda: os.sched_setaffinity(0, {max(os.sched_getaffinity(0))}))
        _, status, used = os.wait4(child.pid, 0)
        if status:
            sys.exit(f"compare: exit status {status >> 8 or status}")
        return {"cpu_s": used.ru_utime + used.ru_stime, "wall_s": time.perf_counter() - began, "rss_mib": used.ru_maxrss / 1024}

    def quipu(self, *command):
        return [self.args.quipu, "-q", "--threads", "1", *command]

    # ---- prepare ----

    def prepare(self, name):
        """Corpora list their passages question by question, so the first questions have the first passages."""
        given, folder = pathlib.Path(self.args.data) / name, self.data(name)
        folder.mkdir(parents=True, exist_ok=True)
        corpus, queries = ((given / file).read_text(encoding="utf-8").splitlines(True) for file in ("corpus.jsonl", "queries.jsonl"))
        n = min(self.args.questions or len(queries), len(queries))
        asked = {json.loads(line)["_id"] for line in queries[:n]}
        judged = [line for line in (given / "qrels.tsv").read_text(encoding="utf-8").splitlines(True) if line.split("\t")[0] in asked | {"query-id"}]
        place = {json.loads(line)["_id"]: i for i, line in enumerate(corpus)}
        last = max([place[line.split("\t")[1]] for line in judged[1:]] + [-(-len(corpus) * n // len(queries)) - 1])
        for file, kept in {"corpus.jsonl": corpus[:last + 1], "queries.jsonl": queries[:n], "qrels.tsv": judged}.items():
            (folder / file).write_text("".join(kept), encoding="utf-8")
        if (given / "triples.tsv").exists():
            triples = (given / "triples.tsv").read_text(encoding="utf-8").splitlines(True)
            kept = [line for line in triples[1:] if place[line.rstrip("\n").split("\t")[3]] <= last]
            (folder / "triples.tsv").write_text("".join([triples[0], *kept]), encoding="utf-8")
        else:
            self.draw(name)

    def draw(self, name):
        """The triples Quipu draws, each with the passages in which its words follow one another."""
        folder, store = self.data(name), self.store(name, "drawn")
        pipeline = folder / "every.yaml"
        pipeline.write_text(EVERY_TRIPLE, encoding="utf-8")
        self.run(*self.quipu("-s", store, "index", "-o", "graph=text", "-o", "chunk=whole", "--embedder", "hash", folder / "corpus.jsonl"))
        told = subprocess.run(self.quipu("-s", store, "retrieve", "--json", "-m", pipeline, "-k", "1000000", "all"), stdout=subprocess.PIPE, check=True)
        edges = json.loads(told.stdout)["edges"]
        passages = {p["_id"]: words(p["title"] + " " + p["text"]) for p in lines(folder / "corpus.jsonl")}
        with open(folder / "triples.tsv", "w", encoding="utf-8") as f:
            print("head", "relation", "tail", "passage", sep="\t", file=f)
            for e in sorted(edges, key=lambda e: (e["source"], e["relation"], e["target"])):
                between = "" if e["relation"] == "next to" else e["relation"]
                run = words(e["source"] + " " + between)
                if len(between.split()) < 12:  # a longer relation was cut there
                    run = words(run + e["target"])
                for passage, text in passages.items():
                    if run in text:
                        print(e["source"], e["relation"], e["target"], passage, sep="\t", file=f)
        pipeline.unlink()
        shutil.rmtree(store)

    # ---- index ----

    def index(self, name):
        told, data = {}, self.data(name)
        for system in self.systems():
            store = self.store(name, system)
            shutil.rmtree(store, ignore_errors=True)
            if system == "quipu":
                told[system] = self.run(*self.quipu("-s", store, "index", "--embedder", self.args.embedder, data))
            else:
                told[system] = self.run(self.args.python, HERE / PEERS[system], "index", data, store, self.work / f"{system}.json")
                told[system].update(json.load(open(self.work / f"{system}.json", encoding="utf-8")))
            told[system]["disk_mib"] = size_mib(store)
            path = self.work / name / f"{system}.index.json"
            path.write_text(json.dumps(told[system]))

    def adopt(self, name):
        store = self.store(name, "adopted")
        shutil.rmtree(store, ignore_errors=True)
        self.run(*self.quipu("-s", store, "index", "--embedder", self.args.embedder, self.store(name, "lightrag")))

    def systems(self):
        return [s for s in ["quipu", *PEERS] if not self.args.only or s in self.args.only]

    # ---- query ----

    def ask_quipu(self, store, name, method, options):
        out = self.work / "out.jsonl"
        queries, one = self.data(name) / "queries.jsonl", self.work / "one.jsonl"
        one.write_text(open(queries, encoding="utf-8").readline(), encoding="utf-8")
        how = ["-m", method.split(":")[0], "-k", "10", *(x for o in options for x in ("-o", o))]
        ask = lambda file: self.run("sh", "-c", 'out=$1; shift; exec "$@" >"$out"', "sh", out,
                                    *self.quipu("-s", store, "retrieve", "--json", *how, "--queries", file))
        opening, whole = ask(one), ask(queries)
        answers = lines(out)
        return {"found": {a["_id"]: list(dict.fromkeys(h["document"] for h in a["hits"])) for a in answers},
                "ms": [a["timings_ms"]["total"] for a in answers], "rest_ms": [a["timings_ms"]["rest"] for a in answers],
                "cpu_ms": 1e3 * (whole["cpu_s"] - opening["cpu_s"]) / (len(answers) - 1),
                "open_cpu_s": opening["cpu_s"], "rss_mib": whole["rss_mib"]}

    def ask_peer(self, name, system):
        used = self.run(self.args.python, HERE / PEERS[system], "query", self.data(name), self.store(name, system), self.work / f"{system}.json")
        told = json.load(open(self.work / f"{system}.json", encoding="utf-8"))
        return {(system, m): {**a, "open_cpu_s": told["open_cpu_s"], "rss_mib": used["rss_mib"]} for m, a in told["methods"].items()}

    def query(self, name):
        rounds = []
        for _ in range(self.args.rounds):
            one = {("quipu", m): self.ask_quipu(self.store(name, "quipu"), name, m, o) for m, o in OURS.items()}
            adopted = self.store(name, "adopted")
            if adopted.exists():
                one.update({(ADOPTED, m): self.ask_quipu(adopted, name, m, o) for m, o in OURS.items()})
            for system in self.systems()[1:]:
                one.update(self.ask_peer(name, system))
            rounds.append(one)
        self.keep(name, [*self.index_rows(name), *self.query_rows(name, rounds)])

    def index_rows(self, name):
        for file, what in {"queries.jsonl": "questions", "corpus.jsonl": "passages", "triples.tsv": "triples"}.items():
            yield "data", "", what, sum(1 for _ in open(self.data(name) / file, encoding="utf-8")) - (what == "triples")
        for system in self.systems():
            told = json.loads((self.work / name / f"{system}.index.json").read_text())
            for metric, value in told.items():
                yield system, "", f"index_{metric}", value

    def query_rows(self, name, rounds):
        gold = {}
        for row in csv.DictReader(open(self.data(name) / "qrels.tsv", encoding="utf-8"), delimiter="\t"):
            gold.setdefault(row["query-id"], set()).add(row["corpus-id"])
        recall = {who: {k: [len(gold[q] & set(a["found"][q][:k])) / min(k, len(gold[q])) for q in gold] for k in (5, 10)}
                  for who, a in rounds[0].items()}
        for (system, method), by_k in recall.items():
            for k, values in by_k.items():
                yield system, method, f"recall@{k}", statistics.fmean(values), *interval(values)
            every = [r[system, method] for r in rounds]
            for metric, take in {"query_ms": "ms", "query_rest_ms": "rest_ms"}.items():
                yield system, method, metric, statistics.median(x for a in every for x in a[take])
            for metric in ("cpu_ms", "open_cpu_s", "rss_mib"):
                yield system, method, f"query_{metric}", statistics.median(a[metric] for a in every)
            if system in PEERS:
                for ours in dict.fromkeys([SAME.get(method, method), "hybrid", "agrag", "hipporag2", "hipporag2:rescore=20"]):
                    gain = [a - b for a, b in zip(recall["quipu", ours][5], recall[system, method][5])]
                    yield system, method, f"recall@5: quipu {ours} minus it", statistics.fmean(gain), *interval(gain)

    def keep(self, name, new):
        path, kept = pathlib.Path(self.args.results), []
        if path.exists():
            kept = [r for r in csv.DictReader(open(path, newline="", encoding="utf-8")) if r["dataset"] != name]
        rows = kept + [dict(zip(COLUMNS, [name, *r[:3], *(f"{x:.4f}" for x in r[3:]), "", ""])) for r in new]
        with open(path, "w", newline="", encoding="utf-8") as f:
            out = csv.DictWriter(f, COLUMNS, lineterminator="\n")
            out.writeheader()
            out.writerows(sorted(rows, key=lambda r: SETS.index(r["dataset"])))


def interval(values):
    """95%, percentile bootstrap over the questions."""
    draw = random.Random(SEED)
    means = sorted(statistics.fmean(draw.choices(values, k=len(values))) for _ in range(DRAWS))
    return means[int(.025 * DRAWS)], means[int(.975 * DRAWS)]


def tables(args):
    rows = list(csv.DictReader(open(args.results, newline="", encoding="utf-8")))
    for name in (s for s in SETS if any(r["dataset"] == s for r in rows)):
        value = {(r["system"], r["method"], r["metric"]): r for r in rows if r["dataset"] == name}
        number = lambda *key: float(value[key]["value"])
        counts = ", ".join(f"{number('data', '', what):.0f} {what}" for what in ("questions", "passages", "triples"))
        print(f"\n{name}, {counts}:\n\n| system, method | recall@5 | Quipu's same method minus it | question, ms | without the embedder, ms |"
              " processor, ms | memory, MiB |\n| --- | --- | --- | --- | --- | --- | --- |")
        for system, method in dict.fromkeys((s, m) for s, m, _ in value if m):
            at = value[system, method, "recall@5"]
            gain = value.get((system, method, f"recall@5: quipu {SAME.get(method, method)} minus it"))
            gain = f"{float(gain['value']):+.3f} ({float(gain['low']):+.3f} to {float(gain['high']):+.3f})" if gain else ""
            print(f"| {system} {method} | {float(at['value']):.3f} ({float(at['low']):.3f} to {float(at['high']):.3f}) | {gain} | " +
                  " | ".join(f"{number(system, method, m):.{d}f}" for m, d in
                             [("query_ms", 1), ("query_rest_ms", 2), ("query_cpu_ms", 1), ("query_rss_mib", 0)]) + " |")
        print("\n| system | index: processor, s | of it the embedder | clock, s | memory, MiB | disk, MiB |\n| --- | --- | --- | --- | --- | --- |")
        for system in dict.fromkeys(s for s, _, m in value if m.startswith("index")):
            told = [number(system, "", f"index_{m}") if (system, "", f"index_{m}") in value else None
                    for m in ("cpu_s", "embed_cpu_s", "wall_s", "rss_mib", "disk_mib")]
            print(f"| {system} | " + " | ".join("" if t is None else f"{t:.0f}" for t in told) + " |")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--python", help="of the virtual environment with the peers")
    p.add_argument("--quipu", default=str(ROOT / "build" / "quipu"))
    p.add_argument("--data", default=str(ROOT.parent / "shared" / "data"))
    p.add_argument("--work", default=str(ROOT / "build" / "peers"))
    p.add_argument("--results", default=str(ROOT / "bench" / "peers.csv"))
    p.add_argument("--embedder", default="all-MiniLM-L6-v2")
    p.add_argument("--questions", type=int, help="the first N of each set, with the passages that came with them; default: all")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--only", action="append", help="index this system alone")
    p.add_argument("steps", nargs="+", metavar="STEP|SET")
    args = p.parse_args()
    names = [s for s in args.steps if s in SETS] or SETS
    steps = [s for s in args.steps if s not in SETS]
    unknown = [s for s in steps if s not in ("prepare", "index", "adopt", "query", "tables")]
    if unknown:
        sys.exit(f"compare: no step or set '{unknown[0]}'")
    if {"index", "query"} & set(steps) and not args.python:
        sys.exit("compare: wanted --python VENV/bin/python (bench/peers/install VENV makes it)")
    for step in steps:
        if step == "tables":
            tables(args)
        else:
            for name in names:
                getattr(Bench(args), step)(name)


if __name__ == "__main__":
    main()
