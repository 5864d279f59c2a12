#!/usr/bin/env python3
"""AGRAG and its peers on texts with a graph of entities: recall of the gold passages. Rows stand in bench/text.csv.

    bench/text.py [--sample N] STEP... [SET...]        bench/text.py index run "hotpotqa-100 b=1"

Steps:
    index    each set with vectors of passages, entities, relations and triples
    run      the methods that need no writer (or those of --methods), over the same index, on all questions or --sample of them, drawn with a
             fixed seed
    sweep    AGRAG's b and tau on the development half of hotpotqa-100, index and run for each pair
    tables   what docs/results.md shows, from bench/text.csv

Sets: musique-100 (its OpenIE triples), musique-100-text (without them) and hotpotqa-100 (graphs drawn out of the texts, without a model);
graphrag-bench-medical (the same; evidence recall of 150 questions, by question type; "... overlap=32": with chunks that overlap). "... facts=embedded": each fact embedded by itself; "hotpotqa-100
b=1", "... tau=0.3": all questions at one setting; scifact-entities: the graph drawn out of 400 of scifact's abstracts, its entities as documents, 40
questions (bench/entities.py); these are run where they are named.
"""
import argparse
import json
import pathlib
import subprocess
import sys

import rows

ROOT = pathlib.Path(__file__).resolve().parent.parent
SEED = 1
TEXT = ["-o", "graph=text"]
SETS = {"musique-100": ("musique-100", []), "musique-100-text": ("musique-100", TEXT), "hotpotqa-100": ("hotpotqa-100", TEXT),
        "graphrag-bench-medical": ("graphrag-bench-medical", [*TEXT, "-o", "overlap=0"])}
MAIN = list(SETS)
ALONE = ["b=1", "b=2", "b=5", "tau=0.1", "tau=0.3", "tau=0.7", "tau=0.9"]
SWEEP = {f"hotpotqa-100 dev b={b} tau={tau}": (b, tau) for b in (1, 2, 3, 5) for tau in (0.2, 0.3, 0.5, 0.7, 0.9)}
SETS |= {f"{name} facts=embedded": (SETS[name][0], [*TEXT, "-o", "facts=embedded"]) for name in ("musique-100-text", "hotpotqa-100")}
SETS |= {f"hotpotqa-100 {setting}": ("hotpotqa-100", [*TEXT, "-o", setting]) for setting in ALONE}
SETS |= {name: ("hotpotqa-100", [*TEXT, "-o", f"b={b}", "-o", f"tau={tau}"]) for name, (b, tau) in SWEEP.items()}
SETS["graphrag-bench-medical overlap=32"] = ("graphrag-bench-medical", TEXT)
SETS["scifact-entities"] = ("scifact", ["-o", "chunk=whole"])
METRICS = ["-o", "metrics=recall@5,recall@10,ndcg@10"]
SHOWN = {"scifact-entities": ("recall_cap@10", "ndcg_bin@10")}
EVIDENCE = {"graphrag-bench-medical": ["-o", "task=evidence", "-o", "by=question_type", "-k", 10, "--sample", 150]}
METHODS = ["vector", "bm25", "hybrid", "naive", "agrag", "agrag:hybrid=false", "agrag:mcmi=false", "hipporag2", "fast-graphrag",
           "lightrag:mode=local", "lightrag:mode=global", "lightrag", "lightrag:mode=mix", "lightrag:rank=found", "lightrag:mode=global:rank=found",
           "lightrag:mode=mix:k=40:rank=found:pick=nearest", "pathrag", "pathrag:global=false", "pathrag:passages=entities", "pathrag:alpha=0.8",
           "graphrag", "graphrag:mode=global", "graphrag:mode=drift", "graphrag:mode=basic"]
RERANKED = ["vector", "bm25", "hybrid", "rerank", "gar", "fastinsight", "fastinsight:first=hybrid"]
SWEPT = ["hybrid", "agrag", "agrag:hybrid=false", "hipporag2"]
COLUMNS = ["dataset", "method", "metric", "mean", "low", "high", "n", "embedder"]


class Bench:
    def __init__(self, args):
        self.args = args

    def store(self, name):
        return pathlib.Path(self.args.work) / ("sweep" if name in SWEEP else name)

    def data(self, name):
        """A set's folder; of one whose graph is drawn out of its texts, without the triples that came with it."""
        folder = pathlib.Path(self.args.data).resolve() / SETS[name][0]
        if name == "scifact-entities":
            out = pathlib.Path(self.args.work) / "scifact.entities"
            if not (out / "entities").exists():
                subprocess.run([ROOT / "bench" / "entities.py", folder, out, "40", "400"], check=True)
            return out / "entities"
        if "-text" not in name:
            return folder
        plain = pathlib.Path(self.args.work) / f"{SETS[name][0]}.texts"
        plain.mkdir(parents=True, exist_ok=True)
        for file in folder.iterdir():
            if file.name != "triples.tsv" and not (plain / file.name).exists():
                (plain / file.name).symlink_to(file)
        return plain

    def quipu(self, *command):
        print("+", " ".join(map(str, command))[:200], file=sys.stderr, flush=True)
        return subprocess.run([self.args.quipu, *map(str, command)], stdout=subprocess.PIPE, check=True).stdout

    def index(self, name):
        self.quipu("-s", self.store(name), "index", "-q", "--embedder", self.args.embedder, *SETS[name][1], self.data(name))

    def run(self, name):
        sample = ["--sample", self.args.sample] if self.args.sample else ["-o", "split=dev"] if name in SWEEP else []
        entities = name == "scifact-entities"
        methods = self.args.methods or ",".join(RERANKED if entities else SWEPT if name in SWEEP or name.split()[-1] in ALONE else METHODS)
        metrics = ["-o", "metrics=recall_cap@10,ndcg_bin@10,tr@10"] if entities else EVIDENCE.get(SETS[name][0], METRICS)
        report = json.loads(self.quipu("-s", self.store(name), "eval", self.data(name), "-q", "--json", "-m", methods,
                                       *metrics, *sample, "--seed", SEED, "-o", "compare=none", "--bootstrap", 2000))
        self.keep(name, self.rows(name, report) + [r for g in report.get("groups", []) for r in self.rows(f"{name}: {g['value']}", g)])

    def sweep(self, _):
        """One store after the other in the same place: what a setting leaves as it is, is not embedded again."""
        for name in SWEEP:
            self.index(name)
            self.run(name)

    def rows(self, name, report):
        """Of a report, or of a group of its questions."""
        found = []
        for m in report["methods"]:
            values = {k: (v["mean"], v["low"], v["high"]) for k, v in m["metrics"].items()}
            if self.args.times and "latency_ms" in m:
                values.update({f"ms_{stage}_{p}": (v, None, None) for stage, of in m["latency_ms"].items() for p, v in of.items()})
            found += [dict(zip(COLUMNS, [name, m["name"], metric, *("" if x is None else f"{x:.4f}" for x in v), report["questions"],
                                         self.args.embedder])) for metric, v in values.items()]
        return found

    def keep(self, name, made):
        """In the order of the sets; a method's rows make way for its new ones."""
        methods, sets = {r["method"] for r in made}, list(SETS)
        rows.replace(self.args.results, COLUMNS, lambda r: r["dataset"].split(":")[0] == name and r["method"] in methods, made,
                     lambda r: sets.index(r["dataset"].split(":")[0]))


def tables(args, wanted):
    all_rows = rows.read(args.results)
    value = {(r["dataset"], r["method"], r["metric"]): r for r in all_rows}
    names = [s for s in wanted if s not in EVIDENCE and any(r["dataset"] == s for r in all_rows)]
    methods = list(dict.fromkeys(r["method"] for r in all_rows if r["dataset"] in names))
    print("recall@5 (95% interval), recall@10; of scifact-entities recall_cap@10, ndcg_bin@10:\n\n| method | " + " | ".join(names) + " |\n| --- |" + " --- |" * len(names))
    for m in methods:
        cells = []
        for name in names:
            first, second = (value.get((name, m, metric)) for metric in SHOWN.get(name, ("recall@5", "recall@10")))
            cells.append(f"{float(first['mean']):.3f} ({float(first['low']):.3f} to {float(first['high']):.3f}), {float(second['mean']):.3f}" if first else "")
        print(f"| {m} | " + " | ".join(cells) + " |")
    for name in (s for s in wanted if s in EVIDENCE):
        groups = list(dict.fromkeys(r["dataset"] for r in all_rows if r["dataset"].split(":")[0] == name))
        size = {r["dataset"]: r["n"] for r in all_rows}
        print(f"\n{name}, evidence@5 (95% interval):\n\n| method | " +
              " | ".join(f"{g.partition(': ')[2] or 'all'} ({size[g]})" for g in groups) + " |\n| --- |" + " --- |" * len(groups))
        for m in dict.fromkeys(r["method"] for r in all_rows if r["dataset"] in groups):
            cells = [value[g, m, "evidence@5"] for g in groups]
            print(f"| {m} | " + " | ".join(f"{float(c['mean']):.3f} ({float(c['low']):.3f} to {float(c['high']):.3f})" for c in cells) + " |")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--quipu", default=str(ROOT / "build" / "quipu"))
    p.add_argument("--data", default=str(ROOT.parent / "shared" / "data"))
    p.add_argument("--work", default=str(ROOT / "build" / "text"))
    p.add_argument("--results", default=str(ROOT / "bench" / "text.csv"))
    p.add_argument("--embedder", default="all-MiniLM-L6-v2")
    p.add_argument("--sample", type=int, default=0)
    p.add_argument("--methods", help="these alone, as in quipu eval -m")
    p.add_argument("--times", action="store_true", help="milliseconds, too: on a machine that does nothing else")
    p.add_argument("steps", nargs="+", metavar="STEP|SET")
    args = p.parse_args()
    names = [s for s in args.steps if s in SETS] or MAIN
    steps = [s for s in args.steps if s not in SETS]
    unknown = [s for s in steps if s not in ("index", "run", "sweep", "tables")]
    if unknown:
        sys.exit(f"text: no step or set '{unknown[0]}'")
    for step in steps:
        for name in [] if step == "tables" else names[:1] if step == "sweep" else names:
            getattr(Bench(args), step)(name)
        if step == "tables":
            tables(args, names)


if __name__ == "__main__":
    main()
