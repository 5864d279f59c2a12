"""Make training groups: a query, passages from its collection, the teacher's score of each, and which are right.

The teacher is the hybrid of the first stage, made absolute so that one number can be learned for a pair whatever else is in
the list: half the cosine of MiniLM's embeddings, half the BM25 score as a share of the most the query can get. Queries are the
sets' own questions and claims with their gold passages, and titles, headings and sentences against the text they come from,
with the title or sentence taken out of that text. Passages of a group are drawn from everywhere in the teacher's ranking, so
that most of what there is to learn (what is near, what is far) is in every group. Short passages come first in the file: a
model that can compare sentences learns passages quickly. Every group is one line of JSON."""
import argparse
import json
import random
import re
from pathlib import Path

import numpy as np

from corpora import read_foldoc, read_manual, read_set, sentences
from rank import BM25, Encoder

# Positions of the 150 SciFact claims kept for evaluation.
HELD_OUT = frozenset(random.Random(0).sample(range(809), 150))
PHRASES = ["What is known about {}?", "I am interested in articles on {}.", "Find all discussions of {}.",
           "What articles exist which deal with {}?", "{}; methods and results", "papers about {}"]
BANDS = ((0, 4), (4, 20), (20, 100), (100, 1000))  # places in the teacher's ranking that two passages each come from


def cut(text, words):
    return " ".join(text.split()[:words])


class Collection:
    """Passages with their vectors and postings; ranks them as the teacher does."""

    def __init__(self, encoder, docs, max_tokens):
        self.texts = [" ".join(d).strip() for d in docs]
        self.vectors = encoder(self.texts, max_tokens)
        self.bm25 = BM25(self.texts)
        self.encoder = encoder

    def groups(self, queries, rng):
        """queries: (text, {index of a right passage: its text here, None = as it stands})."""
        vectors = self.encoder([query for query, _ in queries], 64)
        for (query, gold), vector in zip(queries, vectors):
            lexical = self.bm25.scores(query) / self.bm25.most(query)
            teacher = 0.5 * (self.vectors @ vector) + 0.5 * lexical
            order = np.argsort(-teacher)
            chosen = list(gold)[:2]
            for low, high in BANDS:
                chosen += rng.sample(list(order[low:high]), min(2, len(order[low:high])))
            chosen = [int(d) for d in dict.fromkeys(chosen)][: 8 if len(chosen) == 8 else 9]
            yield {
                "query": query,
                "passages": [gold.get(d) or self.texts[d] for d in chosen],
                "teacher": [round(float(teacher[d]), 4) for d in chosen],
                "gold": [int(d in gold) for d in chosen],
            }


def own_text_queries(docs, rng, titles, sents):
    """Titles against their text, sentences against the rest of theirs."""
    queries = []
    for i in rng.sample(range(len(docs)), min(titles, len(docs))):
        title, text = docs[i]
        if title and len(text.split()) > 12:
            shown = rng.choice(PHRASES).format(title.rstrip(".")) if rng.random() < 0.3 else title
            queries.append((shown, {i: text}))
    for i in rng.sample(range(len(docs)), min(sents, len(docs))):
        title, text = docs[i]
        parts = sentences(text)
        if len(parts) > 1:
            sentence = rng.choice(parts)
            queries.append((sentence, {i: (title + " " + text.replace(sentence, "")).strip()}))
    return queries


def windows(docs, rng, lengths, most):
    """Up to `most` windows of whole sentences a document, of a length in words drawn for each: (title, text)."""
    found = []
    for title, text in docs:
        parts, at = re.split(r"(?<=[.?!])\s+(?=[A-Z])", text), 0
        for _ in range(most):
            words, start = rng.choice(lengths), at
            while at < len(parts) and (at == start or sum(len(p.split()) for p in parts[start : at + 1]) <= words):
                at += 1
            if at == start:
                break
            found.append((title if start == 0 else "", cut(" ".join(parts[start:at]), 2 * words)))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, help="folder of the benchmark sets")
    parser.add_argument("--manuals", required=True, help="folder with the unpacked documentation packages")
    parser.add_argument("--base", required=True, help="folder of all-MiniLM-L6-v2")
    parser.add_argument("--out", required=True)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rng, encoder = random.Random(args.seed), Encoder(args.base)
    out = open(args.out, "w", encoding="utf-8")

    def load(name, passages, asked, held_out=frozenset()):
        """`asked` questions and `passages` passages, the questions' gold ones among them."""
        docs, queries, qrels = read_set(Path(args.data) / name)
        qrels = [(queries[q], gold) for i, (q, gold) in enumerate(qrels.items()) if i not in held_out]
        qrels = rng.sample(qrels, min(asked, len(qrels)))
        kept = list(dict.fromkeys(d for _, gold in qrels for d in gold))
        kept += rng.sample(sorted(docs.keys() - set(kept)), max(0, min(passages, len(docs)) - len(kept)))
        place = {d: i for i, d in enumerate(kept)}
        return [docs[d] for d in kept], [(q, {place[d]: None for d in gold}) for q, gold in qrels]

    def emit(name, docs, queries, max_tokens):
        lines = [json.dumps({"set": name, **g}) for g in Collection(encoder, docs, max_tokens).groups(queries, rng)]
        rng.shuffle(lines)
        print(name, len(docs), "passages", len(lines), "groups", flush=True)
        return lines

    def write(*parts):
        lines = [line for part in parts for line in part]
        rng.shuffle(lines)
        out.write("".join(line + "\n" for line in lines))
        out.flush()

    def short(docs, words):
        return [(title, cut(text, rng.choice(words))) for title, text in docs]

    manuals = Path(args.manuals)
    computing = [s for m in sorted(manuals.iterdir()) for s in read_manual(m, 1400, args.seed)]
    computing += read_foldoc(next(manuals.rglob("foldoc.dict.dz")), 3000, args.seed)
    papers, claims = load("scifact", 5183, 809, HELD_OUT)
    abstracts, questions = load("pubmedqa", 1000, 500)
    answers, asked = load("medquad", 2500, 1500)
    (musique, more), (hotpot, most) = load("musique-100", 1000, 100), load("hotpotqa-100", 900, 100)
    more += [(q, {i + len(musique): None for i in gold}) for q, gold in most]

    # 1. Titles and sentences.
    titles = [(title, "") for title, _ in papers + rng.sample(computing, 2500) if title]
    asked_of = [(title, {}) for title, _ in rng.sample(titles, 2500)]
    parts = windows(papers + computing, rng, [8, 15, 25], 1)
    parts = [(p[0] if rng.random() < 0.3 else "", p[1]) for p in rng.sample(parts, 7000)]
    loose = [(rng.choice(sentences(text) or [title]), {}) for title, text in rng.sample(papers + computing, 2000)]
    write(emit("titles", titles, asked_of, 32), emit("sentences", parts, own_text_queries(parts, rng, 1500, 500) + loose, 48))

    # 2. Parts of texts.
    science = rng.sample(windows(papers + abstracts, rng, [30, 45, 60], 2), 6000)
    manual = rng.sample(windows(computing, rng, [30, 45, 60], 1), 3000)
    write(emit("science", science, own_text_queries(science, rng, 2500, 2500), 96),
          emit("computing", manual, own_text_queries(manual, rng, 1200, 1000), 96),
          emit("medquad", short(answers, [30, 60]), asked, 96),
          emit("wikipedia", short(musique + hotpot, [30, 60]),
               more + own_text_queries(short(musique + hotpot, [30, 60]), rng, 300, 500), 96))

    # 3. Whole passages with the questions that people judged.
    write(emit("claims", short(papers[:1300], [100, 160]), claims + own_text_queries(papers[:1300], rng, 500, 200), 224),
          emit("pubmedqa", short(abstracts, [100, 160]), questions, 224))


if __name__ == "__main__":
    main()
