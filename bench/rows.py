"""The CSV files of bench/: rows stand in a fixed order and carry no dates, so that a change is a diff."""
import csv
import pathlib


def read(path):
    if not pathlib.Path(path).exists():
        return []
    with open(path, newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


def replace(path, columns, stale, rows, order):
    """The stale of its rows make way for these; all in the order of the key."""
    rows = sorted([r for r in read(path) if not stale(r)] + rows, key=order)
    with open(path, "w", newline="", encoding="utf-8") as f:
        out = csv.DictWriter(f, columns, lineterminator="\n")
        out.writeheader()
        out.writerows(rows)
