"""Residual compression and MaxSim as ColBERTv2 computes them, by numpy: tests/reference/colbert/expected.json.

Cuts and values are quantiles of all residuals (its `_compute_avg_residual`), a residual's bucket is torch.bucketize's, a vector
that is unpacked is made unit length again; MaxSim is a sum of maxima.
"""
import json
import os

import numpy as np

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "colbert")


def unit(x):
    return (x / np.linalg.norm(x, axis=-1, keepdims=True)).astype(np.float32)


def main():
    rng = np.random.default_rng(5)
    dim, passages = 10, [7, 0, 12, 21]
    centroids, rows, query = (unit(rng.standard_normal((n, dim))) for n in (3, sum(passages), 4))
    nearest = (rows @ centroids.T).argmax(1)
    residual = rows - centroids[nearest]
    cut, value = np.quantile(residual, [.25, .5, .75]), np.quantile(residual, [.125, .375, .625, .875])
    bucket = np.searchsorted(cut, residual, side="left")
    packed = [[int(sum(int(b) << 2 * i for i, b in enumerate(row[j:j + 4]))) for j in range(0, dim, 4)] for row in bucket]
    unpacked = unit(centroids[nearest] + value[bucket])
    ends = np.cumsum(passages)
    score = [float((query @ unpacked[e - n:e].T).max(1).sum()) if n else 0. for n, e in zip(passages, ends)]
    os.makedirs(HERE, exist_ok=True)
    with open(os.path.join(HERE, "expected.json"), "w", encoding="utf-8") as out:
        json.dump({"dim": dim, "passages": passages, "nearest": nearest.tolist(), "packed": packed, "score": score,
                   **{k: np.round(v.astype(float), 9).tolist() for k, v in dict(
                       centroids=centroids, rows=rows, query=query, cut=cut, value=value, unpacked=unpacked).items()}}, out)
        out.write("\n")


if __name__ == "__main__":
    main()
