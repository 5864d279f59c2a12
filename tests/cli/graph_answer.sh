#!/bin/sh
# What a writer reads of gear's subgraph, said by a local server: candidates, nodes and edges, the nearest first; then all of it.
set -eu
. "$(dirname "$0")/../served.sh"
mkdir set
printf 'head\trelation\ttail\nInca\tkept\tquipu\nquipu\tmade of\tcotton\nquipu\tmade of\twool\nInca\tlived in\tPeru\ncotton\tgrows in\tPeru\n' >set/triples.tsv
models='--embedder hash --heads hash'
$QUIPU index -q $models -s s set
cat >writer.py <<'P'
from chat import serve
def say(prompt):
    with open("prompt", "w") as file:
        file.write(prompt)
    return "cotton"
serve(say)
P
python3 writer.py & server=$!
for _ in $(seq 200); do [ -s port ] || sleep 0.1; done
for method in gear gear-ppr gear-pcst "gear -o plain=heads" "gear -o plain=embedder"; do
    $QUIPU ask -q $models -s s -m $method -k 3 --writer "openai:w@http://127.0.0.1:$(cat port)/v1" --json "what is the quipu made of" >out || fail "$method"
    python3 - <<'P' || fail "$method: $(cat prompt)"
import json
edges = json.load(open("out"))["edges"]
told = ["%s -> %s -> %s" % (e["source"], e["relation"], e["target"]) for e in edges]
scores = [e["score"] for e in edges]
assert 0 < len(edges) <= 3 and scores == sorted(scores, reverse=True) and scores[0] != 0, edges
lines = open("prompt").read().split("\n")
at = lines.index("Candidate facts:")
assert lines[at + 1:at + 1 + len(told)] == told and lines[at + 1 + len(told)] == "Facts:", told
P
done
$QUIPU ask -q $models -s s -m g-retriever --writer "openai:w@http://127.0.0.1:$(cat port)/v1" --json "what is the quipu made of" >out
! grep -q "Candidate facts:" prompt || fail "facts that nothing ranked: $(cat prompt)"
