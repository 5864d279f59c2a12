#!/usr/bin/env python3
"""LEGO-GraphRAG's instances, GEAR and their baselines on knowledge graphs: quality, subgraph sizes, time.

    bench/knowledge.py [--few N] STEP... [SET...]

Steps:
    index    each graph with vectors of entities, relations and triples, and attention heads
    run      the methods that need no writer, --sample questions (100) drawn with a fixed seed from each set; slow ones on --few (10)
    written  those that need one, on --few questions
    kept     lego:1's PPR by engine, and in communities and by walks that the index keeps; processor time beside recall
             (a store of its own, --work: without vectors of triples, which this needs not)
    tables   docs/results.md's tables, from bench/knowledge.csv

Sets: metaqa-1h, metaqa-2h, metaqa-3h (the questions of metaqa by hops), pq-2h, pq-3h, pql-2h, pql-3h, webqsp-paths.
"""
import argparse
import json
import os
import pathlib
import random
import subprocess
import sys

import rows

ROOT = pathlib.Path(__file__).resolve().parent.parent
SEED = 1
SETS = {"metaqa-1h": ("metaqa", 1), "metaqa-2h": ("metaqa", 2), "metaqa-3h": ("metaqa", 3),
        "pq-2h": ("pathquestion/pq-2h", None), "pq-3h": ("pathquestion/pq-3h", None),
        "pql-2h": ("pathquestion/pql-2h", None), "pql-3h": ("pathquestion/pql-3h", None), "webqsp-paths": ("webqsp-paths", None)}
METRICS = ("hit@1,set_hit,set_f1,recall@10,mrr@10,sub_recall,sub_f1,sub_nodes,sub_edges,sub_components,"
           "path_recall@8,path_recall@16,path_recall@32,path_recall@64,path_recall@128,path_recall@256,context_tokens")
METHODS = ["lego:1", "lego:2", "lego:6", "lego:10",
           "lego:2:item=edge", "lego:6:score=triple", "lego:14:score=triple", "lego:14:score=triple:prune=mean",
           "lego:14:score=triple:prune=percentile", "lego:14:score=triple:max_hop=1", "lego:14:score=triple:max_hop=2",
           "lego:14:score=triple:max_hop=3", "lego:se=sbe-khop", "lego:se=sbe-rwr", "lego:se=vdb",
           "gear", "gear:rounds=1", "gear:a=false", "gear:b=false", "gear:rank=false", "gear-ppr", "gear-pcst", "g-retriever",
           "vector", "bm25"]
SLOW = ["lego:12", "lego:14", "lego:2:eem=rerank", "lego:6:score=triple:eem=rerank"]  # thousands of texts for the model a question
# What the writer reads is cut to what a processor can: 64 triples, or paths, that the embedder leaves; vectors by the writer of a small subgraph.
WRITTEN = ["lego:3", "lego:4:max_edge=16", "lego:5:max_edge=16", "lego:7", "lego:8:max_edge=16", "lego:9:max_edge=16", "lego:11:max_edge=16",
           "lego:13:prefilter=64", "lego:15:prefilter=16", "lego:16", "lego:14:score=triple:refine=true", "lego:14:score=triple:stop=true",
           "lego:7:prefilter=16", "lego:7:supplement=true", "lego:3:rerank=true", "lego:3:rounds=2", "lego:14:hops=auto",
           "lego:6:max_ent=100", "lego:6:max_ent=100:eem=writer", "tog",
           "lego:2", "lego:6", "lego:10", "lego:14:score=triple"]  # the last four without it, on the same questions
KEPT = ["lego:1", "lego:1:engine=exact", "lego:1:engine=fora", "lego:1:within=partition"]
COLUMNS = ["dataset", "split", "method", "metric", "mean", "low", "high", "n", "embedder", "heads", "writer"]


class Bench:
    def __init__(self, args):
        self.args = args
        self.threads = ["--threads", args.threads] if args.threads else []

    def folder(self, name):
        """The set's questions alone, over its graph."""
        source, hops = SETS[name]
        data = pathlib.Path(self.args.data) / source
        if hops is None:
            return data
        folder = pathlib.Path(self.args.work) / "sets" / name
        folder.mkdir(parents=True, exist_ok=True)
        kept = set()
        with open(folder / "queries.jsonl", "w", encoding="utf-8") as out:
            for line in open(data / "queries.jsonl", encoding="utf-8"):
                question = json.loads(line)
                if question["hops"] == hops:
                    kept.add(question["_id"])
                    out.write(line)
        with open(folder / "answers.jsonl", "w", encoding="utf-8") as out:
            out.writelines(line for line in open(data / "answers.jsonl", encoding="utf-8") if json.loads(line)["_id"] in kept)
        return folder

    def store(self, name):
        return pathlib.Path(self.args.work) / SETS[name][0].replace("/", "-")

    def quipu(self, *command):
        print("+", " ".join(map(str, command))[:200], file=sys.stderr, flush=True)
        return subprocess.run([self.args.quipu, *map(str, command)], stdout=subprocess.PIPE, check=True).stdout

    def index(self, name, *options):
        self.quipu("-s", self.store(name), "index", "-q", *self.threads, "--embedder", self.args.embedder, "--heads", self.args.heads,
                   *options, pathlib.Path(self.args.data) / SETS[name][0])

    def evaluated(self, name, methods, split, sample, *options):
        report = json.loads(self.quipu("-s", self.store(name), "eval", self.folder(name), "-q", "--json", *self.threads, "-m", ",".join(methods), "--sample", sample,
                                       "--seed", SEED, "-o", "metrics=" + METRICS, "-o", "compare=none", "--bootstrap", 2000, *options))
        found = []
        for m in report["methods"]:
            values = {k: (v["mean"], v["low"], v["high"]) for k, v in m["metrics"].items()}
            for stage, of in m["latency_ms"].items():
                values.update({f"ms_{stage}_{p}": (v, None, None) for p, v in of.items()})
            found += [self.row(name, split, m["name"], metric, v, report["questions"]) for metric, v in values.items()]
        return found

    def row(self, name, split, method, metric, values, n):
        return dict(zip(COLUMNS, [name, split, method, metric, *("" if x is None else f"{x:.4f}" for x in values), n,
                                  self.args.embedder, self.args.heads, self.args.writer or ""]))

    def measure(self, name, methods, split, *options):
        self.keep(name, split, self.evaluated(name, methods, split, *options))

    def keep(self, name, split, new):
        order = list(SETS)
        rows.replace(self.args.results, COLUMNS, lambda r: (r["dataset"], r["split"]) == (name, split), new, lambda r: (order.index(r["dataset"]), r["split"]))

    def run(self, name):
        self.measure(name, METHODS, "all", self.args.sample)
        self.measure(name, SLOW, "few", self.args.few)

    def written(self, name):
        self.measure(name, self.args.methods.split(","), "written", self.args.few, "--writer", self.args.writer)

    def kept(self, name):
        self.index(name, "-o", "triples=no", "-o", "partition=yes", "-o", "walks=yes")
        found = self.evaluated(name, KEPT, "kept", self.args.sample)
        self.keep(name, "kept", found + [self.row(name, "kept", m, "processor_ms", (self.processor_ms(name, m), None, None), self.args.sample) for m in KEPT])

    def processor_ms(self, name, method):
        """A question's share of the user and system time of --sample questions and one, less that of one."""
        lines = open(self.folder(name) / "queries.jsonl", encoding="utf-8").readlines()
        drawn = random.Random(SEED).sample(lines, min(self.args.sample + 1, len(lines)))
        questions, spent = pathlib.Path(self.args.work) / "drawn.jsonl", []
        for some in (drawn[:1], drawn):
            questions.write_text("".join(some), encoding="utf-8")
            before = sum(os.times()[2:4])
            self.quipu("-s", self.store(name), "retrieve", "-q", "--json", *self.threads, "-m", "lego:1",
                       *(x for o in method.split(":")[2:] for x in ("-o", o)), "--queries", questions)
            spent.append(sum(os.times()[2:4]) - before)
        return 1000 * (spent[1] - spent[0]) / (len(drawn) - 1)


TABLES = [("Hits@1 (95% interval where there are 50 questions or more)", ["hit@1"]),
          ("Path recall at 8 / 32 / 256", ["path_recall@8", "path_recall@32", "path_recall@256"]),
          ("Subgraph: recall / nodes; tokens of the context", ["sub_recall", "sub_nodes", "context_tokens"]),
          ("Milliseconds, p50", ["ms_total_p50"]), ("Milliseconds of the processor", ["processor_ms"])]
ELSEWHERE = {"gear:rounds=1", "gear:a=false", "gear:b=false", "gear:rank=false"}  # bench/gear.py has them
WITHOUT_PATHS = ("gear", "g-retriever", "vector", "bm25")


def cell(of, metrics):
    """Of one method on one set: the numbers that are there, "-" where there are none."""
    if not of:
        return "-"
    shown = []
    for metric in metrics:
        r = of.get(metric)
        if not r or not r["mean"]:
            return "-"
        x = float(r["mean"])
        if metric == "context_tokens" and not x:  # no paths, and nothing told: bench/gear.py has theirs
            shown.append("-")
            continue
        shown.append(f"{x:.0f}" if metric in ("sub_nodes", "context_tokens") or x >= 100 else f"{x:.1f}" if metric.startswith("ms") else f"{x:.2f}")
        if metric == "hit@1" and int(r["n"]) >= 50:
            shown[-1] += f" ({float(r['low']):.2f} to {float(r['high']):.2f})"
    return " / ".join(shown)


def tables(args):
    value = {}
    for r in rows.read(args.results):
        value.setdefault((r["split"], r["method"]), {}).setdefault(r["dataset"], {})[r["metric"]] = r
    for split in dict.fromkeys(s for s, _ in value):
        methods = [m for s, m in value if s == split and m not in ELSEWHERE and (split != "few" or ("all", m) not in value or m in SLOW)]
        sets = [n for n in SETS if any(n in value[split, m] for m in methods)]
        asked = [next(r["n"] for m in methods for r in value[split, m].get(n, {}).values()) for n in sets]
        for title, metrics in TABLES:
            if not any(metrics[0] in of for m in methods for of in value[split, m].values()):
                continue
            print(f"\n{title}:\n\n| method | " + " | ".join(f"{n} ({k})" for n, k in zip(sets, asked)) + " |\n| --- |" + " --- |" * len(sets))
            for m in methods:
                if metrics[0].startswith("path") and m.startswith(WITHOUT_PATHS):
                    continue
                print(f"| {m} | " + " | ".join(cell(value[split, m].get(n), metrics) for n in sets) + " |")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--quipu", default=str(ROOT / "build" / "quipu"))
    p.add_argument("--data", default=str(ROOT.parent / "shared" / "data"))
    p.add_argument("--work", default=str(ROOT / "build" / "knowledge"))
    p.add_argument("--results", default=str(ROOT / "bench" / "knowledge.csv"))
    p.add_argument("--embedder", default="all-MiniLM-L6-v2")
    p.add_argument("--heads", default="all-MiniLM-L6-v2")
    p.add_argument("--writer")
    p.add_argument("--sample", type=int, default=100)
    p.add_argument("--few", type=int, default=10)
    p.add_argument("--methods", default=",".join(WRITTEN), help="of written")
    p.add_argument("--threads", type=int, default=0, help="of each run; 0: as many as there are cores")
    p.add_argument("steps", nargs="+", metavar="STEP|SET")
    args = p.parse_args()
    names = [s for s in args.steps if s in SETS] or list(SETS)
    steps = [s for s in args.steps if s not in SETS]
    unknown = [s for s in steps if s not in ("index", "run", "written", "kept", "tables")]
    if unknown:
        sys.exit(f"knowledge: no step or set '{unknown[0]}'")
    for step in steps:
        for name in names if step != "tables" else []:
            getattr(Bench(args), step)(name)
        if step == "tables":
            tables(args)


if __name__ == "__main__":
    main()
