#!/bin/sh
# A knowledge graph from triples, without model files: index, ask, evaluate, change, and what can be wrong with one.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export QUIPU_STORE="$work/store"
made='--embedder hash --heads hash'
models="$made --reranker hash"
. "$(dirname "$0")/../refused.sh"

mkdir "$work/set"
printf 'head\trelation\ttail\nInca\tkept\tquipu\nquipu\tmade of\tcotton\nquipu\tmade of\twool\nInca\tlived in\tPeru\ncotton\tgrows in\tPeru\n' >"$work/set/triples.tsv"
printf '%s\n' '{"_id":"q1","text":"what is the quipu made of","entities":["quipu"]}' '{"_id":"q2","text":"where did the Inca live","entities":["Inca"]}' >"$work/set/queries.jsonl"
printf '%s\n' '{"_id":"q1","answers":["cotton","wool"]}' '{"_id":"q2","answers":["Peru"]}' >"$work/set/answers.jsonl"

out=$($QUIPU index $made "$work/set")
has "$out" "5 triples of 5 entities read"
has "$($QUIPU index "$work/set")" "0 texts embedded"
out=$($QUIPU index -q -s "$work/told" $made --json "$work/set")
has "$out" '"triples":5,"entities":5,"writer_asked":0,"writer_remembered":0,"writer_dropped":0,"writer_unanswered":0'
has "$($QUIPU help index)" "triples, entities: read in this run"
out=$($QUIPU stats --json)
has "$out" '"entities":5'
has "$out" '"made of":2'
$QUIPU check >/dev/null

# A path, told the same way in JSON and to a person; the question names where it starts.
out=$($QUIPU retrieve $models -m lego:1 --json "what did the Inca keep")
has "$out" '"entities":["Inca"]'
has "$out" '"nodes":["Inca","quipu",'
has "$out" '"relations":["kept",'
has "$out" '"subgraph":{"nodes":5,"edges":5,"components":1}'
has "$($QUIPU retrieve $models -m lego:2 "what is the quipu made of")" "quipu -made of-> cotton"
out=$($QUIPU retrieve $models -m lego:14 -o max_hop=1 --json "who kept the quipu")
has "$out" '"relations":["~kept"]'
has "$out" '"context_tokens":11' # quipu made of cotton, quipu made of wool, quipu kept Inca

# Paths that the budget cut are told, and nothing where it cut none.
out=$($QUIPU retrieve $models -m lego:12 -o budget=1 --explain --json "what did the Inca keep")
has "$out" '"model_passes":0,"paths_cut":'
has "$($QUIPU retrieve $models -m lego:12 -o budget=1 --explain "what did the Inca keep")" "; the budget cut "
lacks "$($QUIPU retrieve $models -m lego:12 --explain --json "what did the Inca keep")" "paths_cut"

# Shortest paths through the triples that a model chose stand in the same order as through all, where it chose all.
for m in lego:1 "lego:10 -o max_edge=1000"; do
    $QUIPU retrieve $models -m $m --json "what did the Inca keep" | sed 's/.*"paths":\(\[.*\]\),"entities".*/\1/'
done >"$work/paths"
[ "$(sort -u "$work/paths" | wc -l)" = 1 ] && [ "$(wc -l <"$work/paths")" = 2 ] || fail "paths by PageRank: $(cat "$work/paths")"
lacks "$(cat "$work/paths")" '"score":0}'

# Every method that needs no writer, and an answer read off the paths with its citation.
for method in lego lego:1 lego:2 lego:6 lego:10 lego:12 lego:14 gear gear-ppr gear-pcst g-retriever vector bm25; do
    $QUIPU retrieve $models -m $method --json "what is the quipu made of" >/dev/null || fail "$method"
done
out=$($QUIPU ask $models -m lego:2 -o max_hop=1 --json "what is the quipu made of")
has "$out" '"quote":"quipu -> made of -> '
has "$out" '"answer":"'

# -k bounds the paths as it does the hits, which are their nodes by first appearance; a pipeline's, too.
printf 'steps:\n  - {op: link, as: start}\n  - {op: search, index: entity.dense, k: 5}\n  - {op: flow, k: 15}\n' >"$work/flow.yaml"
for how in "pathrag -k 1" "pathrag -k 2" "pathrag -o top=2" "lego:2 -k 1" "$work/flow.yaml -k 1" "$work/flow.yaml -k 2"; do
    $QUIPU retrieve $models -m $how --json "what is the quipu made of" >"$work/found"
    python3 - "$work/found" $how <<'P' || fail "-m $how"
import json, sys
found, n = json.load(open(sys.argv[1])), int(sys.argv[-1].split("=")[-1])
assert len(found["paths"]) == n and len(found["hits"]) <= n, (len(found["paths"]), len(found["hits"]))
nodes = list(dict.fromkeys(name for path in found["paths"] for name in path["nodes"]))
assert sys.argv[2].endswith(".yaml") or [h["id"] for h in found["hits"]] == nodes[:n], found["hits"]
P
done

# Evaluated on answers by name.
out=$($QUIPU eval "$work/set" $models -m lego:2,lego:14:score=triple:max_hop=1,gear -o compare=none --json -q)
has "$out" '"sub_recall"'
has "$out" '"path_recall@8"'

# What needs a writer says so; what is not there, too.
refused 5 "writer" -- $QUIPU retrieve $models --writer none -m lego:3 "what is the quipu made of"
refused 5 "writer" -- $QUIPU retrieve $models --writer none -m lego:12 -o eem=writer "what is the quipu made of"
refused 5 "writer" -- $QUIPU retrieve $models --writer none -m lego:14 -o hops=auto "what is the quipu made of"
refused 2 "sbe-ppr" -- $QUIPU retrieve $models -m lego -o se=nosuch "x"
refused 2 "no method" -- $QUIPU retrieve $models -m lego:17 "x"
printf '{"_id":"q","text":"where is it","entities":["nobody"]}\n' >"$work/nobody.jsonl"
has "$($QUIPU retrieve $models -m lego:1 --queries "$work/nobody.jsonl" --json 2>&1)" "no entity of the graph is called 'nobody'"

# A changed file replaces what it gave; broken lines are told and left out, or end the run.
printf 'head\trelation\ttail\nInca\tkept\tquipu\nInca\t\tnothing\nonly one field\nInca\tkept\tquipu\nknot\tties\tknot\n' >"$work/set/triples.tsv"
out=$($QUIPU index $made "$work/set" 2>"$work/err")
has "$(cat "$work/err")" "triples.tsv:3"
has "$($QUIPU stats --json)" '"entities":3'
$QUIPU check >/dev/null
refused 2 "triples.tsv:3" -- $QUIPU index --strict $made -s "$work/strict" "$work/set"

# A small graph for each question: its own is walked, and no other.
mkdir "$work/own"
printf '%s\n' '{"_id":"a","triples":[["sun","warms","earth"],["earth","has","moon"]]}' '{"_id":"b","triples":[["sun","is","star"]]}' >"$work/own/graphs.jsonl"
printf '%s\n' '{"_id":"a","text":"sun"}' '{"_id":"b","text":"sun"}' >"$work/own/queries.jsonl"
$QUIPU index --quiet $made -s "$work/many" "$work/own" >/dev/null
$QUIPU retrieve $models -s "$work/many" -m lego:1 --json --queries "$work/own/queries.jsonl" >"$work/nd.jsonl"
has "$(sed -n 1p "$work/nd.jsonl")" '"nodes":["sun","earth","moon"]'
has "$(sed -n 2p "$work/nd.jsonl")" '"nodes":["sun","star"]'

# An index inside its own source is no document of it.
mkdir "$work/inside"
cp "$work/own/graphs.jsonl" "$work/inside/triples.jsonl"
printf 'a word\n' >"$work/inside/note.txt"
for i in 1 2; do $QUIPU index --quiet $made -s "$work/inside/index" "$work/inside" >/dev/null; done
has "$($QUIPU stats -s "$work/inside/index" --json)" '"documents":'
$QUIPU stats -s "$work/inside/index" --json | grep -q '"documents":[12],' || fail "$($QUIPU stats -s "$work/inside/index" --json)"

# A graph is deleted by the path it came from.
cp -r "$work/own" "$work/other"
$QUIPU index --quiet $made -s "$work/two" "$work/own" "$work/inside/note.txt" >/dev/null
$QUIPU delete --quiet -s "$work/two" "$work/own" >/dev/null
has "$($QUIPU stats -s "$work/two" --json)" '"entities":0'
refused 3 "no document" -- $QUIPU delete -s "$work/two" "$work/other"

# A source that is gone leaves nothing.
rm "$work/set/triples.tsv"
printf '{"_id":"d","text":"a document"}\n' >"$work/set/corpus.jsonl"
$QUIPU index --quiet $made "$work/set" >/dev/null
has "$($QUIPU stats --json)" '"entities":0'

# Beside a graph of more relations than a walk tells apart, what joins documents is still walked by its name.
mkdir "$work/wide"
printf '%s\n' '{"_id":"a","text":"red apples"}' '{"_id":"b","text":"a green pear"}' '{"_id":"c","text":"a plum"}' >"$work/wide/corpus.jsonl"
printf 'a\tb\tzzz_cites\t1\na\tc\tzzz_other\t1\n' >"$work/wide/edges.tsv"
for i in $(seq 1 100); do printf 'x\trelation %d\ty%d\n' "$i" "$i"; done >"$work/wide/triples.tsv"
$QUIPU index --quiet $made -s "$work/wide.s" "$work/wide" >/dev/null
printf 'name: walk\nsteps:\n  - {op: search, index: node.bm25, k: 1}\n  - {op: hop, edges: zzz_cites}\n' >"$work/walk.yaml"
found=$($QUIPU retrieve $models -s "$work/wide.s" -m "$work/walk.yaml" --json "apples")
has "$found" '"id":"b'
lacks "$found" '"id":"c'
refused 2 "those between documents can" -- $QUIPU retrieve $models -s "$work/wide.s" -m lego:1 -o "edges=relation 99" "x"
