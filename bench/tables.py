#!/usr/bin/env python3
"""The tables of docs/results.md, in Markdown, from bench/results.csv and bench/differences.csv.

    bench/tables.py summary|gains|sweeps|tuned|correlation|time|answers|quality|differences
"""
import csv
import pathlib
import sys

BENCH = pathlib.Path(__file__).resolve().parent


def read(name):
    with open(BENCH / name, newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


def table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|" + " --- |" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def named(row):
    return f"{row['method']} `{row['options']}`" if row["options"] else row["method"]


def grouped(rows):
    """{dataset: {method and options: {metric: row}}}, in the order of the file."""
    out = {}
    for row in rows:
        out.setdefault(row["dataset"], {}).setdefault(named(row), {})[row["metric"]] = row
    return out


def value(of, metric, digits=3):
    return f"{float(of[metric]['mean']):.{digits}f}" if of.get(metric, {}).get("mean") else "-"


def interval(of, metric):
    row = of.get(metric)
    if not row or not row["mean"]:
        return "-"
    return f"{float(row['mean']):.3f} ({float(row['low']):.3f} to {float(row['high']):.3f})"


SWEPT = ("budget=", "alpha=", "beta=", "scale=")


def without_edges(options):
    return ":".join(o for o in options.split(":") if o and not o.startswith("edges="))


def summary():
    """nDCG@10 of every method that stands untuned, a column a data set."""
    rows = [r for r in read("results.csv") if r["split"] == "all" and r["metric"] == "ndcg@10" and
            not any(o in r["options"] for o in SWEPT)]
    sets = list(dict.fromkeys(r["dataset"] for r in rows))
    of = {}
    for r in rows:
        of.setdefault((r["method"], without_edges(r["options"])), {})[r["dataset"]] = r
    questions = {r["dataset"]: r["n"] for r in rows}
    table(["method", *(f"{s} ({questions[s]})" for s in sets)],
          [[f"{m} `{o}`" if o else m, *(f"{float(d[s]['mean']):.3f}" if s in d else "-" for s in sets)] for (m, o), d in of.items()])


def gains():
    """FastInsight against the methods with the same first stage and share of it: difference of nDCG@10, interval, p."""
    rows = []
    for r in read("differences.csv"):
        if r["split"] != "all" or r["metric"] != "ndcg@10":
            continue
        a, b = ({"method": name.partition(":")[0], "options": without_edges(name.partition(":")[2])} for name in (r["a"], r["b"]))
        sign = 1
        if b["method"] == "fastinsight":
            a, b, sign = b, a, -1
        if a["options"] not in ("", "first=hybrid", "first=hybrid:mix=0.75"):
            continue
        base = "hybrid" if "first=hybrid" in a["options"] else "vector"
        same = a["options"] == b["options"] and b["method"] not in ("tfidf", "vector", "hybrid", "bm25") or \
            b["method"] in (base, "bm25") and not b["options"]
        if a["method"] == "fastinsight" and b["method"] != "fastinsight" and same:
            low, high = sorted(sign * float(r[k]) for k in ("low", "high"))
            rows.append([r["dataset"], f"`{a['options']}`" if a["options"] else "the paper's", named(b),
                         f"{sign * float(r['difference']):+.3f} ({low:+.3f} to {high:+.3f})", f"{float(r['p']):.3f}"])
    table(["data", "fastinsight", "against", "difference", "p"], rows)


def sweeps():
    """nDCG@10 with one option away from the paper's, a column a data set; for the budget rerank / gar / fastinsight."""
    of, standard = {}, {"budget": "100", "alpha": "0.2", "beta": "1", "scale": "1"}
    rows = [r for r in read("results.csv") if r["split"] == "all" and r["metric"] == "ndcg@10" and
            "first=" not in r["options"] and "mix=" not in r["options"] and r["method"] in ("rerank", "gar", "fastinsight")]
    sets = list(dict.fromkeys(r["dataset"] for r in rows))
    for r in rows:
        given = dict(o.split("=", 1) for o in r["options"].split(":") if "=" in o and not o.startswith("edges="))
        for option, value in given.items() or standard.items():
            of.setdefault((option, value), {}).setdefault(r["dataset"], {})[r["method"]] = f"{float(r['mean']):.3f}"
    for option in standard:
        values = sorted({v for o, v in of if o == option}, key=float)
        methods = ["rerank", "gar", "fastinsight"] if option == "budget" else ["fastinsight"]
        table([option, *sets], [[v, *(" / ".join(of[option, v].get(s, {}).get(m, "-") for m in methods) for s in sets)] for v in values])


def correlation():
    """Pearson's r between Recall or MissTR of dense search's first ten and what the method adds in recall@100."""
    rows = []
    for dataset, methods in grouped([r for r in read("results.csv") if r["split"] == "all" and r["metric"].startswith("r(")]).items():
        for name, of in methods.items():
            if name.startswith(("rerank", "gar", "fastinsight")) and not any(o in name for o in (*SWEPT, "mix=")):
                rows.append([dataset, name, value(of, "r(recall@10 of vector, gain)", 2), value(of, "r(misstr@10 of vector, gain)", 2)])
    table(["data", "method", "r with Recall", "r with MissTR"], rows)


def tuned():
    """The settings that the development half chose, on the other half, beside the paper's."""
    rows = []
    for dataset, methods in grouped([r for r in read("results.csv") if r["split"] == "test" and r["metric"] == "ndcg@10"]).items():
        for name, of in methods.items():
            if name in ("hybrid", "bm25", "vector") or any(o in name for o in SWEPT):
                rows.append([dataset, name, interval(of, "ndcg@10"), of["ndcg@10"]["n"]])
    table(["data", "method", "nDCG@10", "questions"], rows)


def scores(split):
    """All metrics of one split."""
    for dataset, methods in grouped([r for r in read("results.csv") if r["split"] == split]).items():
        shown = {m: of for m, of in methods.items() if split != "all" or not any(o in m for o in SWEPT)}
        n = next(iter(next(iter(shown.values())).values()))["n"]
        print(f"**{dataset}**, {n} questions\n")
        table(["method", "nDCG@10", "R@10 capped", "MRR@10", "MAP", "TR@10", "MissTR@10"],
              [[m, interval(of, "ndcg@10"), value(of, "recall_cap@10"), value(of, "mrr@10"), value(of, "map"),
                value(of, "tr@10"), value(of, "misstr@10")] for m, of in shown.items()])


def time():
    rows = []
    for dataset, methods in grouped([r for r in read("results.csv") if r["split"] == "time"]).items():
        for m, of in methods.items():
            stages = sorted({k[3:-4] for k in of if k.startswith("ms_")})
            rows.append([dataset, m, value(of, "passes", 0)] +
                        [f"{value(of, f'ms_{s}_p50', 1)} / {value(of, f'ms_{s}_p95', 1)}" for s in stages])
            head = ["data", "method", "passes"] + [f"{s}, ms p50 / p95" for s in stages]
    if rows:
        table(head, rows)


def answers():
    rows = []
    for split in ("quoted", "written"):
        for dataset, methods in grouped([r for r in read("results.csv") if r["split"] == split]).items():
            metrics = list(dict.fromkeys(k for of in methods.values() for k in of))
            rows += [[dataset, split, m] + [interval(of, k) for k in metrics] for m, of in methods.items()]
    if rows:
        table(["data", "answer", "method", *metrics], rows)


def differences():
    for dataset in dict.fromkeys(r["dataset"] for r in read("differences.csv")):
        rows = [r for r in read("differences.csv") if r["dataset"] == dataset and r["metric"] == "ndcg@10" and
                "fastinsight" in (r["a"].split(":")[0], r["b"].split(":")[0])]
        if rows:
            print(f"**{dataset}**\n")
            table(["split", "a", "b", "a - b, nDCG@10", "p", "p (Holm)"],
                  [[r["split"], r["a"], r["b"], f"{float(r['difference']):+.3f} ({float(r['low']):+.3f} to "
                    f"{float(r['high']):+.3f})", r["p"], r["p_holm"]] for r in rows])


if __name__ == "__main__":
    tables = {"summary": summary, "gains": gains, "quality": lambda: scores("all"), "tuned": tuned, "correlation": correlation, "sweeps": sweeps, "time": time, "answers": answers, "differences": differences}
    if len(sys.argv) != 2 or sys.argv[1] not in tables:
        sys.exit(__doc__)
    tables[sys.argv[1]]()
