"""What PyTorch says about the tiny checkpoints of tests/reference/import: a cross-encoder with a byte-level BPE (RoBERTa), an
embedder with SentencePiece (XLM-R), a cross-encoder with segments (BERT), a sparse encoder (BERT with SPLADE's head). Writes expected.jsonl beside each expected.gguf:
{"text", "vector"} for an embedder, {"query", "text", "score"} for a cross-encoder, {"text", "terms": {id: weight}} for a sparse
encoder, as the SPLADE authors' code makes them.
"""
import json
import os

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from transformers import (BertConfig, BertForMaskedLM, BertForSequenceClassification, RobertaConfig, RobertaForSequenceClassification,
                          XLMRobertaConfig, XLMRobertaModel)

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "import")
KINDS = {"bert-reranker": (BertForSequenceClassification, BertConfig, "bert-reranker"),
         "splade": (BertForMaskedLM, BertConfig, "splade"),
         "roberta-reranker": (RobertaForSequenceClassification, RobertaConfig, "roberta-reranker"),
         "xlmr": (XLMRobertaModel, XLMRobertaConfig, "xlmr-json"),  # one vocabulary, written in two ways
         "xlmr-json": (XLMRobertaModel, XLMRobertaConfig, "xlmr-json")}
PAIRS = [("graph", "the graph"), ("walk", "a b c"), ("the", "words"), ("", "the"), ("b", ""), ("graph walks", "walker")]
TEXTS = ["the graph", "walking", "", "ABBA", "a  b", "words walk", "graphs ."]


def main():
    for kind, (model_class, config_class, vocabulary) in KINDS.items():
        folder = os.path.join(HERE, kind)
        with open(os.path.join(folder, "config.json"), encoding="utf-8") as f:
            config = config_class(**json.load(f))
        model = model_class(config).eval() if "xlmr" not in kind else model_class(config, add_pooling_layer=False).eval()
        state = {k: v.float() for k, v in load_file(os.path.join(folder, "model.safetensors")).items()}
        missing, _ = model.load_state_dict(state, strict=False)
        assert all(name.endswith(("position_ids", "token_type_ids")) or ".decoder." in name for name in missing), missing
        tokenizer = Tokenizer.from_file(os.path.join(HERE, vocabulary, "tokenizer.json"))
        lines = []
        with torch.no_grad():
            for query, text in PAIRS if "reranker" in kind else [(None, t) for t in TEXTS]:
                encoded = tokenizer.encode(query, text) if query is not None else tokenizer.encode(text)
                assert len(encoded.ids) <= 20, (kind, query, text, encoded.tokens)
                given = {"input_ids": torch.tensor([encoded.ids])}
                if kind == "bert-reranker":
                    given["token_type_ids"] = torch.tensor([encoded.type_ids])
                if kind == "splade":
                    weight = torch.log1p(torch.relu(model(**given).logits)).max(dim=1).values[0]
                    lines.append({"text": text, "terms": {str(i): round(weight[i].item(), 6) for i in weight.nonzero()[:, 0].tolist()}})
                elif query is not None:
                    lines.append({"query": query, "text": text, "score": model(**given).logits.item()})
                else:
                    first = model(**given).last_hidden_state[0, 0]
                    lines.append({"text": text, "vector": [round(v, 6) for v in (first / first.norm()).tolist()]})
        with open(os.path.join(folder, "expected.jsonl"), "w", encoding="utf-8") as out:
            out.writelines(json.dumps(line) + "\n" for line in lines)
        print(kind, len(lines))


if __name__ == "__main__":
    main()
