"""Read the training texts: benchmark folders, HTML manuals and the FOLDOC dictionary."""
import gzip
import json
import random
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path


def read_set(folder):
    """One folder of the data layout: docs {id: (title, text)}, queries {id: text}, qrels {query: {doc: score}}."""
    folder = Path(folder)
    docs, queries, qrels = {}, {}, {}
    for line in open(folder / "corpus.jsonl", encoding="utf-8"):
        record = json.loads(line)
        docs[record["_id"]] = (record["title"].strip(), record["text"].strip())
    for line in open(folder / "queries.jsonl", encoding="utf-8"):
        record = json.loads(line)
        queries[record["_id"]] = record["text"].strip()
    for line in open(folder / "qrels.tsv", encoding="utf-8").read().splitlines()[1:]:
        query, doc, score = line.split("\t")
        if float(score) > 0:
            qrels.setdefault(query, {})[doc] = float(score)
    return docs, queries, qrels


class _Manual(HTMLParser):
    """Collects (heading, prose) pairs; code, tables and navigation are passed over."""

    SKIP = {"pre", "script", "style", "nav", "table", "math", "footer"}
    HEAD = {"h1", "h2", "h3", "h4"}

    def __init__(self):
        super().__init__()
        self.sections, self.skipping, self.in_head, self.in_text = [("", "")], 0, False, 0

    def handle_starttag(self, tag, attrs):
        if tag in self.SKIP:
            self.skipping += 1
        elif tag in self.HEAD:
            self.in_head = True
            self.sections.append(("", ""))
        elif tag in ("p", "dd", "li"):
            self.in_text += 1

    def handle_endtag(self, tag):
        if tag in self.SKIP:
            self.skipping = max(0, self.skipping - 1)
        elif tag in self.HEAD:
            self.in_head = False
        elif tag in ("p", "dd", "li"):
            self.in_text = max(0, self.in_text - 1)
            self.handle_data(" ")

    def handle_data(self, data):
        if self.skipping:
            return
        head, text = self.sections[-1]
        if self.in_head:
            self.sections[-1] = (head + data, text)
        elif self.in_text:
            self.sections[-1] = (head, text + data)


def read_manual(folder, limit, seed):
    """Sections of a folder of HTML pages; headings that name no topic (they repeat) are left out."""
    sections = []
    for page in sorted(p for p in Path(folder).rglob("*.html") if p.is_file()):
        parser = _Manual()
        parser.feed(page.read_text(encoding="utf-8", errors="ignore"))
        for head, text in parser.sections:
            head = re.sub(r"^[\d.A-Z]*\d[\d.]*\s+|[¶#\s]+$", "", " ".join(head.split()))
            text = " ".join(text.split())
            if 2 <= len(head.split()) <= 12 and len(text.split()) >= 25:
                sections.append((head, text[:1200]))
    repeats = Counter(head for head, _ in sections)
    sections = [s for s in dict.fromkeys(sections) if repeats[s[0]] <= 2]
    random.Random(seed).shuffle(sections)
    return sections[:limit]


def read_foldoc(path, limit, seed):
    """Entries of the Free On-line Dictionary of Computing (dictd format): (headword, definition)."""
    entries, head, lines = [], "", []
    for line in gzip.open(path, "rt", encoding="utf-8", errors="ignore"):
        if line.strip() and not line[0].isspace():
            entries.append((head, lines))
            head, lines = line.strip(), []
        else:
            lines.append(line)
    found = []
    for head, lines in entries:
        text = re.sub(r"<[^>]+>|\(\d{4}-\d\d-\d\d\)|\[[^\]]*\]|[{}]", "", " ".join("".join(lines).split()))
        if 15 <= len(text.split()):
            found.append((head, " ".join(text.split())[:1200]))
    random.Random(seed).shuffle(found)
    return found[:limit]


def sentences(text):
    return [s for s in re.split(r"(?<=[.?!])\s+(?=[A-Z])", text) if 6 <= len(s.split()) <= 40]
