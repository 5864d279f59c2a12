#!/usr/bin/env python3
"""Processor seconds and memory of reading without a model: many small files, one very large one, and both again unchanged.

    bench/reading.py [--data ../shared/data] [--files 5000] [--megabytes 200]

The texts are sentences of SciFact's abstracts, drawn with a fixed seed. Every Markdown file links to three others.
"""
import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def sentences(data):
    with open(data / "scifact" / "corpus.jsonl", encoding="utf-8") as corpus:
        return [s + "." for line in corpus for s in json.loads(line)["text"].split(". ") if 5 < len(s.split()) < 60]


def write_notes(folder, count, pool, rng):
    folder.mkdir()
    for i in range(count):
        paragraphs = [" ".join(rng.choices(pool, k=6)) for _ in range(4)]
        links = [f"See [note {j}](note-{j:05}.md)." for j in rng.sample(range(count), 3)]
        body = "\n\n## Part\n\n".join(f"{p} {link}" for p, link in zip(paragraphs, links + [""]))
        (folder / f"note-{i:05}.md").write_text(f"# Note {i}\n\n{body}\n", encoding="utf-8")


def write_large(path, megabytes, pool, rng):
    left = megabytes << 20
    with open(path, "w", encoding="utf-8") as file:
        while left > 0:
            left -= file.write(" ".join(rng.choices(pool, k=200)) + "\n\n")


def measure(what, source, store):
    command = [ROOT / "build/quipu", "index", "-q", "--embedder", "none", "-s", store, source]
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"reading: exit {os.waitstatus_to_exitcode(status)} of {' '.join(map(str, command))}")
    print(f"{what:<34} {usage.ru_utime:8.2f} s user {usage.ru_stime:7.2f} s system {usage.ru_maxrss / 1024:8.0f} MB at most", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=ROOT.parent / "shared" / "data", type=pathlib.Path)
    parser.add_argument("--files", default=5000, type=int)
    parser.add_argument("--megabytes", default=200, type=int)
    args = parser.parse_args()
    pool, rng = sentences(args.data), random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        write_notes(work / "notes", args.files, pool, rng)
        write_large(work / "large.txt", args.megabytes, pool, rng)
        for what, source in [(f"{args.files} Markdown files", "notes"), (f"a text of {args.megabytes} MB", "large.txt")]:
            measure(what, work / source, work / f"store-{source}")
            measure(f"{what}, unchanged", work / source, work / f"store-{source}")


if __name__ == "__main__":
    main()
