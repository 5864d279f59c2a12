"""First-stage ranking as Quipu does it (BM25, dense, their sum), and the metrics."""
import re

import numpy as np
import scipy.sparse as sp
import Stemmer
import torch
from transformers import AutoTokenizer, BertModel

_stem = Stemmer.Stemmer("english")


def terms(text):
    return _stem.stemWords(re.findall(r"[a-z0-9]+", text.lower()))


class BM25:
    """Lucene's formula."""

    def __init__(self, texts, k1=1.2, b=0.75):
        self.vocabulary = {}
        rows, cols = [], []
        for i, text in enumerate(texts):
            ids = [self.vocabulary.setdefault(t, len(self.vocabulary)) for t in terms(text)]
            rows += [i] * len(ids)
            cols += ids
        shape = (len(texts), len(self.vocabulary))
        tf = sp.csr_matrix((np.ones(len(rows), np.float32), (rows, cols)), shape)
        tf.sum_duplicates()
        lengths = np.asarray(tf.sum(1)).ravel()
        df = np.bincount(tf.indices, minlength=shape[1])
        idf = np.log(1 + (len(texts) - df + 0.5) / (df + 0.5))
        norm = k1 * (1 - b + b * lengths / lengths.mean())
        tf.data = idf[tf.indices] * tf.data / (tf.data + np.repeat(norm, np.diff(tf.indptr)))
        self.weights = tf.tocsc()
        self.most_of = np.asarray(tf.max(0).todense()).ravel()

    def scores(self, query):
        ids = [self.vocabulary[t] for t in dict.fromkeys(terms(query)) if t in self.vocabulary]
        return np.asarray(self.weights[:, ids].sum(1)).ravel()

    def most(self, query):
        """The sum of the query's terms' best weights; a bound on its scores."""
        return max(1e-9, sum(self.most_of[self.vocabulary[t]] for t in set(terms(query)) if t in self.vocabulary))


class Encoder:
    """The dense first stage: MiniLM, mean pooling, unit length."""

    def __init__(self, base):
        self.tokenizer = AutoTokenizer.from_pretrained(base)
        self.model = BertModel.from_pretrained(base, add_pooling_layer=False).eval()

    @torch.inference_mode()
    def __call__(self, texts, max_tokens=256, batch_tokens=4096):
        ids = self.tokenizer(texts, truncation=True, max_length=max_tokens)["input_ids"]
        out = np.zeros((len(texts), self.model.config.hidden_size), np.float32)
        for batch in batches([len(i) for i in ids], batch_tokens):
            tokens, mask = pad([ids[i] for i in batch])
            hidden = self.model(tokens, attention_mask=mask).last_hidden_state
            mean = (hidden * mask[..., None]).sum(1)
            out[batch] = torch.nn.functional.normalize(mean, dim=-1).numpy()
        return out


def batches(lengths, batch_tokens):
    """Groups of indices of like length, each at most batch_tokens once padded."""
    batch = []
    for i in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and lengths[i] * (len(batch) + 1) > batch_tokens:
            yield batch
            batch = []
        batch.append(i)
    yield batch


def pad(ids):
    width = max(map(len, ids))
    tokens = torch.zeros(len(ids), width, dtype=torch.long)
    mask = torch.zeros(len(ids), width, dtype=torch.long)
    for row, i in enumerate(ids):
        tokens[row, : len(i)] = torch.tensor(i)
        mask[row, : len(i)] = 1
    return tokens, mask


def min_max(x):
    return (x - x.min()) / (x.max() - x.min() + 1e-9)


def hybrid(dense, lexical, depth=100):
    """Top `depth` documents and scores: half the min-max-normalised dense score, half BM25's, over the union of
    both top lists (a document missing from one list gets that list's least)."""
    lists = [np.argsort(-s, kind="stable")[:depth] for s in (dense, lexical)]
    pool = np.union1d(*lists)
    score = sum(0.5 * min_max(np.maximum(s[pool], s[top].min())) for s, top in zip((dense, lexical), lists))
    order = np.argsort(-score, kind="stable")[:depth]
    return pool[order], score[order]


def ndcg(ranking, gains, k=10):
    discounts = 1 / np.log2(np.arange(2, k + 2))
    got = np.array([gains.get(d, 0) for d in ranking[:k]])
    best = np.sort(list(gains.values()))[::-1][:k]
    return float((got * discounts[: len(got)]).sum() / (best * discounts[: len(best)]).sum())


def metrics(ranking, gains):
    binary = {d: 1.0 for d in gains}
    hits = [i for i, d in enumerate(ranking) if d in gains]
    return {
        "ndcg": ndcg(ranking, binary),
        "graded": ndcg(ranking, gains),
        "mrr": 1 / (1 + hits[0]) if hits else 0.0,
        "recall": sum(h < 10 for h in hits) / len(gains),
    }
