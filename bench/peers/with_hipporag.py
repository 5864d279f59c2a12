"""HippoRAG 2 as it is installed: with_hipporag.py index|query DATA WORK OUT.

Its extraction is the file of extractions it would have left behind itself, written here from the given triples. Its filter of facts,
a question to a model, keeps all (the file has none; ours does the same without a writer). Its embedder is its own class for mean
pooling, which it takes where the model's path says "contriever".
"""
import asyncio
import json
import os
import pathlib
import sys
import types

os.environ.setdefault("OPENAI_API_KEY", "none")
for name, parts in {"vllm": ["LLM", "SamplingParams"], "gritlm": ["GritLM"]}.items():  # imported, never used here
    sys.modules[name] = types.ModuleType(name)
    for part in parts:
        setattr(sys.modules[name], part, None)

import peer
from hipporag import HippoRAG
from hipporag.embedding_model.Contriever import ContrieverModel

LLM = "given-triples"


def write_extractions(data, work):
    docs = [{"idx": key, "passage": text, "extracted_entities": sorted({e for h, _, t in data.triples[key] for e in (h, t)}),
             "extracted_triples": data.triples[key]} for key, text in data.passages.items()]
    path = work / f"openie_results_ner_{LLM}.json"
    json.dump({"docs": docs, "avg_ent_chars": 0, "avg_ent_words": 0}, open(path, "w", encoding="utf-8"))


def main():
    step, folder, work = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    data = peer.Data(folder)
    work.mkdir(parents=True, exist_ok=True)
    model = work.parent / "contriever-all-MiniLM-L6-v2"
    if not model.exists():
        model.symlink_to(peer.MODEL)
    ContrieverModel.encode = peer.timed(ContrieverModel.encode)
    if step == "index":
        write_extractions(data, work)
    hippo = HippoRAG(save_dir=str(work), llm_model_name=LLM, llm_base_url="http://localhost:9/v1",
                     embedding_model_name=str(model))
    hippo.rerank_filter = lambda question, items, indices, len_after_rerank: (indices, items, {})
    if step == "index":
        hippo.index(list(data.passages.values()))
        peer.tell(embed_cpu_s=peer.embedding.cpu)
        return
    key = {text: k for k, text in data.passages.items()}
    opening = peer.Clock()
    with opening:
        hippo.prepare_retrieval_objects()

    async def ask(question):
        return [key[d] for d in hippo.retrieve([question], num_to_retrieve=10)[0].docs]

    peer.tell(open_cpu_s=opening.cpu, methods={"hipporag2": asyncio.run(peer.answer(data, ask))})


main()
