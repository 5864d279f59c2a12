#!/usr/bin/env python3
"""Retrieval quality and time of every method on the data sets: bench/results.csv, bench/differences.csv.

    bench/retrieval.py [--data ../shared/data] [--work DIR] STEP... -- DATASET...

Steps, in order; each reads what the one before left in --work:
    index    quipu index of the data set
    grid     every method with every setting below, each question once for all of them (they share model work);
             leaves a TREC run of each
    tune     reads the runs; on the development half of the questions picks, per method and first stage, the best settings
    report   reads the runs; intervals and differences: the papers' settings on all questions, tuned ones on the other half
    time     the main methods alone on a few questions, nothing shared: latency per stage
    written  the methods that need a writer, on a few questions, beside what they build on: hyde, ircot
    answers  ask, on data sets that have answers: EM, F1, citations

Only Python's standard library. Rows stand in a fixed order and carry no dates, so a change is a diff.
"""
import argparse
import json
import pathlib
import subprocess
import sys

import rows

ROOT = pathlib.Path(__file__).resolve().parent.parent
SEED = 1

# questions: all, or a sample drawn with SEED; edges: the choices of edge types, the first is the one reported untuned
DATASETS = {
    "cystic-fibrosis": {"edges": ["cites"]},
    "cacm": {"edges": ["cites", "*"]},
    "obliqa": {"edges": ["ref", "ref,parent", "*"], "sample": 60},
    "scifact": {"edges": [], "sample": 100},
    "hotpotqa-100": {"edges": ["title_mention"]},
    "musique-100": {"edges": ["title_mention"]},
    "lacd": {"edges": ["mentions"], "sample": 20},
}
FIRST = ["vector", "hybrid"]
BUDGETS = [10, 20, 30, 50, 70]  # and 100, the default
ALPHAS = ["0", "0.1", "0.3", "0.5", "0.7", "1"]  # and 0.2
BETAS = ["0", "0.25", "0.5", "2", "4", "inf"]  # and 1
SCALES = ["0", "0.5"]  # and 1
REPORTED = ["0", "0.5", "0.75"]  # shares of the first stage's score that are reported untuned
MIXES = ["0", "0.25", "0.5", "0.75"]
METRICS = "ndcg@10,ndcg_bin@10,recall@10,recall_cap@10,recall@100,mrr@10,map,hit@1,hit@10,tr@10,misstr@10"
SEARCHES = ["vector", "bm25", "tfidf", "hybrid", "hybrid:fuse=rrf"]


def spec(method, **options):
    """fastinsight:first=hybrid:alpha=0; settings in a fixed order, what is a default left out."""
    standard = {"first": "vector", "alpha": "0.2", "beta": "1", "mix": "0", "budget": "100", "scale": "1"}
    order = ["first", "edges", "alpha", "beta", "scale", "mix", "budget"]
    given = [f"{k}={options[k]}" for k in order if options.get(k) is not None and str(options[k]) != standard.get(k)]
    return ":".join([method, *given])


def rerankers(first, edges):
    """(method, its settings) of the three that rerank, untuned."""
    graph = [("gar", {"edges": edges}), ("fastinsight", {"edges": edges})] if edges else []
    return [(m, {"first": first, **o}) for m, o in [("rerank", {})] + graph]


def grid(dataset):
    """Every contender once, the searches first."""
    edges = DATASETS[dataset]["edges"] or [None]
    out = list(SEARCHES)
    for first in FIRST:
        for choice in edges:
            for method, options in rerankers(first, choice):
                out += [spec(method, **options, mix=mix) for mix in MIXES]
                if choice == edges[0]:
                    out += [spec(method, **options, budget=b) for b in BUDGETS]
                if method == "fastinsight":
                    pairs = [("0", "1"), ("0", "0"), ("0.1", "0.5"), ("0.2", "0"), ("0.2", "0.5")]
                    if choice == edges[0]:
                        pairs += [(a, "1") for a in ALPHAS] + [("0.2", b) for b in BETAS]
                    out += [spec(method, **options, alpha=a, beta=b, mix=m) for a, b in pairs for m in MIXES]
                    out += [spec(method, **options, scale=s) for s in SCALES]
    return list(dict.fromkeys(out))


class Bench:
    def __init__(self, args):
        self.args = args

    def folder(self, dataset):
        path = pathlib.Path(self.args.work) / dataset
        (path / "runs").mkdir(parents=True, exist_ok=True)
        return path

    def quipu(self, dataset, *command):
        models = []
        for flag in ("embedder", "sparse") if command[0] == "index" else ("embedder", "reranker", "writer", "sparse"):
            if getattr(self.args, flag):
                models += [f"--{flag}", getattr(self.args, flag)]
        line = [self.args.quipu, *command, "--store", str(self.folder(dataset) / "store"), *models]
        print("+", " ".join(line)[:300], file=sys.stderr)
        done = subprocess.run(line, stdout=subprocess.PIPE)
        if done.returncode:
            sys.exit(f"bench: exit {done.returncode} of {' '.join(line)[:300]}")
        return done.stdout

    def eval(self, dataset, *options, sample=None):
        sample = DATASETS[dataset].get("sample") if sample is None else sample
        line = ["eval", str(pathlib.Path(self.args.data) / dataset), "--json", "--seed", str(SEED), *options]
        return json.loads(self.quipu(dataset, *line, *(["--sample", str(sample)] if sample else [])))

    def eval_runs(self, dataset, contenders, split, *options):
        runs = []
        for c in contenders:
            runs += ["--with-run", str(self.folder(dataset) / "runs" / (c + ".txt"))]
        return self.eval(dataset, *runs, "-o", f"split={split}", *options)

    # ---- steps ----
    def index(self, dataset):
        self.quipu(dataset, "index", str(pathlib.Path(self.args.data) / dataset), *self.args.index_option)

    def grid(self, dataset):
        runs = self.folder(dataset) / "runs"
        report = self.eval(dataset, "-m", ",".join(grid(dataset)), "--run", str(runs / "%s.txt"), "--bootstrap", "1",
                           "-o", "metrics=ndcg@10,recall_cap@10", "-o", "compare=none")
        (self.folder(dataset) / "grid.json").write_text(json.dumps(report))

    def tune(self, dataset):
        """Best on the development half by nDCG@10; of equals the one listed first, and the untuned ones are."""
        report = self.eval_runs(dataset, grid(dataset), "dev", "--bootstrap", "1", "-o", "metrics=ndcg@10", "-o", "compare=none")
        score = {m["name"]: m["metrics"]["ndcg@10"]["mean"] for m in report["methods"]}
        best = {}
        for name, value in score.items():
            method, *options = name.split(":")
            if any(o.startswith("budget=") for o in options) or method in ("vector", "bm25", "tfidf", "hybrid"):
                continue
            first = "hybrid" if "first=hybrid" in options else "vector"
            for kind in ("pure", "mix"):  # pure: the paper's settings alone; mix: ours besides
                if kind == "pure" and any(o.startswith(("mix=", "scale=")) for o in options):
                    continue
                key = f"{method} {first} {kind}"
                if key not in best or value > score[best[key]] + 1e-12:
                    best[key] = name
        (self.folder(dataset) / "tuned.json").write_text(json.dumps(best, indent=1))
        for key, name in best.items():
            print(f"{dataset} {key}: {name} {score[name]:.4f}", file=sys.stderr)

    def report(self, dataset):
        edges = (DATASETS[dataset]["edges"] or [None])[0]
        tuned = json.loads((self.folder(dataset) / "tuned.json").read_text())
        untuned = SEARCHES + [spec(m, **o, mix=mix) for first in FIRST for mix in REPORTED for m, o in rerankers(first, edges)]
        sweeps = [spec(m, **o, budget=b) for m, o in rerankers("vector", edges) for b in BUDGETS]
        if edges:
            sweeps += [spec("fastinsight", edges=edges, alpha=a) for a in ALPHAS]
            sweeps += [spec("fastinsight", edges=edges, beta=b) for b in BETAS]
            sweeps += [spec("fastinsight", edges=edges, scale=s) for s in SCALES]
        parts = [(self.eval_runs(dataset, untuned + sweeps, "all", "-o", f"metrics={METRICS}"), "all", set(untuned)),
                 (self.eval_runs(dataset, list(dict.fromkeys([*SEARCHES[:4], *untuned, *tuned.values()])), "test", "-o",
                                 f"metrics={METRICS}"), "test", None)]
        new, differences = [], []
        for report, split, compared in parts:
            new += result_rows(dataset, split, report, self.args)
            differences += difference_rows(dataset, split, report, compared)
        replace_rows(self.args.results, RESULT, dataset, lambda r: r["split"] in ("all", "test") and
                     not r["metric"].startswith(("ms_", "passes")), new)
        replace_rows(self.args.differences, DIFFERENCE, dataset, lambda r: True, differences)

    def time(self, dataset):
        edges = (DATASETS[dataset]["edges"] or [None])[0]
        methods = ["vector", "bm25", "hybrid"] + [spec(m, **o) for m, o in rerankers("vector", edges)]
        report = self.eval(dataset, "-m", ",".join(methods), "-o", "share=false", "-o", "metrics=ndcg@10", sample=self.args.few)
        new = []
        for m in report["methods"]:
            values = {f"ms_{stage}_{p}": v for stage, of in m["latency_ms"].items() for p, v in of.items()}
            for metric, value in {**values, "passes": m["model_passes"]}.items():
                new.append(result_row(dataset, "time", m, metric, {"mean": value}, report))
        replace_rows(self.args.results, RESULT, dataset, lambda r: r["split"] == "time", new)

    def written(self, dataset):
        report = self.eval(dataset, "-m", "vector,hyde,ircot", "-o", f"metrics={METRICS}", "--top", "100",
                           sample=self.args.few)
        replace_rows(self.args.results, RESULT, dataset, lambda r: r["split"] == "written methods",
                     result_rows(dataset, "written methods", report, self.args))

    def answers(self, dataset):
        edges = (DATASETS[dataset]["edges"] or [None])[0]
        methods = ",".join(["hybrid", spec("fastinsight", first="hybrid", edges=edges)])
        new = []
        for extract in ("true", "false"):
            if extract == "false" and not self.args.writer:
                continue
            report = self.eval(dataset, "-m", methods, "-o", "task=answers", "-o", f"extract={extract}", "--top", "10",
                               sample=self.args.few)
            new += result_rows(dataset, "quoted" if extract == "true" else "written", report, self.args)
        replace_rows(self.args.results, RESULT, dataset, lambda r: r["split"] in ("quoted", "written"), new)


RESULT = ["dataset", "split", "method", "options", "metric", "mean", "low", "high", "n", "embedder", "reranker"]
DIFFERENCE = ["dataset", "split", "metric", "a", "b", "difference", "low", "high", "p", "p_holm", "n"]


def text(x):
    return "" if x is None else f"{x:.4f}"


def result_row(dataset, split, method, metric, of, report):
    name, _, options = method["name"].partition(":")
    return {"dataset": dataset, "split": split, "method": name, "options": options, "metric": metric,
            "mean": text(of.get("mean")), "low": text(of.get("low")), "high": text(of.get("high")),
            "n": report["questions"], "embedder": report["embedder"], "reranker": report["ranker"]}


def result_rows(dataset, split, report, args):
    report["ranker"] = report["ranker"] or pathlib.Path(args.reranker or "quipu-rerank").stem
    out = []
    for m in report["methods"]:
        out += [result_row(dataset, split, m, metric, of, report) for metric, of in m["metrics"].items()]
        for metric, value in m.get("recall_gain_correlation", {}).items():
            if metric != "first":
                out.append(result_row(dataset, split, m, f"r({metric} of vector, gain)", {"mean": value}, report))
    return out


def difference_rows(dataset, split, report, compared):
    return [{"dataset": dataset, "split": split, "metric": d["metric"], "a": d["a"], "b": d["b"],
             **{k: text(d[k]) for k in ("difference", "low", "high", "p", "p_holm")}, "n": report["questions"]}
            for d in report["differences"]
            if d["metric"] in ("ndcg@10", "recall_cap@10") and (compared is None or {d["a"], d["b"]} <= compared)]


def replace_rows(path, columns, dataset, stale, new):
    """The data set's stale rows make way for the new ones; data sets in the order of DATASETS."""
    rank = {name: i for i, name in enumerate(DATASETS)}
    parts = ["all", "test", "time", "written methods", "quoted", "written"]
    rows.replace(path, columns, lambda r: r["dataset"] == dataset and stale(r), new,
                 lambda r: (rank.get(r["dataset"], 99), parts.index(r["split"])))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--quipu", default=str(ROOT / "build" / "quipu"))
    p.add_argument("--data", default=str(ROOT.parent / "shared" / "data"))
    p.add_argument("--work", default=str(ROOT / "build" / "bench"))
    p.add_argument("--results", default=str(ROOT / "bench" / "results.csv"))
    p.add_argument("--differences", default=str(ROOT / "bench" / "differences.csv"))
    p.add_argument("--embedder")
    p.add_argument("--reranker")
    p.add_argument("--writer")
    p.add_argument("--sparse", help="a sparse encoder: splade is one of the searches then")
    p.add_argument("--few", type=int, default=20, help="questions where a writer or a quiet machine is needed")
    p.add_argument("--index-option", action="append", default=[], help="passed to quipu index, as --index-option=-ochunk=whole")
    p.add_argument("steps", nargs="+", metavar="STEP|DATASET")
    args = p.parse_args()
    bench = Bench(args)
    if args.sparse:
        SEARCHES.append("splade")
    steps = [s for s in args.steps if hasattr(bench, s) and s not in DATASETS]
    datasets = [s for s in args.steps if s in DATASETS] or list(DATASETS)
    unknown = [s for s in args.steps if s not in steps and s not in datasets]
    if unknown or not steps:
        p.error(f"unknown: {' '.join(unknown)}" if unknown else "a step is wanted: index grid tune report time answers")
    for dataset in datasets:
        for step in steps:
            getattr(bench, step)(dataset)


if __name__ == "__main__":
    main()
