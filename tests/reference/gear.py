"""GEAR from the paper's formulas, slowly, on head vectors by PyTorch (heads.py), against `quipu` on a piece of a real graph.

    gear.py QUIPU MODEL.gguf [NODES]    PathQuestion's pq-2h from $QUIPU_DATA or ../shared/data; NODES (200) of it, 20 questions

Nothing of the index is read: only names, relations and questions are shared. Ours keeps vectors of nodes in 8 bits, so near
equals may change places; what is compared is the overlap of the sets.
"""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import heads
import parity

K, SIZE, M, ALPHA = 10, 24, 5, .85
HERE = pathlib.Path(__file__).resolve().parent


def piece(folder, nodes):
    """A ball around the first questions' entities, and the questions that start in it."""
    triples = [line.rstrip("\n").split("\t") for line in open(folder / "triples.tsv", encoding="utf-8")][1:]
    near = collections.defaultdict(list)
    for h, _, t in triples:
        near[h].append(t)
        near[t].append(h)
    questions = [json.loads(line) for line in open(folder / "queries.jsonl", encoding="utf-8")]
    inside, queue = set(), collections.deque(e for q in questions for e in q["entities"])
    while queue and len(inside) < nodes:
        v = queue.popleft()
        if v not in inside:
            inside.add(v)
            queue.extendleft(near[v])
    return ([t for t in triples if t[0] in inside and t[2] in inside],
            [q for q in questions if q["entities"] and q["entities"][0] in inside][:20])


def cosines(q, x):
    """heads x d and n x heads x d: n x heads."""
    return (x * q).sum(2) / np.maximum(np.linalg.norm(x, axis=2) * np.linalg.norm(q, axis=1), 1e-12)


def twin(q, node, relation, triples):
    """The vote's nodes and edges, Fusion-Union's nodes, Fusion-PPR's."""
    names, kinds = list(node), list(relation)
    x, r = np.array([node[n] for n in names]), np.array([relation[t] for t in kinds])
    by_node, by_kind = cosines(q, x), cosines(q, r)
    votes, kind_votes, s = collections.Counter(), collections.Counter(), []
    for h in range(len(q)):
        top = np.argsort(-by_node[:, h], kind="stable")[:K]
        top_kind = np.argsort(-by_kind[:, h], kind="stable")[:K]
        named = np.concatenate([x[top, h], r[top_kind, h]])
        length = np.linalg.norm(named, axis=1)
        apart = 1 - named @ named.T / np.outer(length, length)
        s.append(length.mean() * apart[~np.eye(len(named), dtype=bool)].mean())
        for p, i in enumerate(top):
            votes[names[i]] += s[h] * 2. ** -(p + 1)
        for p, i in enumerate(top_kind):
            kind_votes[kinds[i]] += s[h] * 2. ** -(p + 1)
    seeds = [n for n, _ in votes.most_common(K)]
    voted = dict(kind_votes.most_common(K))
    at = [(-voted[t[1]], min(seeds.index(v) for v in (t[0], t[2]) if v in seeds), i) for i, t in enumerate(triples)
          if t[1] in voted and (t[0] in seeds or t[2] in seeds)]
    edges = [triples[i] for _, _, i in sorted(at)[:K]]
    ends = list(dict.fromkeys(seeds + sorted({v for e in edges for v in (e[0], e[2])})))

    score = dict(zip(names, by_node @ (np.array(s) / sum(s))))
    near = collections.defaultdict(set)
    for h, _, t in triples:
        near[h].add(t)
        near[t].add(h)
    union = ends[:SIZE]
    while len(union) < SIZE:
        rim = {v for u in union for v in near[u]} - set(union)
        if not rim:
            break
        union += sorted(rim, key=lambda v: -score[v])[:min(M, SIZE - len(union))]

    place = {n: i for i, n in enumerate(names)}
    p = np.zeros((len(names), len(names)))
    for u in names:
        for v in near[u] - {u}:
            p[place[v], place[u]] = 1 / len(near[u] - {u})
    start = np.array([n in ends for n in names]) / len(ends)
    mass = np.linalg.solve(np.eye(len(names)) - ALPHA * p, (1 - ALPHA) * start)
    spread = [names[i] for i in np.argsort(-mass, kind="stable")[:SIZE] if mass[i] > 1e-4]
    return set(seeds), {tuple(e) for e in edges}, set(union), set(spread)


def ours(quipu, store, queries, method, *options):
    out = subprocess.run([quipu, "-s", store, "retrieve", "--queries", queries, "--json", "-k", "1000", "-m", method, *options],
                         stdout=subprocess.PIPE, check=True).stdout
    found = [json.loads(line) for line in out.splitlines()]
    return [({h["title"] for h in f["hits"]}, {(e["source"], e["relation"], e["target"]) for e in f["edges"]}) for f in found]


def overlap(a, b):
    return len(a & b) / len(a | b) if a | b else 1


def main():
    quipu, model = sys.argv[1:3]
    data = pathlib.Path(os.environ.get("QUIPU_DATA") or HERE.parent.parent.parent / "shared" / "data")
    triples, questions = piece(data / "pathquestion" / "pq-2h", int(sys.argv[3]) if len(sys.argv) > 3 else 200)
    attend, n_heads, encoder, file = heads.open_model(model)
    tokenizer = heads.tokenizer_of(file, encoder)

    def head_vectors(texts):
        return {t: attend(tokenizer.encode(t).ids).reshape(n_heads, -1) for t in texts}

    node = head_vectors(sorted({v for t in triples for v in (t[0], t[2])}))
    relation = head_vectors(sorted({t[1] for t in triples}))
    asked = head_vectors(q["text"] for q in questions)
    print(f"      {len(node)} nodes, {len(triples)} triples, {len(relation)} relations, {len(questions)} questions")
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        with open(work / "triples.tsv", "w", encoding="utf-8") as out:
            out.writelines("\t".join(t) + "\n" for t in [("head", "relation", "tail"), *triples])
        with open(work / "queries.jsonl", "w", encoding="utf-8") as out:
            out.writelines(json.dumps({"_id": q["_id"], "text": q["text"]}) + "\n" for q in questions)
        with open(work / "vote.yaml", "w", encoding="utf-8") as out:
            out.write(f"steps:\n  - {{op: vote, k: {K}}}\n")
        subprocess.run([quipu, "-s", work / "store", "index", "-q", "--embedder", "hash", "--heads", model, work / "triples.tsv"], check=True)
        options = [part for o in (f"k={K}", f"size={SIZE}", "top=1000") for part in ("-o", o)]
        vote = ours(quipu, work / "store", work / "queries.jsonl", work / "vote.yaml")
        union = ours(quipu, work / "store", work / "queries.jsonl", "gear", *options, "-o", f"m={M}")
        spread = ours(quipu, work / "store", work / "queries.jsonl", "gear-ppr", *options, "-o", f"alpha={ALPHA}")
    same = collections.defaultdict(list)
    for i, q in enumerate(questions):
        seeds, edges, joined, ppr = twin(asked[q["text"]], node, relation, triples)
        for what, a, b in (("voted nodes", seeds, vote[i][0]), ("voted edges", edges, vote[i][1]), ("union", joined, union[i][0]),
                           ("ppr", ppr, spread[i][0])):
            same[what].append(overlap(a, b))
    for what, values in same.items():
        parity.check(np.mean(values) > .9, f"{what}: overlap {np.mean(values):.3f}, least {min(values):.3f}")
    sys.exit(parity.check.failed)


if __name__ == "__main__":
    main()
