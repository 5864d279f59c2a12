#!/usr/bin/env python3
"""GEAR whole: its three variants, its ablations and its baselines on knowledge graphs, in bench/gear.csv.

    bench/gear.py [--sample N] [--few N] STEP... [SET...]

Steps, each replacing its own rows of a set and a model of heads (a store for each: --heads, --work):
    index    each graph with the embedder's vectors and the heads of a decoder
    run      the variants, their ablations and the baselines that need no writer
    sizes    the same at growing sizes of the subgraph
    paired   Union, PPR and PCST against G-Retriever, question by question
    triples  explagraphs-joined: how many of a question's own triples the subgraph holds
    time     processor time a question, --few questions against one
    written  answers by the writer, --few questions
    tables   docs/results.md's tables

Sets: webqsp-paths; metaqa, its hops mixed; explagraphs, a graph for each question; explagraphs-joined, all those graphs as one, where a
question's own triples have to be found. Questions are drawn with seed 1; nothing else is drawn: PPR is exact, the writer greedy.
"""
import argparse
import json
import os
import pathlib
import random
import resource
import subprocess
import sys

import rows

ROOT = pathlib.Path(__file__).resolve().parent.parent
SEED = 1
SETS = ["webqsp-paths", "metaqa", "explagraphs-joined", "explagraphs"]
COLUMNS = ["dataset", "split", "method", "metric", "mean", "low", "high", "n", "embedder", "heads", "writer"]
METRICS = "hit@1,hit@10,recall@10,sub_recall,sub_f1,sub_nodes,sub_edges,sub_components,context_tokens"
KHOP = str(ROOT / "pipelines" / "k-hop.yaml")
VARIANTS = ["gear", "gear-ppr", "gear-pcst"]
ABLATIONS = ["plain=heads", "plain=embedder", "a=false", "b=false", "rank=false"]
BASELINES = ["gear:k=16:size=16", "gear:k=16:size=16:plain=heads", "gear:k=16:size=16:plain=embedder", "g-retriever"]
METHODS = [*VARIANTS, *(f"{v}:{a}" for v in VARIANTS for a in ABLATIONS if (v, a) != ("gear-pcst", "rank=false")),
           "gear:rounds=1", "gear:m=0", "gear:k=4", "gear-pcst:c=0.25", "gear-pcst:c=0.1", *BASELINES, f"{KHOP}:hops=1", f"{KHOP}:hops=2"]
SIZES = [8, 16, 32, 64, 128]
SWEEP = [m.format(s) for m in ("gear:k=4:size={}", "gear-ppr:size={}", "gear-pcst:c=0.25:k={}", "g-retriever:k={}", "gear:k={0}:size={0}",
                               "gear:k={0}:size={0}:plain=heads") for s in SIZES]
TRIPLES = [*VARIANTS, "gear:k=16:size=16", "gear:plain=heads", "gear:plain=embedder", "gear:size=64:k=16", "g-retriever", "g-retriever:k=10"]
STANCE = """{question}
{facts}Do argument 1 and argument 2 support or counter each other? Answer in one word in the form of 'support' or 'counter'.
[Answer]:
"""
FACTS = "Facts:\n{graph}\n"
THOUGHT = """{question}
Do argument 1 and argument 2 support or counter each other? Think step by step, in a sentence or two. Then write "Answers:" and one word, support or counter.
"""


class Bench:
    def __init__(self, args):
        self.args = args

    def folder(self, name):
        if name != "explagraphs-joined":
            return pathlib.Path(self.args.data) / name
        source, folder = pathlib.Path(self.args.data) / "explagraphs", pathlib.Path(self.args.work) / "sets" / name
        if (folder / "answers.jsonl").exists():
            return folder
        folder.mkdir(parents=True, exist_ok=True)
        graphs = [json.loads(line) for line in open(source / "graphs.jsonl", encoding="utf-8")]
        triples = dict.fromkeys(tuple(t) for g in graphs for t in g["triples"])
        (folder / "triples.tsv").write_text("head\trelation\ttail\n" + "".join("\t".join(t) + "\n" for t in triples), encoding="utf-8")
        (folder / "queries.jsonl").write_bytes((source / "queries.jsonl").read_bytes())
        nodes = [{"_id": g["_id"], "answers": list(dict.fromkeys(x for h, _, t in g["triples"] for x in (h, t)))} for g in graphs]
        (folder / "answers.jsonl").write_text("".join(json.dumps(n) + "\n" for n in nodes), encoding="utf-8")
        return folder

    def store(self, name):
        return pathlib.Path(self.args.work) / name

    def quipu(self, *command):
        print("+", " ".join(map(str, command))[:200], file=sys.stderr, flush=True)
        return subprocess.run([self.args.quipu, *map(str, command)], stdout=subprocess.PIPE, check=True,
                              env={**os.environ, "QUIPU_SHARE": str(ROOT)}).stdout

    def keep(self, name, split, found):
        new = [dict(zip(COLUMNS, [name, split, m.replace(str(ROOT) + "/", ""), metric, *("" if x is None else f"{x:.4f}" for x in v), n,
                                  self.args.embedder, self.args.heads, self.args.writer if split == "written" else ""])) for m, metric, v, n in found]
        rows.replace(self.args.results, COLUMNS, lambda r: (r["dataset"], r["split"], r["heads"]) == (name, split, self.args.heads), new,
                     lambda r: (SETS.index(r["dataset"]), r["heads"], r["split"]))

    def eval(self, name, methods, metrics, sample, *options):
        return json.loads(self.quipu("-s", self.store(name), "eval", self.folder(name), "-q", "--json", "--threads", 1, "-m", ",".join(methods),
                                     "--sample", sample, "--seed", SEED, "-o", "metrics=" + metrics, "--bootstrap", 2000, *options))

    def measure(self, name, methods, metrics, sample, *options):
        report = self.eval(name, methods, metrics, sample, "-o", "compare=none", *options)
        return [(m["name"], metric, (v["mean"], v["low"], v["high"]), report["questions"]) for m in report["methods"] for metric, v in m["metrics"].items()]

    def index(self, name):
        self.quipu("-s", self.store(name), "index", "-q", "--embedder", self.args.embedder, "--heads", self.args.heads, "-o", "triples=no",
                   self.folder(name))

    def run(self, name):
        linked = [m for m in self.args.methods.split(",") if not m.startswith(KHOP) or name in ("webqsp-paths", "metaqa")]  # argued questions start nowhere
        if name != "explagraphs":
            self.keep(name, "all", self.measure(name, linked, METRICS, self.args.sample))

    def sizes(self, name):
        if name != "explagraphs":
            self.keep(name, "sizes", self.measure(name, SWEEP, "sub_recall,sub_nodes,sub_edges,context_tokens", self.args.sample))

    def paired(self, name):
        """At each method's own size, and at about G-Retriever's."""
        if name == "explagraphs":
            return
        found = []
        report = self.eval(name, [*VARIANTS, "g-retriever", "g-retriever:k=10"], "sub_recall,sub_f1,hit@10,sub_nodes,context_tokens", self.args.sample)
        for d in report["differences"]:
            if d["a"] in VARIANTS and d["b"].startswith("g-retriever"):
                of = (d["difference"], d["low"], d["high"])
                found += [(d["a"], f"{d['metric']} - {d['b']}", of, report["questions"]),
                         (d["a"], f"{d['metric']} - {d['b']}: p, Holm", (d["p_holm"], None, None), report["questions"])]
        self.keep(name, "paired", found)

    def drawn(self, name, n):
        lines = open(self.folder(name) / "queries.jsonl", encoding="utf-8").readlines()
        path = pathlib.Path(self.args.work) / f"{name}-{n}.jsonl"
        path.write_text("".join(random.Random(SEED).sample(lines, min(n, len(lines)))), encoding="utf-8")
        return path

    def retrieve(self, name, method, questions):
        name_of, *options = method.split(":")
        return [json.loads(line) for line in self.quipu("-s", self.store(name), "retrieve", "-q", "--json", "--threads", 1, "-m", name_of, "-k", 100000,
                                                        *(x for o in options for x in ("-o", o)), "--queries", questions).splitlines()]

    def triples(self, name):
        if name != "explagraphs-joined":
            return
        gold = {g["_id"]: {tuple(t) for t in g["triples"]} for g in map(json.loads, open(pathlib.Path(self.args.data) / "explagraphs" / "graphs.jsonl",
                                                                                        encoding="utf-8"))}
        new = []
        for method in TRIPLES:
            found = self.retrieve(name, method, self.drawn(name, self.args.sample))
            held = [{(e["source"], e["relation"], e["target"]) for e in r.get("edges", [])} for r in found]
            share = [len(h & gold[r["_id"]]) / len(gold[r["_id"]]) for h, r in zip(held, found)]
            new += [(method, "triple_recall", interval(share), len(share)), (method, "triples", (sum(map(len, held)) / len(held), None, None), len(held)),
                     (method, "sub_nodes", (sum(r["subgraph"]["nodes"] for r in found) / len(found), None, None), len(found))]
        self.keep(name, "triples", new)

    def time(self, name):
        """User and system time of --few questions less that of one."""
        found = []
        for method in [*VARIANTS, "gear:plain=heads", "g-retriever"]:
            spent = []
            for n in (1, self.args.few + 1):
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                self.retrieve(name, method, self.drawn(name, n))
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
            found.append((method, "processor_ms", (1000 * (spent[1] - spent[0]) / self.args.few, None, None), self.args.few))
        self.keep(name, "time", found)

    def written(self, name):
        """A stance is chosen from its two words, so that whatever the writer says can be counted; only chain of thought is free."""
        if name in ("explagraphs-joined", "metaqa"):
            return
        folder = pathlib.Path(self.args.work) / "prompts"
        folder.mkdir(parents=True, exist_ok=True)
        prompt = {stem: folder / f"{stem}.txt" for stem in ("facts", "alone", "thought")}
        for stem, facts in zip(prompt, (FACTS, "", "")):
            prompt[stem].write_text((STANCE if stem != "thought" else THOUGHT).replace("{facts}", facts))
        common = ["--writer", self.args.writer, "-o", "task=answers", "-o", "tokens=64"]
        if name == "explagraphs":
            chosen = [*common, "-o", "choices=support|counter", "-o"]
            found = self.measure(name, ["gear", "gear-pcst", "g-retriever"], "em", self.args.few, *chosen, f"prompt={prompt['facts']}")
            found += [("zero-shot", *r[1:]) for r in self.measure(name, ["gear"], "em", self.args.few, *chosen, f"prompt={prompt['alone']}")]
            found += [("cot", *r[1:]) for r in self.measure(name, [f"cot:tokens=128:prompt={prompt['thought']}"], "em,answer_hit", self.args.few, *common)]
        else:
            methods = [*VARIANTS, "gear:k=16:size=16", "g-retriever", "zero-shot:tokens=64", "cot:tokens=192"]
            found = self.measure(name, methods, "answer_hit,entity_f1,em", self.args.few, *common)
        self.keep(name, "written", found)


def interval(values):
    """Mean and 95% bootstrap interval."""
    draw = random.Random(SEED)
    means = sorted(sum(draw.choices(values, k=len(values))) / len(values) for _ in range(2000))
    return sum(values) / len(values), means[50], means[1949]


def cell(row, digits=3):
    if not row or not row["mean"]:
        return ""
    if not row["low"] or digits == 0:
        return f"{float(row['mean']):.{digits}f}"
    return f"{float(row['mean']):.{digits}f} ({float(row['low']):.{digits}f} to {float(row['high']):.{digits}f})"


SHOWN = {"all": ["sub_recall", "hit@10", "sub_f1", "sub_nodes", "sub_edges", "context_tokens"], "paired": ["sub_recall", "hit@10", "sub_f1"]}
TITLES = {"sub_recall": "answer recall", "hit@10": "Hit@10", "sub_f1": "entity F1", "sub_nodes": "nodes", "sub_edges": "edges",
          "context_tokens": "tokens", "triple_recall": "recall of triples", "processor_ms": "ms of the processor", "answer_hit": "Hit", "em": "EM",
          "entity_f1": "entity F1"}


def tables(args):
    table = rows.read(args.results)
    whole = {"sub_nodes", "sub_edges", "context_tokens", "triples", "processor_ms"}
    for group in dict.fromkeys((r["dataset"], r["split"], r["heads"]) for r in table):
        mine = [r for r in table if (r["dataset"], r["split"], r["heads"]) == group]
        metrics, methods = (list(dict.fromkeys(r[key] for r in mine)) for key in ("metric", "method"))
        metrics = [m for m in metrics if m.split(" - ")[0] in SHOWN.get(group[1], [m.split(" - ")[0]]) and not m.endswith("Holm")]
        of = {(r["method"], r["metric"]): r for r in mine}
        print("\n{}, {}, heads of {}, {} questions:\n".format(*group, mine[0]["n"]))
        print("| method | " + " | ".join(" - ".join(TITLES.get(part, part) for part in m.split(" - ")) for m in metrics) + " |")
        print("| --- |" + " --- |" * len(metrics))
        for m in methods:
            name, _, options = m.removeprefix("pipelines/").partition(":")
            print(f"| {name} `{options}` | ".replace(" `` |", " |") + " | ".join(cell(of.get((m, x)), 0 if x in whole else 3) for x in metrics) + " |")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--quipu", default=str(ROOT / "build" / "quipu"))
    p.add_argument("--data", default=str(ROOT.parent / "shared" / "data"))
    p.add_argument("--work", default=str(ROOT / "build" / "gear"))
    p.add_argument("--results", default=str(ROOT / "bench" / "gear.csv"))
    p.add_argument("--embedder", default="all-MiniLM-L6-v2")
    p.add_argument("--heads", default="SmolLM2-135M-Instruct")
    p.add_argument("--writer", default="SmolLM2-135M-Instruct")
    p.add_argument("--methods", default=",".join(METHODS), help="of run")
    p.add_argument("--sample", type=int, default=200)
    p.add_argument("--few", type=int, default=20)
    p.add_argument("steps", nargs="+", metavar="STEP|SET")
    args = p.parse_args()
    names = [s for s in args.steps if s in SETS] or SETS
    steps = [s for s in args.steps if s not in SETS]
    known = ("index", "run", "sizes", "paired", "triples", "time", "written")
    unknown = [s for s in steps if s not in (*known, "tables")]
    if unknown:
        sys.exit(f"gear: no step or set '{unknown[0]}'")
    for step in steps:
        for name in names if step in known else []:
            getattr(Bench(args), step)(name)
        if step == "tables":
            tables(args)


if __name__ == "__main__":
    main()
