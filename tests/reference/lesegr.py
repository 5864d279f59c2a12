#!/usr/bin/env python3
"""Makes the stored values of test_lesegr: scores and gradients of the three graph encoders by PyTorch, from the formulas.

    tests/reference/lesegr.py tests/reference/lesegr

NAME.gguf: weights of a small encoder. NAME.json: a candidate subgraph, scores, the gradient of a cross-entropy on it.
"""
import json
import pathlib
import sys

import gguf
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

NODES, DIM, HIDDEN, HEADS, MLP = 9, 20, 32, 4, 7
EDGES = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (5, 6), (4, 0), (6, 1)]  # 7 and 8 have no neighbour
GOLD = [2, 5]


class Layer(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.kind = kind
        if kind == "gt":
            self.query = nn.Linear(DIM, HIDDEN)
            self.key = nn.Linear(DIM, HIDDEN, bias=False)
        if kind == "gat":
            self.left = nn.Parameter(torch.randn(1, HIDDEN) * .3)
            self.right = nn.Parameter(torch.randn(1, HIDDEN) * .3)
        self.value = nn.Linear(DIM, HIDDEN)
        self.out = nn.Linear(HIDDEN, DIM)

    def shares(self, i, row, h, s, neighbours):
        """a_ij over the row: HEADS x len(row)."""
        messages = s[i, row, None] * h[row]
        if self.kind == "gcn":
            sizes = torch.tensor([1. + len(neighbours[j]) for j in row])
            return (1 / torch.sqrt(sizes * (1 + len(neighbours[i])))).repeat(HEADS, 1)
        if self.kind == "gat":
            z = (messages @ self.value.weight.T).view(len(row), HEADS, -1)
            left = (z[0] * self.left.view(HEADS, -1)).sum(-1)  # the row's first is i itself
            right = (z * self.right.view(HEADS, -1)).sum(-1)
            return F.softmax(F.leaky_relu(left + right, .2), dim=0).T
        query = self.query(messages[0]).view(HEADS, -1)
        key = self.key(messages).view(len(row), HEADS, -1)
        return F.softmax((query * key).sum(-1) / (HIDDEN / HEADS) ** .5, dim=0).T

    def forward(self, h, s, neighbours):
        rows = []
        for i in range(len(h)):
            row = [i] + neighbours[i]
            messages = s[i, row, None] * h[row]
            value = (messages @ self.value.weight.T).view(len(row), HEADS, -1)
            summed = torch.einsum("hj,jhw->hw", self.shares(i, row, h, s, neighbours), value).reshape(-1)
            rows.append(messages[0] + self.out(F.relu(summed + self.value.bias)))
        return torch.stack(rows)


class Encoder(nn.Module):
    def __init__(self, kind, layers):
        super().__init__()
        self.kind = kind
        self.alpha = nn.ModuleDict({"first": nn.Linear(DIM, MLP), "second": nn.Linear(MLP, 1)})
        self.blk = nn.ModuleList(Layer(kind) for _ in range(layers))

    def forward(self, c, delta, query, neighbours):
        n = len(c)
        alpha = torch.sigmoid(self.alpha["second"](F.relu(self.alpha["first"](c[:, None] - c[None])))).squeeze(-1)
        s = delta[None] * torch.where(torch.eye(n, dtype=torch.bool), torch.ones(n, n), alpha)
        h = c
        for layer in self.blk:
            h = layer(h, s, neighbours)
        return h @ query


def write(folder, name, encoder, layers):
    c = F.normalize(torch.randn(NODES, DIM), dim=1)
    query = F.normalize(torch.randn(DIM), dim=0)
    delta = torch.rand(NODES)
    delta[3] = 0
    neighbours = [sorted({b for a, b in EDGES if a == i} | {a for a, b in EDGES if b == i}) for i in range(NODES)]
    score = encoder(c, delta, query, neighbours)
    score.retain_grad()
    loss = -F.log_softmax(score / .05, dim=0)[GOLD].mean()
    loss.backward()
    values = {
        "neighbours": neighbours, "vector": c, "delta": delta, "query": query, "gold": GOLD, "temperature": .05,
        "score": score, "loss": loss, "of_score": score.grad,
        "gradient": {key: p.grad for key, p in encoder.named_parameters()},
    }
    as_list = lambda v: {k: as_list(x) for k, x in v.items()} if isinstance(v, dict) else \
        np.round(v.detach().numpy().astype(float), 9).tolist() if isinstance(v, torch.Tensor) else v
    (folder / f"{name}.json").write_text(json.dumps(as_list(values)) + "\n", encoding="utf-8")
    out = gguf.GGUFWriter(folder / f"{name}.gguf", "lesegr")
    out.add_string("lesegr.encoder", encoder.kind)
    for key, value in dict(layers=layers, dim=DIM, hidden=HIDDEN, heads=HEADS, mlp=MLP).items():
        out.add_uint32(f"lesegr.{key}", value)
    out.add_string("lesegr.embedder", "0123456789abcdef")
    out.add_string("lesegr.sparse", "bm25")
    out.add_string("lesegr.settings", "none")
    for key, value in encoder.named_parameters():
        out.add_tensor(key, np.atleast_2d(value.detach().numpy()))
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "tests/reference/lesegr")
    folder.mkdir(exist_ok=True)
    torch.manual_seed(11)
    for kind in ("gcn", "gat", "gt"):
        write(folder, kind, Encoder(kind, 2), 2)


if __name__ == "__main__":
    main()
