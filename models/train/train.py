"""Train the cross-encoder on mined groups, in the order of the file: distillation from the hybrid teacher plus the gold
passages.

The weights written are an exponential moving average."""
import argparse
import json
import time

import torch
from safetensors.torch import load_file, save_file
from torch import nn
from transformers import AutoTokenizer, BertModel

from rank import batches, pad


class CrossEncoder(nn.Module):
    """BERT, segment ids all zero; score = output(tanh(dense(hidden state of [CLS])))."""

    def __init__(self, base):
        super().__init__()
        self.bert = BertModel.from_pretrained(base, add_pooling_layer=False, hidden_dropout_prob=0.0,
                                              attention_probs_dropout_prob=0.0)
        width = self.bert.config.hidden_size
        self.dense, self.output = nn.Linear(width, width), nn.Linear(width, 1)

    def forward(self, tokens, mask):
        hidden, seen = self.bert.embeddings(tokens), mask.bool()[:, None, None]
        for layer in self.bert.encoder.layer[:-1]:
            hidden = self.layer(layer, hidden, hidden, seen)
        latent = self.layer(self.bert.encoder.layer[-1], hidden[:, :1], hidden, seen)[:, 0]
        return self.output(torch.tanh(self.dense(latent)))[:, 0]

    def layer(self, layer, x, context, seen):
        """One layer of BERT at the positions x; the last one is wanted at [CLS] only, which spares most of its work."""
        attention, heads = layer.attention.self, self.bert.config.num_attention_heads
        q, k, v = (part(h).unflatten(-1, (heads, -1)).transpose(1, 2)
                   for part, h in ((attention.query, x), (attention.key, context), (attention.value, context)))
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, seen).transpose(1, 2).flatten(2)
        x = layer.attention.output.LayerNorm(x + layer.attention.output.dense(mixed))
        return layer.output.LayerNorm(x + layer.output.dense(nn.functional.gelu(layer.intermediate.dense(x))))

    def score(self, pairs, batch_tokens):
        """Scores of tokenised pairs, computed in batches of like length, in the order given."""
        parts, order = [], []
        for batch in batches([len(p) for p in pairs], batch_tokens):
            parts.append(self(*pad([pairs[i] for i in batch])))
            order += batch
        return torch.cat(parts)[torch.tensor(order).argsort()]


def tokenised(tokenizer, query, passages, max_tokens):
    return tokenizer([query] * len(passages), passages, truncation=True, max_length=max_tokens)["input_ids"]


def group_loss(scores, group, gold_weight, list_weight):
    """Squared error to the teacher's score, cross-entropy to its choice in the list, and of the gold passages among all.

    The teacher's score is stretched to about -2 (unrelated) .. 4 (nearly the same)."""
    gold = torch.tensor(group["gold"], dtype=torch.bool)
    teacher = 8 * torch.tensor(group["teacher"]) - 2
    loss = nn.functional.mse_loss(scores[~gold], teacher[~gold])
    loss = loss + list_weight * nn.functional.kl_div(scores[~gold].log_softmax(0), teacher[~gold].log_softmax(0),
                                                     reduction="sum", log_target=True)
    if gold.any():
        loss = loss - gold_weight * scores.log_softmax(0)[gold].mean()
    return loss


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--groups", required=True)
    parser.add_argument("--base", required=True)
    parser.add_argument("--out", required=True, help="safetensors file, rewritten at every checkpoint")
    parser.add_argument("--init", help="weights to go on from")
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--minutes", type=float, default=1e9, help="end by then, the rate falling in time for it")
    parser.add_argument("--groups-per-step", type=int, default=8)
    parser.add_argument("--lr", type=float, default=1.5e-4)
    parser.add_argument("--final-lr", type=float, default=0.03, help="share of --lr left at the end")
    parser.add_argument("--warmup", type=int, default=60)
    parser.add_argument("--gold-weight", type=float, default=0.3)
    parser.add_argument("--list-weight", type=float, default=1.0)
    parser.add_argument("--skip", type=int, default=0, help="groups at the start of the file to pass over")
    parser.add_argument("--max-tokens", type=int, default=128)
    parser.add_argument("--frozen", type=int, default=1, help="lowest layers left as they are")
    parser.add_argument("--ema", type=float, default=0.99)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.set_flush_denormal(True)
    torch.manual_seed(args.seed)

    tokenizer = AutoTokenizer.from_pretrained(args.base)
    model = CrossEncoder(args.base)
    if args.init:
        model.load_state_dict(load_file(args.init))
    # The embeddings and the lowest layers stay as they are: most rows would never be seen, and a step is cheaper.
    model.bert.embeddings.requires_grad_(False)
    model.bert.encoder.layer[: args.frozen].requires_grad_(False)
    trained = {n: p for n, p in model.named_parameters() if p.requires_grad}
    mean = {n: p.detach().clone() for n, p in trained.items()}
    optimizer = torch.optim.AdamW(trained.values(), lr=args.lr, weight_decay=0.01, betas=(0.9, 0.98))

    groups = [json.loads(line) for line in open(args.groups, encoding="utf-8")][args.skip :]
    start, pairs_seen, recent = time.time(), 0, []
    for step in range(args.steps):
        batch = groups[step * args.groups_per_step : (step + 1) * args.groups_per_step]
        if not batch:
            break
        done = max(step / args.steps, (time.time() - start) / 60 / args.minutes)
        if done >= 1:
            break
        rate = min(1, (step + 1) / args.warmup) * (args.final_lr + (1 - args.final_lr) * (1 - done))
        for group in optimizer.param_groups:
            group["lr"] = args.lr * rate
        pairs = [p for g in batch for p in tokenised(tokenizer, g["query"], g["passages"], args.max_tokens)]
        scores = model.score(pairs, 4096).split([len(g["passages"]) for g in batch])
        loss = sum(group_loss(s, g, args.gold_weight, args.list_weight) for s, g in zip(scores, batch))
        loss = loss / len(batch)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(trained.values(), 1.0)
        optimizer.step()
        decay = min(args.ema, (step + 1) / (step + 10))
        for name, p in trained.items():
            mean[name].lerp_(p.detach(), 1 - decay)
        pairs_seen += len(pairs)
        recent.append(loss.item())
        if (step + 1) % 20 == 0:
            print(f"step {step + 1} loss {sum(recent) / len(recent):.4f} pairs {pairs_seen} "
                  f"{pairs_seen / (time.time() - start):.1f}/s {time.time() - start:.0f}s", flush=True)
            recent = []
        if (step + 1) % 50 == 0:
            save_file({**model.state_dict(), **mean}, args.out)
    save_file({**model.state_dict(), **mean}, args.out)


if __name__ == "__main__":
    main()
