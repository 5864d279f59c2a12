"""Better the teacher of mined groups with late interaction: half what `mine.py` gave, half the mean over the query's tokens,
weighted by idf, of each one's best cosine with a token of the passage.

The token vectors are the hidden states of MiniLM's layers 4 and 6, the mean of both similarities (ColBERT's MaxSim, untrained);
idf is taken over the groups' own passages. The new part is brought to the mean and spread of the old one, so the scale of the
scores stays."""
import argparse
import json

import numpy as np
import torch

from rank import Encoder, batches, pad

LAYERS = (4, 6)


@torch.inference_mode()
def token_states(encoder, ids, batch_tokens=4096):
    """Of each tokenised text, its tokens' unit vectors in each of LAYERS: float16 (layer, token, width)."""
    out = [None] * len(ids)
    for batch in batches([len(i) for i in ids], batch_tokens):
        tokens, mask = pad([ids[i] for i in batch])
        hidden = encoder.model(tokens, attention_mask=mask, output_hidden_states=True).hidden_states
        stacked = torch.nn.functional.normalize(torch.stack([hidden[layer] for layer in LAYERS]), dim=-1).half()
        for row, i in enumerate(batch):
            out[i] = stacked[:, row, : len(ids[i])].clone()
    return out


def max_sim(query, passage, weights):
    best = (query.float() @ passage[:, 1:-1].float().transpose(1, 2)).max(2).values.mean(0)
    return float((best * weights).sum() / weights.sum())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--groups", required=True)
    parser.add_argument("--base", required=True, help="folder of all-MiniLM-L6-v2")
    parser.add_argument("--out", required=True)
    parser.add_argument("--max-tokens", type=int, default=224)
    args = parser.parse_args()

    encoder = Encoder(args.base)
    groups = [json.loads(line) for line in open(args.groups, encoding="utf-8")]
    place, ids = {}, []
    for text in [g["query"] for g in groups] + [p for g in groups for p in g["passages"]]:
        if text not in place:
            place[text] = len(ids)
            ids.append(encoder.tokenizer(text, truncation=True, max_length=args.max_tokens)["input_ids"])
    print(len(groups), "groups", len(ids), "texts", sum(map(len, ids)), "tokens", flush=True)
    frequency = np.zeros(encoder.tokenizer.vocab_size)
    for text in ids:
        frequency[list(set(text))] += 1
    idf = np.log(1 + (len(ids) - frequency + 0.5) / (frequency + 0.5))
    states = token_states(encoder, ids)

    near = []
    for group in groups:
        query = place[group["query"]]
        weights = torch.tensor(idf[ids[query]], dtype=torch.float32)
        weights[0] = weights[-1] = 0
        near.append([max_sim(states[query], states[place[p]], weights) if len(ids[place[p]]) > 2 else 0.0
                     for p in group["passages"]])
    old, new = (np.concatenate(parts) for parts in ([g["teacher"] for g in groups], near))
    print(f"old {old.mean():.3f} +- {old.std():.3f}, new {new.mean():.3f} +- {new.std():.3f}, "
          f"correlation {np.corrcoef(old, new)[0, 1]:.3f}")
    with open(args.out, "w", encoding="utf-8") as out:
        for group, values in zip(groups, near):
            scaled = (np.array(values) - new.mean()) / new.std() * old.std() + old.mean()
            group["teacher"] = [round(float(v), 4) for v in 0.5 * np.array(group["teacher"]) + 0.5 * scaled]
            out.write(json.dumps(group) + "\n")


if __name__ == "__main__":
    main()
