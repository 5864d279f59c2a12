#!/usr/bin/env python3
"""all-MiniLM-L6-v2 in other runtimes beside Quipu's encoder: the same weights, the same texts, one thread.

    VENV/bin/pip install onnx==1.23.2 onnxruntime==1.32.0 openvino==2026.4.1      # VENV: of bench/peers/install
    ninja -C build bench_encoder && VENV/bin/python bench/peers/encoders.py all-MiniLM-L6-v2.gguf TEXTS [ROUNDS]

TEXTS has one text a line. Processor time; each runtime has its best of batches of 1, 8 and 32 texts of like length; tokenising is not counted
for the peers. Medians over the rounds, all in turn in each; `cosine` is the least of a text's with PyTorch in float32.
"""
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnxruntime
import openvino
import torch
from onnxruntime.quantization import quantize_dynamic
from peer import MODEL
from transformers import AutoModel, AutoTokenizer

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
INPUTS = ["input_ids", "attention_mask", "token_type_ids"]


def export(model, path):
    one = torch.ones(2, 7, dtype=torch.long)
    torch.onnx.export(model, (one, one, one), path, input_names=INPUTS, output_names=["rows"], opset_version=17,
                      dynamic_axes={name: {0: "texts", 1: "tokens"} for name in INPUTS + ["rows"]})


def of_torch(model):
    def run(batch):
        with torch.no_grad():
            return model(*(torch.from_numpy(batch[name]) for name in INPUTS))[0].numpy()
    return run


def of_onnx(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return lambda batch: session.run(["rows"], batch)[0]


def of_openvino(path, precision):
    core = openvino.Core()
    compiled = core.compile_model(path, "CPU", {"INFERENCE_PRECISION_HINT": precision, "INFERENCE_NUM_THREADS": 1,
                                                "PERFORMANCE_HINT": "LATENCY"})
    return lambda batch: compiled([batch[name] for name in INPUTS])[0]


def batches(texts, size):
    """By length, so that little is padded; where each came from, to put the vectors back."""
    tokenizer = AutoTokenizer.from_pretrained(MODEL)
    tokens = [len(t) for t in tokenizer(texts, truncation=True, max_length=256)["input_ids"]]
    order = sorted(range(len(texts)), key=lambda i: -tokens[i])
    for at in range(0, len(order), size):
        some = order[at:at + size]
        yield some, dict(tokenizer([texts[i] for i in some], padding=True, truncation=True, max_length=256, return_tensors="np"))


def embed(run, cut, n):
    vectors, spent = [None] * n, 0
    for some, batch in cut:
        began = time.process_time()
        rows, mask = run(batch), batch["attention_mask"][..., None]
        mean = (rows * mask).sum(1) / mask.sum(1)
        mean /= np.linalg.norm(mean, axis=1, keepdims=True)
        spent += time.process_time() - began
        for i, vector in zip(some, mean):
            vectors[i] = vector
    return np.stack(vectors), spent


def ours(model, texts):
    """Texts a second of Quipu and of llama.cpp, and the cosine that bench_encoder tells."""
    said = subprocess.run([ROOT / "build" / "bench_encoder", model, texts, "1", "1"], check=True, capture_output=True, text=True).stdout
    rows = [line.split() for line in said.splitlines()]
    return float(rows[1][1]), float(rows[2][1])


def main():
    gguf, path, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 5
    texts = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
    torch.set_num_threads(1)
    model = AutoModel.from_pretrained(MODEL, attn_implementation="eager").eval()
    model.config.return_dict = False
    with tempfile.TemporaryDirectory() as folder:
        f32, int8 = f"{folder}/f32.onnx", f"{folder}/int8.onnx"
        export(model, f32)
        quantize_dynamic(f32, int8)
        runs = {"PyTorch f32": of_torch(model), "onnxruntime f32": of_onnx(f32), "onnxruntime int8": of_onnx(int8),
                "OpenVINO f32": of_openvino(f32, "f32"), "OpenVINO bf16": of_openvino(f32, "bf16")}
        speed = {name: [] for name in ["Quipu", "llama.cpp", *runs]}
        cuts = {size: list(batches(texts, size)) for size in (1, 8, 32)}
        exact, _ = embed(runs["PyTorch f32"], cuts[8], len(texts))
        cosine = {}
        for turn in range(rounds + 1):  # the first warms up
            both = ours(gguf, path)
            found = {"Quipu": both[0], "llama.cpp": both[1]}
            for name, run in runs.items():
                for size, cut in cuts.items():
                    vectors, spent = embed(run, cut, len(texts))
                    found[name] = max(found.get(name, 0), len(texts) / spent)
                cosine[name] = float((vectors * exact).sum(1).min())
            for name in speed if turn else ():
                speed[name].append(found[name])
    print(f"{len(texts)} texts, {rounds} rounds\n| runtime | texts a second | Quipu is faster by | least cosine |\n| --- | --- | --- | --- |")
    for name, each in speed.items():
        ratio = statistics.median(q / x for q, x in zip(speed["Quipu"], each))
        print(f"| {name} | {statistics.median(each):.1f} | {ratio:.2f} | {cosine.get(name, float('nan')):.5f} |")


if __name__ == "__main__":
    main()
