#!/bin/sh
# The main job on four notes that link to each other, without model files: index, retrieve, ask, delete.
set -eu
notes=$(cd "$(dirname "$0")/../data/notes" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export QUIPU_STORE="$work/store"
models='--embedder hash --reranker hash'
fail() { echo "FAILED: $*" >&2; exit 1; }
has() { printf '%s' "$1" | grep -qF -- "$2" || fail "wanted '$2' in: $1"; }

out=$($QUIPU index --embedder hash "$notes")
has "$out" "4 documents added"
out=$($QUIPU index --embedder hash "$notes")
has "$out" "0 documents added, 0 changed, 4 unchanged"
has "$out" "0 chunks embedded"

out=$($QUIPU retrieve $models -m bm25 -k 2 --json "who checked the accounts of the keepers")
has "$out" '"rank":1,"id":"notes/keepers.md#'
has "$out" '"document":"notes/keepers.md"'
has "$out" '"method":"bm25"'

# FastInsight walks the links: the trace shows its operators, the hit shows its way.
out=$($QUIPU retrieve $models -m fastinsight -o batch=1 -k 8 --explain --json "figure-eight knot")
has "$out" '"op":"stex"'
has "$out" '"op":"granker"'
has "$out" '"relation":"'

# Without a writer, an answer is quoted, and each quote stands in its document at its span.
$QUIPU ask $models -m hybrid --json "how long did keepers learn in Cusco" >"$work/answer.json"
python3 - "$work/answer.json" "$notes" <<'P'
import json, sys
a = json.load(open(sys.argv[1]))
assert a["writer"] is None and a["citations"], a
assert any("four years" in c["quote"] for c in a["citations"]), a["citations"]
for c in a["citations"]:
    assert f"[{c['n']}]" in a["answer"] and c["quote"] in a["answer"]
    assert c["document"] in ("notes/keepers.md", "notes/knots.md", "notes/reading.md", "notes/weaving.md")
    assert c["span"][1] - c["span"][0] == len(c["quote"].encode())
P

# Many questions, a TREC run.
printf '%s\n' '{"_id":"q 1","text":"dyed cotton"}' '{"_id":"q2","text":"base ten"}' >"$work/q.jsonl"
$QUIPU retrieve $models -m bm25 --queries "$work/q.jsonl" --run "$work/run" --json >"$work/nd.jsonl"
[ "$(wc -l <"$work/nd.jsonl")" = 2 ] || fail "one line a question was wanted"
grep -q '^q%201 Q0 notes/weaving.md 1 ' "$work/run" || fail "run: $(cat "$work/run")"
awk '{ if (seen[$1 " " $3]++) exit 1 }' "$work/run" || fail "a document stands twice in the run"

# A deleted document is gone from every way of search; the rest stays.
$QUIPU delete --embedder nosuchmodel notes/weaving.md >/dev/null || fail "a delete wanted a model"
code=0; $QUIPU retrieve -m bm25 --json "plied" >/dev/null 2>"$work/err" || code=$?
[ $code = 3 ] || fail "exit 3 was wanted for nothing found, $code came"
has "$($QUIPU check)" "whole"
has "$($QUIPU stats --json)" '"documents":3'
echo ok
