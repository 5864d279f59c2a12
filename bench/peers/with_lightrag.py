"""LightRAG as it is installed: with_lightrag.py index|query DATA WORK OUT.

Documents go through its own pipeline; the model that extracts is a function that answers with the given triples of the passage it is
shown, in the form its prompt asks for, and joins descriptions where it is asked to summarize them. At a question no model is asked:
the whole question is the keywords of both levels, as ours takes it without a writer. No reranker.
"""
import asyncio
import json
import os
import pathlib
import re
import sys

import litellm
import peer

# The one vocabulary of tiktoken that a package carries; LightRAG counts tokens with it.
os.environ["TIKTOKEN_CACHE_DIR"] = str(pathlib.Path(litellm.__file__).parent / "litellm_core_utils" / "tokenizers")

from lightrag import LightRAG, QueryParam
from lightrag.utils import EmbeddingFunc

MODES = ["local", "global", "hybrid", "mix", "naive"]
DONE = "<|COMPLETE|>"


def squeezed(text):
    return " ".join(text.split())


class Extractor:
    def __init__(self, data):
        self.triples = {squeezed(text): data.triples[key] for key, text in data.passages.items()}

    def stated(self, text):
        """The triples of a passage; of a chunk that is a part of it, those whose ends it has."""
        if text in self.triples:
            return self.triples[text]
        whole = next((t for passage, t in self.triples.items() if text in passage), [])
        return [t for t in whole if t[0] in text and t[2] in text]

    async def __call__(self, prompt, system_prompt=None, history_messages=None, **_):
        listed = re.search(r"Description List:\s*```\n(.*?)\n```", prompt, re.S)
        if listed:
            said = [json.loads(line) for line in listed[1].splitlines() if line.strip()]
            return " ".join(dict.fromkeys(" ".join(map(str, s.values())) for s in said))[:4000]
        text = re.search(r"---Input Text---\s*```\n(.*?)\n```", prompt, re.S)
        if history_messages or not text:  # "is anything missing?": no
            return DONE
        triples = self.stated(squeezed(text[1]))
        told = {}
        for head, relation, tail in triples:
            for entity in (head, tail):
                told.setdefault(entity, []).append(f"{head} {relation} {tail}.")
        rows = [f"entity<|#|>{e}<|#|>Other<|#|>{' '.join(t)}" for e, t in told.items()]
        rows += [f"relation<|#|>{h}<|#|>{t}<|#|>{r}<|#|>{h} {r} {t}." for h, r, t in triples]
        return "\n".join([*rows, DONE])


async def main():
    step, folder, work = sys.argv[1:4]
    data, model = peer.Data(folder), peer.MiniLM()

    async def embed(texts, **_):
        return model(texts)

    opening = peer.Clock()
    with opening:
        rag = LightRAG(working_dir=work, llm_model_func=Extractor(data), llm_model_name="given-triples",
                       embedding_func=EmbeddingFunc(embedding_dim=384, max_token_size=256, func=embed), tiktoken_model_name="gpt-4")
        await rag.initialize_storages()
    if step == "index":
        await rag.ainsert(list(data.passages.values()), ids=list(data.passages), file_paths=list(data.passages))
        await rag.finalize_storages()
        peer.tell(embed_cpu_s=peer.embedding.cpu)
        return

    async def ask(question, mode):
        how = QueryParam(mode=mode, hl_keywords=[question], ll_keywords=[question], enable_rerank=False)
        found = await rag.aquery_data(question, how)
        return list(dict.fromkeys(c["file_path"] for c in found["data"].get("chunks", [])))[:10]

    methods = {}
    for mode in MODES:
        methods[f"lightrag:mode={mode}"] = await peer.answer(data, lambda q: ask(q, mode))
    peer.tell(open_cpu_s=opening.cpu, methods=methods)


asyncio.run(main())
