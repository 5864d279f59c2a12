#!/bin/sh
# The main job on four notes that link to each other, without model files: index, retrieve, ask, delete.
set -eu
notes=$(cd "$(dirname "$0")/../data/notes" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export QUIPU_STORE="$work/store"
models='--embedder hash --reranker hash'
. "$(dirname "$0")/../refused.sh"

out=$($QUIPU index --embedder hash "$notes")
has "$out" "4 documents added"
out=$($QUIPU index --embedder hash "$notes")
has "$out" "0 documents added, 0 changed, 4 unchanged"
has "$out" "0 texts embedded"

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

# One that finds nothing has its line, too.
echo '{"_id":"q3","text":"zyzzyva"}' >>"$work/q.jsonl"
$QUIPU retrieve $models -m bm25 --queries "$work/q.jsonl" --json >"$work/nd.jsonl" 2>/dev/null
has "$(sed -n 3p "$work/nd.jsonl")" '"hits":[],"edges":[]'

# Learned terms: weighed once, kept when the embedder changes, searched; gone with --sparse none.
has "$($QUIPU index --sparse hash "$notes")" "chunks weighed"
has "$($QUIPU index "$notes")" "0 texts embedded"
has "$($QUIPU stats)" "sparse           hash"
has "$($QUIPU retrieve -m splade -k 1 --json "who checked the accounts of the keepers")" '"document":"notes/keepers.md"'
$QUIPU check >/dev/null
$QUIPU index --quiet --sparse none "$notes" >/dev/null
code=0; $QUIPU retrieve -m splade "keepers" >/dev/null 2>&1 || code=$?
[ $code = 2 ] || fail "exit 2 was wanted without learned terms, $code came"

# A refused question is told by the exit code, too; so is an output that cannot be written.
code=0; $QUIPU retrieve $models -m bm25 -o bta=1 --queries "$work/q.jsonl" >/dev/null 2>&1 || code=$?
[ $code = 2 ] || fail "exit 2 was wanted for refused questions, $code came"
code=0; $QUIPU retrieve $models -m bm25 --json "dyed cotton" >/dev/full 2>"$work/err" || code=$?
[ $code = 2 ] || fail "exit 2 was wanted for a full output, $code came"

# Without vectors or without a reranker a question without a method is answered all the same.
$QUIPU index --quiet -s "$work/plain" --embedder none "$notes" >/dev/null
has "$($QUIPU ask -s "$work/plain" --reranker hash --json "dyed cotton" 2>"$work/err")" '"method":"bm25"'
has "$(cat "$work/err")" "without an embedder"

# With its embedder gone an index still answers by words, and says so.
own() { python3 -c 'import sqlite3, sys; d = sqlite3.connect(sys.argv[1]); d.execute("UPDATE setting SET value = ? WHERE key = ?", (sys.argv[2], "embedder")); d.commit()' "$work/store/truth.db" "$1"; }
own "$work/nowhere.gguf"
out=$($QUIPU ask --reranker hash --json "dyed cotton" 2>/dev/null)
has "$out" '"method":"bm25"'
has "$out" '"degraded":"no embedder'
own hash

# An evaluation of runs alone needs no model, and runs nothing itself.
mkdir "$work/set"
printf '{"_id":"q2","text":"base ten"}\n' >"$work/set/queries.jsonl"
printf 'query-id\tcorpus-id\tscore\nq2\tnotes/reading.md\t1\n' >"$work/set/qrels.tsv"
$QUIPU retrieve $models -m bm25 --queries "$work/set/queries.jsonl" --run "$work/one.txt" >/dev/null
out=$($QUIPU eval "$work/set" --reranker none --with-run "$work/one.txt" --json)
has "$out" '"method": "run"'
lacks "$out" '"method": "vector"'
has "$($QUIPU eval "$work/set" $models -m fastinsight -o first=hybrid --json 2>/dev/null)" '"first": "hybrid"'
has "$($QUIPU eval "$work/set" $models -m bm25 -o metrics=hit@1)" "hit@1"

# White space in an id is %20 in a run, whatever its kind, and the run is read back as it was written.
mkdir "$work/odd"
python3 - "$work/odd" <<'P'
import json, sys
ids = {"d\tone": "knots on cords", "d\u3000two": "rain in Peru", "d three%\n": "wool and cotton"}
with open(sys.argv[1] + "/corpus.jsonl", "w") as c, open(sys.argv[1] + "/queries.jsonl", "w") as q:
    for id, text in ids.items():
        print(json.dumps({"_id": id, "text": text}), file=c)
    print(json.dumps({"_id": "q\u2003\tx", "text": "rain knots wool"}), file=q)
P
printf '{"_id":"q\\u2003\\tx","answers":["Peru"]}\n' >"$work/odd/answers.jsonl"
$QUIPU index --quiet --embedder hash -s "$work/odd.store" "$work/odd" >/dev/null
$QUIPU retrieve -s "$work/odd.store" -q -m bm25 --queries "$work/odd/queries.jsonl" --run "$work/odd.run" >/dev/null
[ "$(awk 'NF != 6' "$work/odd.run" | wc -l)" = 0 ] && [ "$(wc -l <"$work/odd.run")" = 3 ] || fail "fields: $(cat "$work/odd.run")"
for id in d%20one d%20two d%20three%25%20; do grep -q "^q%20%20x Q0 $id " "$work/odd.run" || fail "$id: $(cat "$work/odd.run")"; done
$QUIPU eval "$work/odd" -s "$work/odd.store" -q --embedder hash -m bm25 -o task=answers -o extract=true -o metrics=cite_ok,hit --run "$work/odd.eval" >/dev/null
[ "$(cut -d' ' -f1-3 "$work/odd.eval" | sort)" = "$(cut -d' ' -f1-3 "$work/odd.run" | sort)" ] || fail "ask and eval write another run: $(cat "$work/odd.eval")"
printf 'query-id\tcorpus-id\tscore\nq1\td\343\200\200two\t1\n' >"$work/odd/qrels.tsv"
printf '{"_id":"q1","text":"rain"}\n' >"$work/odd/queries.jsonl"
$QUIPU retrieve -s "$work/odd.store" -q -m bm25 --queries "$work/odd/queries.jsonl" --run "$work/odd.run" >/dev/null
has "$($QUIPU eval "$work/odd" -s "$work/odd.store" -q --with-run "$work/odd.run" -o metrics=hit@1 --json)" '"mean": 1'

# HippoRAG's files: a corpus of titles and texts, questions that name their documents by title.
printf '[{"title":"Rome","text":"Rome lies on the Tiber."},{"title":"Paris","text":"Paris in Texas is a town."},
{"title":"Paris","text":"Paris lies on the Seine."}]\n' >"$work/corpus.json"
printf '[{"id":"h1","question":"Which river is Paris on, Seine?","answer":"the Seine","answer_aliases":["Seine"],
"paragraphs":[{"title":"Paris","paragraph_text":"Paris lies on the Seine.","is_supporting":true},
{"title":"Rome","paragraph_text":"Rome lies on the Tiber.","is_supporting":false}]},
{"_id":"h2","question":"Tiber city?","answer":"Rome","supporting_facts":[["Rome",0]],
"context":[["Rome",["Rome lies on the Tiber."]],["Paris",["Paris in Texas is a town."]]]}]\n' >"$work/questions.json"
$QUIPU index --quiet --embedder hash -s "$work/hippo" "$work/corpus.json" >/dev/null
$QUIPU eval "$work/questions.json" -s "$work/hippo" --embedder hash -m bm25 -o metrics=hit@1,recall@1 --json >"$work/hippo.out"
python3 -c "
import json, sys
r = json.load(open('$work/hippo.out'))
assert r['questions'] == 2 and r['methods'][0]['metrics']['hit@1']['mean'] == 1, r
assert r['methods'][0]['metrics']['recall@1']['mean'] == 1, r"
has "$($QUIPU eval "$work/questions.json" -s "$work/hippo" --embedder hash -m bm25 -o task=answers -o extract=true)" "cite_r"

# A deleted document is gone from every way of search; the rest stays.
$QUIPU delete --embedder nosuchmodel notes/weaving.md >/dev/null || fail "a delete wanted a model"
code=0; $QUIPU retrieve -m bm25 --json "plied" >/dev/null 2>"$work/err" || code=$?
[ $code = 3 ] || fail "exit 3 was wanted for nothing found, $code came"
has "$($QUIPU check)" "whole"
has "$($QUIPU stats --json)" '"documents":3'
echo ok
