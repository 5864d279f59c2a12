#!/bin/sh
# --where: no hit fails the filter, whatever finds it, and as many are found as pass; on records and on front matter.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export QUIPU_STORE="$work/store"
models='--embedder hash --reranker hash'
. "$(dirname "$0")/../refused.sh"

# Every tenth of 200 records is of 2020, far down in any ranking; every record links to the next, of another year.
mkdir "$work/set"
python3 - "$work/set" <<'P'
import json, sys
with open(sys.argv[1] + "/corpus.jsonl", "w") as out:
    for i in range(200):
        y2020 = i % 10 == 0
        print(json.dumps({"_id": f"r{i}", "title": "knot", "text": "knot " * (1 if y2020 else 9) + f"record{i} other words",
                          "year": 2020 if y2020 else 1900 + i % 10, "tags": ["all", "even" if i % 2 == 0 else "odd"],
                          "author": {"name": "Ada" if y2020 else "Bob"}, "date": f"2020-{i % 12 + 1:02d}-03"}), file=out)
with open(sys.argv[1] + "/edges.tsv", "w") as out:
    for i in range(199):
        print(f"r{i}\tr{i + 1}\tnext\t1", file=out)
P
$QUIPU index --quiet --embedder hash "$work/set" >/dev/null

# found METHOD K FILTER: ids of the hits, one a line, sorted
found() {
    $QUIPU retrieve $models -m "$1" -k "$2" --where "$3" --json "knot" >"$work/out.json" || fail "$1, $3: exit $?"
    python3 -c 'import json, sys
print("\n".join(sorted(h["document"] for h in json.load(open(sys.argv[1]))["hits"])))' "$work/out.json"
}
years_2020=$(for i in $(seq 0 10 199); do echo "r$i"; done | sort)
for method in bm25 tfidf vector hybrid; do
    for filter in "year = 2020" "author.name = 'Ada'" "tags = 'even' and not year < 2000"; do
        [ "$(found $method 20 "$filter")" = "$years_2020" ] || fail "$method, $filter: $(found $method 20 "$filter" | tr '\n' ' ')"
    done
done
for method in fastinsight gar rerank; do
    hits=$(found $method 10 "year = 2020")
    [ "$(printf '%s\n' "$hits" | grep -c '^r[0-9]*0$')" = 10 ] || fail "$method: ten hits that pass were wanted, not $hits"
done
[ "$(found bm25 100 "date >= '2020-11' and date < '2020-12-31'" | wc -l)" = 32 ] || fail "dates"
[ "$(found bm25 10 "id in ('r7', 'r9')" | tr '\n' ' ')" = "r7 r9 " ] || fail "ids"

# Front matter, and what the file system knows.
mkdir "$work/notes"
printf -- '---\ntitle: One\ndate: 2019-04-01\ntags: [rope, dye]\n---\nA knot is tied.\n' >"$work/notes/one.md"
printf -- '---\ntitle: Two\ndate: 2021-04-01\ndraft: true\n---\nA knot is loosened.\n' >"$work/notes/two.md"
printf 'A knot without front matter.\n' >"$work/notes/three.txt"
export QUIPU_STORE="$work/notes.store"
$QUIPU index --quiet --embedder hash "$work/notes" >/dev/null
[ "$(found bm25 10 "date < '2020'")" = notes/one.md ] || fail "front matter: date"
[ "$(found bm25 10 "tags = 'dye'")" = notes/one.md ] || fail "front matter: list"
[ "$(found hybrid 10 "draft = true")" = notes/two.md ] || fail "front matter: bool"
[ "$(found vector 10 "not draft = true" | tr '\n' ' ')" = "notes/one.md notes/three.txt " ] || fail "a missing field"
[ "$(found bm25 10 "format = 'text' or title = 'Two'" | wc -l)" = 2 ] || fail "own fields"
[ "$(found bm25 10 "file.size < 40 and file.mtime >= '2020'")" = notes/three.txt ] || fail "of the file: $(cat "$work/out.json")"

# The answer too quotes only what passes.
$QUIPU ask $models -m hybrid --where "draft = true" --json "what happens to a knot" >"$work/out.json"
python3 -c 'import json, sys
a = json.load(open(sys.argv[1]))
assert a["citations"] and all(c["document"] == "notes/two.md" for c in a["citations"]), a' "$work/out.json"
echo ok
