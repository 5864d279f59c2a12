#!/usr/bin/env python3
"""Which code points HF tokenizers put into another class than Unicode does now: the table `later` of src/model/wordpiece.c.

    tests/reference/wordpiece.py        needs tokenizers (requirements.txt)

Both are asked about every code point: is it dropped as a mark or a control character, does it stand alone as punctuation? Prints
the ranges where they differ, and fails if one lies outside the table. Python's Unicode may be older than utf8proc's, so the table
may hold more.
"""
import pathlib
import re
import sys
import unicodedata

from tokenizers import normalizers, pre_tokenizers

SOURCE = pathlib.Path(__file__).resolve().parents[2] / "src/model/wordpiece.c"
MOVED = {0x166D, 0x111C9, 0x1734}  # asked for by name there
accents = normalizers.BertNormalizer(clean_text=False, handle_chinese_chars=False, strip_accents=True, lowercase=False)
controls = normalizers.BertNormalizer(clean_text=True, handle_chinese_chars=False, strip_accents=False, lowercase=False)
words = pre_tokenizers.BertPreTokenizer()


def differs(c):
    text, category = f"a{chr(c)}a", unicodedata.category(chr(c))
    mark = accents.normalize_str(text) == "aa"
    control = controls.normalize_str(text) == "aa"
    alone = c > 0x7F and len(words.pre_tokenize_str(text)) == 3
    return mark != (category == "Mn") or control != (category in ("Cc", "Cf", "Co")) or alone != (c > 0x7F and category[0] == "P")


def ranges(points):
    out = []
    for c in points:
        if out and out[-1][1] == c - 1:
            out[-1][1] = c
        else:
            out.append([c, c])
    return out


def main():
    table = re.search(r"later\[\]\[2\] = \{(.*?)\};", SOURCE.read_text(encoding="utf-8"), re.S).group(1)
    known = [(int(a, 16), int(b, 16)) for a, b in re.findall(r"\{(0x\w+), (0x\w+)\}", table)]
    space = {c for c in range(0x110000) if chr(c).isspace()} | {0, 0xFFFD}
    every = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000 and c not in space and unicodedata.category(chr(c)) != "Cn"]
    found = [c for c in every if differs(c)]
    print(f"Unicode {unicodedata.unidata_version}:", ", ".join(f"{a:x}-{b:x}" for a, b in ranges(found)))
    missing = [c for c in found if c not in MOVED and not any(a <= c <= b for a, b in known)]
    if missing:
        sys.exit("not in the table: " + ", ".join(f"{a:x}-{b:x}" for a, b in ranges(missing)))


if __name__ == "__main__":
    main()
