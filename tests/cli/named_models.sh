#!/bin/sh
# Models that somebody named, and those nobody did: a named one writes and must be there, without the index's own we go on.
set -eu
. "$(dirname "$0")/../served.sh"
export QUIPU_STORE="$work/store"
cat >writer.py <<'P'
from chat import serve
serve(lambda prompt: "Knots on cords kept the accounts.\nNo more is known.")
P
python3 writer.py & server=$!
for _ in $(seq 200); do [ -s port ] || sleep 0.3; done
writer="openai:w@http://127.0.0.1:$(cat port)/v1"
$QUIPU index -q --embedder hash "$notes" >/dev/null

# ---- a writer that was named writes, and what that took is counted, whoever wrote; the writer alone cannot quote ----
counted() { # METHOD: an answer of that writer, its prompt and its words in tokens
    $QUIPU ask -q --embedder hash --writer "$writer" -m "$1" --json "who kept accounts" >out
    python3 -c 'import json; a = json.load(open("out")); assert a["writer"].startswith("openai:w") and a["answer"] and min(a["tokens"].values()) > 5, a' ||
        fail "$1: $(cat out)"
}
counted bm25
counted hyde
counted zero-shot
counted cot
refused 2 "has nothing to quote: leave out --extract" -- $QUIPU ask -q --writer "$writer" -m zero-shot --extract "who kept accounts"
refused 2 "has nothing to quote: leave out --extract" -- $QUIPU ask -q --writer "$writer" -m cot --extract "who kept accounts"
has "$($QUIPU help zero-shot)" "without --writer the default one"

# ---- one that a method took for itself writes no answer ----
mkdir set
printf '{"_id":"q","text":"who kept accounts"}\n' >set/queries.jsonl
printf '{"_id":"q","answers":["the keepers"]}\n' >set/answers.jsonl
printf 'query-id\tcorpus-id\tscore\nq\tnotes/keepers.md\t1\n' >set/qrels.tsv
if [ -f "${QUIPU_MODELS:-none}/SmolLM2-135M-Instruct.gguf" ]; then
    has "$($QUIPU ask -q --embedder hash -m hyde --json "who kept accounts")" '"writer":null'
    has "$($QUIPU eval set -q --embedder hash -m hyde,bm25 -o metrics=cite_ok --json)" '"mean": 1'
fi
has "$($QUIPU eval set -q --embedder hash -m bm25 -o metrics=cite_ok --json)" '"writer": ""'
refused 2 "name a writer with --writer" -- $QUIPU eval set -q --embedder hash -m bm25 -o metrics=accuracy -o "choices=yes|no"

# ---- an embedder that was named must be there; without the index's own BM25 goes on, and says so ----
for verb in "retrieve knots" "ask knots" "eval set" "ask -m bm25 knots"; do
    refused 5 "nosuch" -- $QUIPU $verb -q --embedder nosuch
done
$QUIPU index -q -s plain --embedder none "$notes" >/dev/null
$QUIPU eval set -s plain --json >out 2>err || fail "eval without vectors: $(cat err)"
has "$(cat err)" "indexed without an embedder: using -m bm25"
has "$(cat out)" '"name": "bm25"'
lacks "$(cat out)" '"name": "vector"'
python3 -c 'import sqlite3; d = sqlite3.connect("store/truth.db"); d.execute("UPDATE setting SET value = ? WHERE key = ?", ("nosuch", "embedder")); d.commit()'
for verb in "retrieve knots" "eval set -k 10"; do
    $QUIPU $verb --json >out 2>err || fail "$verb without the index's own: $(cat err)"
    grep -q 'no embedder (.*nosuch.*): using -m bm25' err || fail "$verb: $(cat err)"
done
has "$(cat out)" '"name": "bm25"'
refused 5 "nosuch" -- $QUIPU retrieve -q -m vector knots
echo "named models: they write, they must be there"
