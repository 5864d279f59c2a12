#!/bin/sh
# eval -o by=FIELD: a group's metrics are those of an evaluation of its questions alone.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$(dirname "$0")/../refused.sh"

mkdir "$work/set"
i=0
for word in quipu cotton wool knot cord road bridge llama maize potato; do
    i=$((i + 1))
    printf '{"_id":"d%s","title":"%s","text":"The %s of the Inca."}\n' $i $word $word >>"$work/set/corpus.jsonl"
    printf '{"_id":"q%s","text":"which %s","kind":%s}\n' $i $word "$([ $i -lt 4 ] && echo '"made"' || echo $((i % 2)))" >>"$work/set/queries.jsonl"
    printf 'q%s\td%s\t1\n' $i $((i % 3 ? i : 1)) >>"$work/set/qrels.tsv"
done
sed -i '1i query-id\tcorpus-id\tscore' "$work/set/qrels.tsv"
$QUIPU -s "$work/s" index -q --embedder hash "$work/set" >/dev/null
$QUIPU -s "$work/s" eval -q --json -m bm25,vector -o by=kind -o metrics=recall@1,ndcg@5 "$work/set" >"$work/all.json"
for kind in made 0 1; do
    mkdir "$work/$kind"
    cp "$work/set/qrels.tsv" "$work/$kind"
    grep "\"kind\":\"\\{0,1\\}$kind" "$work/set/queries.jsonl" >"$work/$kind/queries.jsonl"
    $QUIPU -s "$work/s" eval -q --json -m bm25,vector -o metrics=recall@1,ndcg@5 "$work/$kind" >"$work/$kind.json" 2>/dev/null
    python3 - "$work" "$kind" <<'P'
import json, sys
group = next(g for g in json.load(open(sys.argv[1] + "/all.json"))["groups"] if g["value"] == sys.argv[2])
alone = json.load(open(f"{sys.argv[1]}/{sys.argv[2]}.json"))
assert group["questions"] == alone["questions"], (group["questions"], alone["questions"])
for a, b in zip(group["methods"], alone["methods"], strict=True):
    assert (a["name"], a["metrics"]) == (b["name"], b["metrics"]), (a, b["metrics"])
P
done
has "$($QUIPU -s "$work/s" eval -q -m bm25 -o by=kind "$work/set")" "kind = made, 3 questions: "
code=0
$QUIPU -s "$work/s" eval -q -m bm25 -o by=knd "$work/set" 2>"$work/err" || code=$?
[ $code = 2 ] && grep -q "by=knd: no question of" "$work/err" || fail "by=knd: $code $(cat "$work/err")"
