"""Rerank first-stage lists and print nDCG@10 (binary and graded), MRR and recall@10.

First stages: BM25, dense, and their hybrid. The model reranks the top 100 of the hybrid and of the dense list; the last
rows mix its z-scored score with the hybrid's. `--half` reports the two halves of the questions (even, odd) as well."""
import argparse
import random
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file

from corpora import read_set
from mine import HELD_OUT
from rank import BM25, Encoder, hybrid, metrics
from train import CrossEncoder, tokenised


def first_stage(folder, encoder, depth, cache):
    """docs, queries, qrels and for each judged query the lists of each first stage with the hybrid's scores."""
    docs, queries, qrels = read_set(folder)
    ids = list(docs)
    texts = [" ".join(docs[d]).strip() for d in ids]
    if cache and cache.exists():
        vectors = np.load(cache)
    else:
        vectors = encoder(texts, 256)
        if cache:
            np.save(cache, vectors)
    bm25 = BM25(texts)
    lists = {}
    for query, vector in zip(qrels, encoder([queries[q] for q in qrels], 256)):
        dense, lexical = vectors @ vector, bm25.scores(queries[query])
        top, score = hybrid(dense, lexical, depth)
        lists[query] = {
            "bm25": [ids[i] for i in np.argsort(-lexical, kind="stable")[:depth]],
            "dense": [ids[i] for i in np.argsort(-dense, kind="stable")[:depth]],
            "hybrid": [ids[i] for i in top],
            "scores": score,
        }
    return dict(zip(ids, texts)), queries, qrels, lists


def z(x):
    return (x - x.mean()) / (x.std() + 1e-9)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True)
    parser.add_argument("--base", required=True)
    parser.add_argument("--model", action="append", default=[], help="weights; give several to compare them")
    parser.add_argument("--sets", default="cystic-fibrosis,cacm,scifact")
    parser.add_argument("--sample", type=int, default=0, help="questions of each set, 0 = all")
    parser.add_argument("--depth", type=int, default=100)
    parser.add_argument("--max-tokens", type=int, default=192)
    parser.add_argument("--hybrid-only", action="store_true", help="do not rerank the dense list")
    parser.add_argument("--half", action="store_true")
    parser.add_argument("--mix", type=float, nargs="*", default=[0.5], help="weights of the hybrid in the mixed score")
    parser.add_argument("--cache", type=Path, help="folder to keep passage vectors in")
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    encoder = Encoder(args.base)
    models = []
    for path in args.model:
        model = CrossEncoder(args.base)
        model.load_state_dict(load_file(path))
        models.append((Path(path).stem, model.eval()))

    for name in args.sets.split(","):
        cache = args.cache / f"{name}.npy" if args.cache else None
        texts, queries, qrels, lists = first_stage(Path(args.data) / name, encoder, args.depth, cache)
        asked = list(qrels)
        if name == "scifact":  # the claims that mine.py holds out
            asked = [asked[i] for i in sorted(HELD_OUT)]
        if args.sample:
            asked = random.Random(0).sample(asked, min(args.sample, len(asked)))
        rows = {s: [metrics(lists[q][s], qrels[q]) for q in asked] for s in ("bm25", "dense", "hybrid")}
        for label, model in models:
            for q in asked:
                wanted = dict.fromkeys(lists[q]["hybrid"] + ([] if args.hybrid_only else lists[q]["dense"]))
                with torch.inference_mode():
                    pairs = tokenised(encoder.tokenizer, queries[q], [texts[d] for d in wanted], args.max_tokens)
                    score = dict(zip(wanted, model.score(pairs, 8192).numpy()))

                def add(row, docs, values):
                    order = np.argsort(-np.asarray(values), kind="stable")
                    rows.setdefault(f"{label} {row}", []).append(metrics([docs[i] for i in order], qrels[q]))

                top = lists[q]["hybrid"]
                own = np.array([score[d] for d in top])
                add("over hybrid", top, own)
                for weight in args.mix:
                    add(f"mixed {weight}", top, (1 - weight) * z(own) + weight * z(lists[q]["scores"]))
                if not args.hybrid_only:
                    add("over dense", lists[q]["dense"], [score[d] for d in lists[q]["dense"]])
        for row, values in rows.items():
            parts = [values] + ([values[0::2], values[1::2]] if args.half else [])
            shown = ["  ".join(f"{k} {np.mean([v[k] for v in p]):.3f}" for k in values[0]) for p in parts]
            print(f"{name:16} {len(asked):4} {row:32}", "  |  ".join(shown), flush=True)


if __name__ == "__main__":
    main()
