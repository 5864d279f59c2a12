#!/bin/sh
# cg-rag's subgraphs are of the contextual citation graph: a paper of one chunk cites a long one, and is shown with, and
# summed up with, the chunk that it has to do with, not with the first.
set -eu
. "$(dirname "$0")/../served.sh"
export QUIPU_STORE="$work/store"

mkdir "$work/set"
{
    printf '{"_id":"A","title":"A","text":"Zebrafish axons grow back after a lesion, with the help of glia."}\n{"_id":"B","title":"B","text":"'
    for topic in "copper wire" "tungsten lamp" "zebrafish axons" "granite quarry" "violin varnish" "harbour dredging" "wheat rust" "glacier melt"; do
        printf '# %s\\n\\n' "$topic"
        for i in $(seq 1 40); do printf 'A word on %s and number %s. ' "$topic" "$i"; done
        printf '\\n\\n'
    done
    printf '"}\n'
} >"$work/set/corpus.jsonl"
printf 'src\tdst\ttype\tweight\nA\tB\tcites\t1\n' >"$work/set/edges.tsv"
$QUIPU index --quiet --embedder hash -o chunk=chars -o chunk_size=1800 "$work/set" >"$work/out" 2>&1 || fail "index: $(cat "$work/out")"

ask() { $QUIPU retrieve --quiet --embedder hash -m cg-rag -o encoder=none -o summaries=extract --json "$@" "zebrafish axons"; }
# Source, relation and target of each edge, then the summary of A.
told() { tr '{' '\n' | sed -n 's/.*"source":"\([^"]*\)","relation":"\([^"]*\)","target":"\([^"]*\)".*/\1 \2 \3/p; s/^"rank".*"id":"A#0".*"summary":"\([^"]*\)".*/\1/p'; }

ask -o n=1 >"$work/json" || fail "retrieve"
told <"$work/json" >"$work/told"
grep -q "^A#0 cites B#2$" "$work/told" || fail "A is not shown with the chunk on its matter: $(cat "$work/told")"
! grep -q "^A#0 cites B#0$" "$work/told" || fail "A is shown with the first chunk: $(cat "$work/told")"
grep -q "^B#2 next B#3$" "$work/told" || fail "chunks of a document follow one another: $(cat "$work/told")"
! grep -q "copper" "$work/told" || fail "A is summed up with copper wire: $(cat "$work/told")"
ask -o n=8 | told | grep -c "^A#0 cites B#" | grep -q "^8$" || fail "with n=8 all chunks are cited"
ask -o n=1 -o context=1 | told | grep -q "^A#0 cites B#2$" || fail "context=1"

cat >"$work/own.yaml" <<'END'
steps:
  - {op: search, index: node.dense, k: 100}
  - {op: lesegr, encoder: none, n: 1, as: all}
  - {op: top, k: 100}
  - {op: ego, in: [all, all], of: set}
  - {op: relations, k: 1000, by: degree}
END
$QUIPU retrieve --quiet --embedder hash -k 100 -m "$work/own.yaml" --json "zebrafish axons" >"$work/json" 2>"$work/err" || fail "pipeline: $(cat "$work/err")"
told <"$work/json" | grep -q "^A#0 cites B#2$" || fail "the pipeline's edges: $(told <"$work/json")"
sed -i 's/op: relations, .*}/op: budget, of: edges, tokens: 10000}/' "$work/own.yaml" # counts tokens of edges that the index has not
$QUIPU retrieve --quiet --embedder hash -k 100 -m "$work/own.yaml" --json "zebrafish axons" >"$work/json" 2>"$work/err" || fail "budget: $(cat "$work/err")"
told <"$work/json" | grep -q "^A#0 cites B#2$" || fail "the budget's edges: $(told <"$work/json")"

# A writer is told the same edges.
cat >writer.py <<'P'
from chat import serve
def say(prompt):
    with open("prompt", "w") as file:
        file.write(prompt)
    return "Glia help [1]."
serve(say)
P
python3 writer.py & server=$!
for _ in $(seq 200); do [ -s port ] || sleep 0.1; done
$QUIPU ask --quiet --embedder hash -m cg-rag -o encoder=none -o n=1 --writer "openai:w@http://127.0.0.1:$(cat port)/v1" "zebrafish axons" >out
grep -q "^> A#0 -> cites -> B#2$" prompt || fail "a writer reads: $(cat prompt)"
! grep -q "A#0 -> cites -> B#0" prompt || fail "a writer reads of the first chunk"
