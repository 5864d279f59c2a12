#!/usr/bin/env python3
"""Makes the stored values of test_measure: trec_eval's measures (pytrec_eval), Topological Recall (networkx), SQuAD's EM/F1,
ROUGE-L (rouge_score).

Input: the hotpotqa-100 set (questions, judgements, title-mention edges). The run is a plain tf-idf ranking with scores
rounded to one digit, so that ties happen; grades 1..3 are given to the relevant documents by their position, so that
gains differ. Needs: pytrec_eval (or pytrec-eval-terrier), networkx, rouge-score.

    tests/reference/metrics.py ../shared/data/hotpotqa-100 tests/reference/metrics
"""
import collections
import json
import math
import os
import pathlib
import re
import string
import sys

import networkx as nx
import pytrec_eval
from rouge_score import rouge_scorer

QUESTIONS, DEPTH = 20, 40


def words(text):
    return re.findall(r"\w+", text.lower())


def tf_idf_run(corpus, questions):
    df = collections.Counter(w for text in corpus.values() for w in set(text))
    run = {}
    for qid, text in questions.items():
        scores = {}
        for doc, terms in corpus.items():
            tf = collections.Counter(terms)
            score = sum(math.log1p(tf[w]) * math.log(len(corpus) / df[w]) for w in set(text) if tf[w])
            if score:
                scores[doc] = round(score, 1)
        # trec_eval's own order, so that cutting the run cuts what it would cut
        best = sorted(scores, key=lambda d: (scores[d], d), reverse=True)[:DEPTH]
        run[qid] = {d: scores[d] for d in best}
    return run


def uncertainty(graph, source, gold):
    """Definition 7 read literally: all shortest paths in hops, the smallest sum of ln(1 + deg) without the gold node."""
    if source == gold:
        return 0.0
    if source not in graph or gold not in graph or not nx.has_path(graph, source, gold):
        return math.inf
    return min(sum(math.log(1 + graph.degree(v)) for v in path[:-1])
               for path in nx.all_shortest_paths(graph, source, gold))


def topological(graph, ranking, relevant, k):
    u = [min((uncertainty(graph, d, r) for d in ranking[:k]), default=math.inf) for r in relevant]
    tr = sum(1 / (1 + x) for x in u) / len(u)
    return tr, sum(1 / (1 + x) for x in u if x > 0) / len(u)


def normalize_answer(s):
    """evaluate-v1.1.py of SQuAD, as published."""
    s = "".join(ch for ch in s.lower() if ch not in set(string.punctuation))
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", s).split())


def f1(prediction, gold):
    p, g = normalize_answer(prediction).split(), normalize_answer(gold).split()
    same = sum((collections.Counter(p) & collections.Counter(g)).values())
    if not p or not g:
        return float(p == g)
    return 2 * same / (len(p) + len(g)) if same else 0.0


def main(data, out):
    data, out = pathlib.Path(data), pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    docs = [json.loads(line) for line in open(data / "corpus.jsonl", encoding="utf-8")]
    corpus = {d["_id"]: words(d["title"] + " " + d["text"]) for d in docs}
    queries = [json.loads(line) for line in open(data / "queries.jsonl", encoding="utf-8")][:QUESTIONS]
    ids = {q["_id"] for q in queries}
    qrels = collections.defaultdict(dict)
    for line in (data / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        qid, doc, _ = line.split("\t")
        if qid in ids:
            qrels[qid][doc] = 1 + len(qrels[qid]) % 3
    # judged, not relevant: must count like not judged
    for q in queries[:5]:
        qrels[q["_id"]]["h0"] = 0
    run = tf_idf_run(corpus, {q["_id"]: words(q["text"]) for q in queries})
    edges = [line.split("\t")[:2] for line in (data / "edges.tsv").read_text(encoding="utf-8").splitlines()[1:]]
    graph = nx.Graph((a, b) for a, b in edges if a != b)
    graph.add_nodes_from(corpus)

    with open(out / "queries.jsonl", "w", encoding="utf-8") as f:
        for q in queries:
            print(json.dumps({"_id": q["_id"], "text": q["text"]}), file=f)
    with open(out / "qrels.tsv", "w") as f:
        print("query-id\tcorpus-id\tscore", file=f)
        for q in queries:
            for doc, grade in qrels[q["_id"]].items():
                print(q["_id"], doc, grade, sep="\t", file=f)
    with open(out / "edges.tsv", "w") as f:
        print("src\tdst", file=f)
        for a, b in edges:
            print(a, b, sep="\t", file=f)
    with open(out / "run.txt", "w") as f:
        for qid, scores in run.items():
            for i, (doc, score) in enumerate(scores.items()):
                print(qid, "Q0", doc, i + 1, score, "tfidf", file=f)

    ours = {"ndcg@10": "ndcg_cut_10", "ndcg": "ndcg", "recall@10": "recall_10", "recall@30": "recall_30", "p@5": "P_5",
            "hit@1": "success_1", "hit@10": "success_10", "mrr": "recip_rank", "map": "map", "map@10": "map_cut_10"}
    theirs = {"ndcg_cut.10", "ndcg", "recall.10,30", "P.5", "success.1,10", "recip_rank", "map", "map_cut.10"}
    graded = pytrec_eval.RelevanceEvaluator(dict(qrels), theirs).evaluate(run)
    binary = {q: {d: int(g > 0) for d, g in of.items()} for q, of in qrels.items()}
    flat = pytrec_eval.RelevanceEvaluator(binary, {"ndcg_cut.10"}).evaluate(run)
    with open(out / "expected.tsv", "w") as f:
        print("query-id\tmetric\tvalue", file=f)
        for q in queries:
            qid = q["_id"]
            relevant = [d for d, g in qrels[qid].items() if g > 0]
            ranking = list(run[qid])
            found = sum(d in relevant for d in ranking[:10])
            values = {name: graded[qid][theirs] for name, theirs in ours.items()}
            values |= {"ndcg_bin@10": flat[qid]["ndcg_cut_10"], "recall_cap@10": found / min(10, len(relevant))}
            for k in (1, 3, 10):
                values[f"tr@{k}"], values[f"misstr@{k}"] = topological(graph, ranking, relevant, k)
            for name, value in values.items():
                print(qid, name, repr(float(value)), sep="\t", file=f)

    cases = [("The Spirit.", "a spirit"), ("spirit", "a spirit"), ("Gallu is a spirit [1], or demon [12].", "a spirit"),
             ("an", "the"), ("no", "yes"), ("It was 1,234 U.S. dollars", "1234 US dollars"),
             ("New  York\tCity", "the City of New York"), ("a a b b b", "b b a"), ("caf\u00e9 Z\u00fcrich", "Caf\u00e9 Z\u00fcrich!"),
             ("The quipu kept records of the Inca [1]; knots on cords stood for numbers [2].",
              "Numbers were kept as knots on the cords of a quipu."),
             ("A record of knots, knots and cords", "cords and knots and a record of knots")]
    scorer = rouge_scorer.RougeScorer(["rougeL"])
    with open(out / "answers.tsv", "w", encoding="utf-8") as f:
        print("prediction\tgold\tem\tf1\trouge_l\trouge_l_f", file=f)
        for prediction, gold in cases:
            plain = re.sub(r"\[\d+\]", "", prediction)
            em = normalize_answer(plain) == normalize_answer(gold)
            rouge = scorer.score(gold, plain)["rougeL"]  # its precision is LCS / |prediction|
            print(prediction.replace("\t", " "), gold, int(em), repr(f1(plain, gold)), repr(rouge.precision), repr(rouge.fmeasure),
                  sep="\t", file=f)


if __name__ == "__main__":
    here = pathlib.Path(__file__).resolve().parent
    data = os.environ.get("QUIPU_DATA") or here.parents[2] / "shared" / "data"
    main(*(sys.argv[1:] or [pathlib.Path(data) / "hotpotqa-100", here / "metrics"]))
