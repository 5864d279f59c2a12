#!/usr/bin/env python3
"""CG-RAG on citation graphs against what it is compared with: bench/citations.csv.

    bench/citations.py [--data ../shared/data] [--work DIR] [--seeds N] STEP... -- DATASET...

Steps, in order; each leaves TREC runs in --work:
    index    quipu index of the data set
    plain    baselines, LeSeGR untrained, and what it is without graph, delta, alpha, with K of 1 and 3
             ("cystic-fibrosis-pieces": in pieces of 64 tokens, with n of 1, 2, 4 and 8)
    train    LeSeGR's encoders, on questions that the runs do not hold: in small sets by cross-validation in five folds, in
             obliqa on a tenth of the questions (the paper's share), tested on others
    taught   a Graph Transformer, and what it is without neighbours, on all questions that the test does not hold: of obliqa
             2,488, some twenty minutes each
    late     ColBERT's late interaction; rows at once
    written  Doc2Query beside BM25 and TF-IDF on a sample of the passages, which a writer extends: some ten minutes of a core
    answers  what a writer says, of the choices, to a sample of the questions (pubmedqa, pwcqa); minutes for each method
    report   the runs against qrels.tsv, with 95% bootstrap intervals over the questions; of trained ones each seed

Only Python's standard library. Rows stand in a fixed order and carry no dates, so a change is a diff.
"""
import argparse
import itertools
import json
import pathlib
import random
import re
import subprocess
import sys

import rows

ROOT = pathlib.Path(__file__).resolve().parent.parent
SEED = 1
# of: the data set, if it has another name; index: options; n: instead of the rest, chunks that a citing chunk is joined with;
# edges: the types walked; folds: of a cross-validation, else learn: questions learned from, test: others that are asked;
# tokens: with late interaction
DATASETS = {
    "cystic-fibrosis": {"edges": "cites", "folds": 5, "tokens": True},
    "cacm": {"edges": "cites", "folds": 5, "tokens": True},
    # n matters where documents are several chunks.
    "cystic-fibrosis-pieces": {"of": "cystic-fibrosis", "index": ["-o", "chunk=tokens", "-o", "chunk_size=64"], "edges": "cites",
                               "folds": 5, "n": [1, 2, 4, 8]},
    "obliqa": {"edges": "ref,parent,next", "learn": 279, "test": 300, "tokens": True},
    # No citation graph: abstracts that share a rare term.
    "pubmedqa": {"edges": "shares", "learn": 50, "test": 450, "rare": 20},
}
PLAIN = ["bm25", "tfidf", "vector", "hybrid", "clear", "spar", "cg-rag:encoder=none", "cg-rag:encoder=none:layers=1",
         "cg-rag:encoder=none:layers=3", "cg-rag:encoder=none:sparse=tfidf", "cg-rag:encoder=none:graph=false",
         "cg-rag:encoder=none:graph=false:layers=1", "cg-rag:encoder=none:delta=false", "cg-rag:encoder=none:alpha=false"]
PIECES = ["bm25", "vector", "hybrid", "cg-rag:encoder=none:graph=false"]
TRAINED = [("gt", ()), ("gat", ()), ("gcn", ()), ("gt", ("graph=false",)), ("gt", ("layers=1",))]  # the first with every seed
EXPANDED = {"passages": 240, "right": 2, "seed": 7, "queries": 5}
# kind: only questions of it; weights: of what `train` left
ANSWERS = {
    "pubmedqa": {"choices": "yes|no|maybe", "sample": 20, "methods": ["hybrid", "cg-rag"]},
    "pwcqa": {"choices": "Yes|No", "sample": 20, "kind": "true_false", "index": ["-o", "triples=no"],
              "methods": ["lego:1"]},
}
WRITER = "SmolLM2-135M-Instruct"
METRICS = "hit@1,hit@3,mrr@10,ndcg@10"
COLUMNS = ["dataset", "method", "seed", "metric", "mean", "low", "high", "n"]


class Bench:
    def __init__(self, args):
        self.args = args

    def folder(self, dataset):
        path = pathlib.Path(self.args.work) / dataset
        (path / "runs").mkdir(parents=True, exist_ok=True)
        return path

    def data(self, dataset):
        given = pathlib.Path(self.args.data) / DATASETS[dataset].get("of", dataset)
        return self.shared_terms(given, DATASETS[dataset]["rare"]) if "rare" in DATASETS[dataset] else given

    def shared_terms(self, given, rare):
        """The set with an edge between documents that a term joins which no more than `rare` of them have."""
        made = self.folder(given.name) / "set"
        if made.exists():
            return made
        made.mkdir()
        for file in given.glob("*.jsonl"):
            (made / file.name).symlink_to(file.resolve())
        (made / "qrels.tsv").symlink_to((given / "qrels.tsv").resolve())
        have = {}
        for line in open(given / "edges.tsv", encoding="utf-8"):
            document, term = line.split("\t")[:2]
            have.setdefault(term, []).append(document)
        edges = {tuple(sorted(pair)) for documents in have.values() if len(documents) <= rare
                 for pair in itertools.combinations(documents, 2)}
        with open(made / "edges.tsv", "w", encoding="utf-8") as out:
            out.write("src\tdst\ttype\tweight\n")
            out.writelines(f"{a}\t{b}\tshares\t1\n" for a, b in sorted(edges))
        return made

    def quipu(self, dataset, *command):
        line = [self.args.quipu, *command, "--store", str(self.folder(dataset) / "store"), "--quiet",
                "--sparse", "none", "--threads", str(self.args.threads)]
        print("+", " ".join(line)[:300], file=sys.stderr)
        done = subprocess.run(line, stdout=subprocess.PIPE)
        if done.returncode:
            sys.exit(f"bench: exit {done.returncode} of {' '.join(line)[:300]}")
        return done.stdout

    def subset(self, dataset, name, ids):
        """A data set folder of some of the questions."""
        folder = self.folder(dataset) / name
        folder.mkdir(exist_ok=True)
        keep = set(ids)
        with open(folder / "queries.jsonl", "w", encoding="utf-8") as out:
            out.writelines(x for x in open(self.data(dataset) / "queries.jsonl", encoding="utf-8") if json.loads(x)["_id"] in keep)
        with open(folder / "qrels.tsv", "w", encoding="utf-8") as out:
            for i, line in enumerate(open(self.data(dataset) / "qrels.tsv", encoding="utf-8")):
                if i == 0 or line.split("\t")[0] in keep:
                    out.write(line)
        return folder

    def parts(self, dataset, most=False):
        """(folder learned from, folder asked) of each fold; most: all that is not asked is learned from."""
        how = DATASETS[dataset]
        ids = [json.loads(x)["_id"] for x in open(self.data(dataset) / "queries.jsonl", encoding="utf-8")]
        random.Random(SEED).shuffle(ids)
        if "folds" not in how:
            learn, test, rest = ids[:how["learn"]], ids[how["learn"]:how["learn"] + how["test"]], ids[how["learn"] + how["test"]:]
            learned = self.subset(dataset, "learn-most", learn + rest) if most else self.subset(dataset, "learn", learn)
            return [(learned, self.subset(dataset, "test", test))]
        folds = [ids[k::how["folds"]] for k in range(how["folds"])]
        return [(self.subset(dataset, f"learn-{k}", [x for x in ids if x not in folds[k]]), self.subset(dataset, f"test-{k}", folds[k]))
                for k in range(how["folds"])]

    def asked(self, dataset):
        return self.data(dataset) if "folds" in DATASETS[dataset] else self.parts(dataset)[0][1]

    # ---- steps ----
    def index(self, dataset):
        tokens = ["-o", "tokens=yes"] if "tokens" in DATASETS[dataset] else []
        self.quipu(dataset, "index", "-o", "graph=links", *tokens, *DATASETS[dataset].get("index", []), str(self.data(dataset)))

    def plain(self, dataset):
        edges = DATASETS[dataset]["edges"]
        some = [*PIECES, *(f"cg-rag:encoder=none:n={n}" for n in DATASETS[dataset].get("n", []))]
        methods = [m + (f":edges={edges}" if m.startswith("cg-rag") else "") for m in (some if "n" in DATASETS[dataset] else PLAIN)]
        self.quipu(dataset, "eval", str(self.asked(dataset)), "-m", ",".join(methods), "--run", str(self.folder(dataset) / "runs" / "%s.txt"),
                   "--bootstrap", "1", "-o", "compare=none", "--json")

    def late(self, dataset):
        found = json.loads(self.quipu(dataset, "eval", str(self.asked(dataset)), "-m", "colbert,colbert:exact=true", "--seed", str(SEED), "--json",
                                      "-o", f"metrics={METRICS}", "-o", "compare=none"))
        self.keep([dataset], self.told(found, dataset), late=True)

    def train(self, dataset):
        edges = DATASETS[dataset]["edges"]
        for n in DATASETS[dataset].get("n", []):
            self.train_one(dataset, "gt", [f"n={n}", f"edges={edges}"], f"trained-gt_n={n}", 1)
        for i, (encoder, options) in enumerate(TRAINED if "n" not in DATASETS[dataset] else []):
            for seed in range(1, (self.args.seeds if i == 0 else 1) + 1):
                self.train_one(dataset, encoder, [*options, f"edges={edges}"], "_".join([f"trained-{encoder}", *options]), seed)

    def taught(self, dataset):
        for options in (), ("graph=false",):
            self.train_one(dataset, "gt", [*options, f"edges={DATASETS[dataset]['edges']}"], "_".join(["taught-gt", *options]), 1, most=True)

    def train_one(self, dataset, encoder, options, name, seed, most=False):
        run = self.folder(dataset) / "runs" / f"{name}@{seed}.txt"
        if run.exists():
            return
        given = [x for o in options for x in ("-o", o)]
        lines, logs = [], []
        for k, (learn, test) in enumerate(self.parts(dataset, most)):
            weights, part = self.folder(dataset) / f"{name}.gguf", self.folder(dataset) / "part.txt"
            logs.append(json.loads(self.quipu(dataset, "train", "lesegr", "--dataset", str(learn), "-o", f"encoder={encoder}",
                                              "-o", f"file={weights}", "--seed", str(seed), "--json", *given)))
            method = ":".join(["cg-rag", f"encoder={weights}", *options])
            self.quipu(dataset, "eval", str(test), "-m", method, "--run", str(part), "--bootstrap", "1", "--json")
            lines += part.read_text(encoding="utf-8").splitlines(keepends=True)
        (self.folder(dataset) / f"{name}@{seed}.json").write_text(json.dumps(logs, indent=1), encoding="utf-8")
        run.write_text("".join(lines), encoding="utf-8")

    def written(self, dataset):
        """Of each question at most two right passages, and others that have a text; judged as far as these go."""
        folder, draw = self.folder(f"{dataset}-written"), random.Random(EXPANDED["seed"])
        corpus = {p["_id"]: p for p in map(json.loads, open(self.data(dataset) / "corpus.jsonl", encoding="utf-8"))}
        judged = [line.split("\t") for line in open(self.data(dataset) / "qrels.tsv", encoding="utf-8").read().splitlines()[1:]]
        right = {}
        for question, passage, score in judged:
            if float(score) > 0 and corpus[passage]["text"]:
                right.setdefault(question, []).append(passage)
        kept = {p for found in right.values() for p in draw.sample(sorted(found), min(EXPANDED["right"], len(found)))}
        others = sorted(p for p in corpus if corpus[p]["text"] and p not in kept)
        kept.update(draw.sample(others, max(0, EXPANDED["passages"] - len(kept))))
        with open(folder / "corpus.jsonl", "w", encoding="utf-8") as out:
            out.writelines(json.dumps(corpus[p]) + "\n" for p in sorted(kept))
        with open(folder / "qrels.tsv", "w", encoding="utf-8") as out:
            out.writelines("\t".join(row) + "\n" for row in [("query-id", "corpus-id", "score"), *(r for r in judged if r[1] in kept)])
        (folder / "queries.jsonl").write_text((self.data(dataset) / "queries.jsonl").read_text(encoding="utf-8"), encoding="utf-8")
        name = folder.name
        self.quipu(name, "index", "-o", "graph=links", "-o", f"doc2query={EXPANDED['queries']}", "--writer", WRITER, str(folder))
        found = json.loads(self.quipu(name, "eval", str(folder), "-m", "bm25,tfidf,doc2query", "--seed", str(SEED), "--json",
                                      "-o", f"metrics={METRICS}", "-o", "compare=none"))
        self.keep([name], self.told(found, name))

    def answers(self, dataset):
        how, name = ANSWERS[dataset], f"{dataset}-answers"
        asked = self.asked(dataset) if dataset in DATASETS else pathlib.Path(self.args.data) / dataset
        if not (self.folder(dataset) / "store").exists():
            self.quipu(dataset, "index", *how.get("index", []), str(asked))
        folder = self.folder(name)
        questions = [json.loads(x) for x in open(asked / "queries.jsonl", encoding="utf-8")]
        kept = {q["_id"] for q in questions if q.get("kind") == how.get("kind")}
        kept = set(random.Random(SEED).sample(sorted(kept), min(how["sample"], len(kept))))
        for file, given in ("queries.jsonl", asked), ("answers.jsonl", pathlib.Path(self.args.data) / dataset):
            with open(folder / file, "w", encoding="utf-8") as out:
                out.writelines(x for x in open(given / file, encoding="utf-8") if json.loads(x)["_id"] in kept)
        weights = self.folder(dataset) / "trained-gt.gguf"
        methods = ",".join(f"cg-rag:encoder={weights}" if m == "cg-rag" else m for m in how["methods"])
        found = json.loads(self.quipu(dataset, "eval", str(folder), "-m", methods, "--writer", WRITER, "-o", "task=answers", "-k", "3",
                                      "-o", f"choices={how['choices']}", "-o", "metrics=accuracy,macro_f1", "-o", "tokens=8",
                                      "--seed", str(SEED), "--json", "-o", "compare=none"))
        self.keep([name], self.told(found, name))

    def report(self, dataset):
        runs = sorted((self.folder(dataset) / "runs").glob("*.txt"))
        given = [x for r in runs for x in ("--with-run", str(r))]
        found = json.loads(self.quipu(dataset, "eval", str(self.asked(dataset)), *given, "--seed", str(SEED), "--json",
                                      "-o", f"metrics={METRICS}", "-o", "compare=none"))
        return self.told(found, dataset)

    def told(self, found, dataset):
        for method in found["methods"]:
            name, _, seed = method["name"].partition("@")
            name = re.sub(r"encoder=\S*/([^/]*)\.gguf", r"encoder=\1", name)
            if dataset in DATASETS:
                name = name.replace(f":edges={DATASETS[dataset]['edges']}", "").replace("_", ":")
            for metric, value in method["metrics"].items():
                yield dict(dataset=dataset, method=name, seed=seed, metric=metric, n=found["questions"],
                           **{k: f"{value[k]:.4f}" for k in ("mean", "low", "high")})

    def keep(self, names, found, late=False):
        order = [*DATASETS, *(d for d in ANSWERS if d not in DATASETS)]
        rows.replace(self.args.out, COLUMNS, lambda r: r["dataset"] in names and r["method"].startswith("colbert") == late, list(found),
                     lambda r: (order.index(r["dataset"].split("-written")[0].split("-answers")[0]), r["dataset"], r["method"], r["seed"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=str(ROOT.parent / "shared" / "data"))
    parser.add_argument("--work", default="/tmp/quipu-citations")
    parser.add_argument("--quipu", default=str(ROOT / "build" / "quipu"))
    parser.add_argument("--out", default=str(ROOT / "bench" / "citations.csv"))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("what", nargs="+")
    args = parser.parse_args()
    bench = Bench(args)
    steps = [w for w in args.what if w not in DATASETS and w not in ANSWERS]
    sets = [w for w in args.what if w in DATASETS or w in ANSWERS] or list(DATASETS)
    for step in steps:
        if step != "report":
            for dataset in sets:
                getattr(bench, step)(dataset)
            continue
        bench.keep(sets, [r for dataset in sets for r in bench.report(dataset)])


if __name__ == "__main__":
    main()
