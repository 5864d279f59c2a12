#!/bin/sh
# What LightRAG, HippoRAG and GraphRAG leave on disk becomes an index: counted from their files by ten lines of Python, changed, and broken.
# The folders of tests/data/peers were made by those systems (tests/data/peers/make).
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$(cd "$(dirname "$0")/../.." && pwd)
data=$root/tests/data/peers
made='--embedder hash'
. "$(dirname "$0")/../refused.sh"
same() { [ "$1" = "$2" ] || fail "$3: wanted '$1', got '$2'"; }
counts() { # of an index: documents, entities, triples, contains
    $QUIPU -s "$1" stats --json | python3 -c '
import json, sys
s = json.load(sys.stdin)
types = s["edge_types"]
of = {t["type"]: t["edges"] for t in types} if isinstance(types, list) else types
print(s["documents"], s["entities"], of.get("contains", 0))'
}

# LightRAG: nodes, and of each the chunks its source_id names
$QUIPU -s "$work/l" index -q $made "$data/lightrag" >/dev/null
same "$(python3 - "$data/lightrag" <<'P'
import json, sys, xml.etree.ElementTree as xml
names = {"g": "http://graphml.graphdrawing.org/xmlns"}
tree = xml.parse(sys.argv[1] + "/graph_chunk_entity_relation.graphml").getroot()
source = next(k.get("id") for k in tree.findall("g:key", names) if k.get("attr.name") == "source_id" and k.get("for") == "node")
nodes = tree.findall(".//g:node", names)
places = [d.text.split("<SEP>") for n in nodes for d in n.findall("g:data", names) if d.get("key") == source]
print(len(json.load(open(sys.argv[1] + "/kv_store_text_chunks.json"))), len(nodes), sum(map(len, places)))
P
)" "$(counts "$work/l")" "LightRAG"
out=$($QUIPU -s "$work/l" retrieve --json -m agrag -k 3 "who drew the lighthouse that Ola Berg lit")
has "$out" '"document":"h3"'
has "$out" '"relation":"lit"'
has "$($QUIPU -s "$work/l" retrieve --json -m bm25 -k 1 --where "file_path = 'h2'" "engineer from Holm")" '"document":"h2"'
has "$($QUIPU -s "$work/l" index $made "$data/lightrag" 2>/dev/null)" "0 documents added, 0 changed"

# a document that goes takes its mentions along, and comes back with them: the bytes of a fresh index
cp "$work/l"/snapshot-*.qp "$work/fresh.qp"
$QUIPU -s "$work/l" delete -q h3 >/dev/null
same "5 9 10" "$(counts "$work/l")" "without h3"
$QUIPU -s "$work/l" index -q "$data/lightrag" >/dev/null
cmp "$work/fresh.qp" "$work/l/$(cat "$work/l/CURRENT")" || fail "an index that lost a document and has it again is not what it was"

# HippoRAG: entities of triples, and the passages whose triples have them
for source in "$data/hipporag" "$data/hipporag/openie_results_ner_given-triples.json"; do
    rm -rf "$work/h"
    $QUIPU -s "$work/h" index -q $made "$source" >/dev/null
    same "$(python3 - "$data/hipporag/openie_results_ner_given-triples.json" <<'P'
import json, sys
docs = json.load(open(sys.argv[1]))["docs"]
places = {(e, d["idx"]) for d in docs for h, _, t in d["extracted_triples"] for e in (h, t)}
print(len(docs), len({e for e, _ in places}), len(places))
P
)" "$(counts "$work/h")" "HippoRAG"
done

# GraphRAG: parquet is made a data set of
refused 2 "tools/from-graphrag" -- $QUIPU -s "$work/g" index "$data/graphrag"
if python3 -c 'import pyarrow' 2>/dev/null; then
    "$root/tools/from-graphrag" "$data/graphrag" "$work/set" 2>/dev/null
    has "$(cat "$work/set/reports.jsonl")" '"_id": "report:0"'
    "$root/tools/from-graphrag" --reports "$data/graphrag" "$work/told" 2>/dev/null
    [ ! -e "$work/told/reports.jsonl" ] && grep -q '"report:0"' "$work/told/corpus.jsonl" || fail "--reports left the reports out"
    [ "$(grep -c 'report:0$' "$work/told/mentions.tsv")" = "$(($(wc -l <"$work/told/nodes.csv") - 1))" ] || fail "a report of all entities mentions others"
    $QUIPU -s "$work/told.s" index -q $made "$work/told" >/dev/null
    has "$($QUIPU -s "$work/told.s" retrieve -q --embedder hash --json -m bm25 "who built the harbour")" 'report:0'
    has "$($QUIPU -s "$work/told.s" retrieve -q --embedder hash --json -m graphrag -o mode=global "who built it")" '"report":"# The harbour'
else
    echo "no pyarrow: tools/from-graphrag is not run" >&2
    mkdir "$work/set"
    printf '{"_id":"unit-%s","text":"%s"}\n' h1 "Port Elin has a breakwater." h2 "An engineer from Holm." h3 "Skarn is an island." >"$work/set/corpus.jsonl"
    printf 'name,type,description\nPort Elin,THING,a town\nHolm,THING,\nOla Berg,THING,\n' >"$work/set/nodes.csv"
    printf 'source,target,weight,description\nOla Berg,Holm,2,came from\n' >"$work/set/edges.csv"
    printf 'entity\tdocument\nPort Elin\tunit-h1\nHolm\tunit-h1\nHolm\tunit-h2\nOla Berg\tunit-h3\nOla Berg\tunit-h9\n' >"$work/set/mentions.tsv"
fi
$QUIPU -s "$work/g" index -q $made "$work/set" >/dev/null
same "$(python3 - "$work/set" <<'P'
import csv, json, sys
folder = sys.argv[1] + "/"
units = {json.loads(line)["_id"] for line in open(folder + "corpus.jsonl")}
mentions = [line.rstrip("\n").split("\t") for line in open(folder + "mentions.tsv")][1:]
print(len(units), len(list(csv.DictReader(open(folder + "nodes.csv")))), sum(u in units for _, u in mentions))
P
)" "$(counts "$work/g")" "GraphRAG"

# broken, as a new user would have them
cp -r "$data/lightrag" "$work/cut"
rm "$work/cut/kv_store_text_chunks.json"
refused 2 "wanted LightRAG's passages beside its graph" -- $QUIPU -s "$work/b" index $made "$work/cut"
head -c 100 "$data/lightrag/kv_store_text_chunks.json" >"$work/cut/kv_store_text_chunks.json"
refused 2 "kv_store_text_chunks.json: no JSON at byte" -- $QUIPU -s "$work/b" index $made --strict -q "$work/cut"
echo '[1]' >"$work/cut/kv_store_text_chunks.json"
refused 2 "wanted LightRAG's chunks" -- $QUIPU -s "$work/b" index $made --strict -q "$work/cut"
cp "$data/lightrag/kv_store_text_chunks.json" "$work/cut"
head -c 3000 "$data/lightrag/graph_chunk_entity_relation.graphml" >"$work/cut/graph_chunk_entity_relation.graphml"
refused 2 "the XML breaks off" -- $QUIPU -s "$work/b" index $made --strict -q "$work/cut"
mkdir "$work/two"
cp "$data/hipporag/openie_results_ner_given-triples.json" "$work/two"
cp "$data/hipporag/openie_results_ner_given-triples.json" "$work/two/openie_results_ner_other.json"
refused 2 "by several models" -- $QUIPU -s "$work/b" index $made "$work/two"
rm "$work/two/openie_results_ner_other.json"
echo '{"docs": 3}' >"$work/two/openie_results_ner_given-triples.json"
refused 2 "wanted HippoRAG's extractions" -- $QUIPU -s "$work/b" index $made --strict -q "$work/two"
echo '{"docs":[{"idx":"a","passage":"A text.","extracted_triples":[["x","y"],["x","y",3],["x","is","y"]]}]}' >"$work/two/openie_results_ner_given-triples.json"
rm -rf "$work/b"
out=$($QUIPU -s "$work/b" index $made "$work/two" 2>&1)
has "$out" '1 triples of 2 entities read'
has "$out" '2 lines hold no triple'
