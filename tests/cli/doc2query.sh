#!/bin/sh
# Doc2Query with a writer that a local server plays: what it says is found, asked once, gone with its passage.
set -eu
. "$(dirname "$0")/../served.sh"
mkdir notes
echo 'The quipucamayoc kept the cords.' >notes/a.txt
echo 'Cotton was dyed with indigo.' >notes/b.txt
cat >writer.py <<'P'
import os
from chat import serve
def say(prompt):
    text = prompt.split("<text>")[1].split("</text>")[0].strip().split("\n")[-1]
    if os.path.exists("dies-at") and open("dies-at").read().strip() in text:
        return 401
    with open("asked", "a") as f:
        f.write(text + "\n")
    if "cords" in text:
        return "Here are questions:\n1. who was the accountant?\n2) who was the accountant?\n- what is an archive?\nand one too many"
    return "" if "nothing" in text else "which pigment is blue?\n"
serve(say)
P
python3 writer.py & server=$!
for _ in $(seq 200); do [ -s port ] || sleep 0.3; done
writer="openai:w@http://127.0.0.1:$(cat port)/v1"
index="$QUIPU index --embedder none -q -s s"
find="$QUIPU retrieve -s s --embedder none -m doc2query --json"

# What is missing is said.
refused 5 "name one with --writer" -- $index -o doc2query=2 notes
$index notes >/dev/null
refused 2 "index with -o doc2query=5 --writer" -- $find accountant
refused 2 "doc2query" -- $index -o doc2query=41 --writer "$writer" notes
echo 'only {text}' >prompt.txt
refused 2 "has no {n}; this prompt is one with {text} and {n}" -- $index -o doc2query=2 -o doc2query_prompt=prompt.txt --writer "$writer" notes
out=$($index -o doc2query=2 --writer "$writer" --dry-run --prices 0,1000,0 notes)
has "$out" "asked 2 times"
[ ! -e asked ] || fail "a dry run asked"

# A run that ends in the middle goes on: what was said is not asked again. Longest passages come first.
echo indigo >dies-at
refused 5 "keys are read" -- $index -o doc2query=2 --writer "$writer" notes
rm dies-at
has "$($index --writer "$writer" notes)" "1 chunks were written questions for"
[ "$(wc -l <asked)" = 2 ] || fail "asked twice: $(cat asked)"
has "$($find accountant)" '"document":"notes/a.txt"'
has "$($find archive)" '"document":"notes/a.txt"'
has "$($find 'blue pigment')" '"document":"notes/b.txt"'
has "$($find indigo)" '"document":"notes/b.txt"'
refused 3 "nothing was found" -- $find 'many' # a question too many
refused 3 "nothing was found" -- $find 'here' # the line before the list
refused 3 "nothing was found" -- $QUIPU retrieve -s s --embedder none -m bm25 --json accountant # BM25 reads no questions
$QUIPU check -s s >/dev/null
lacks "$($QUIPU stats -s s --json)" '"doc2query":"none"'

# Without its writer the index keeps them, takes what needs none, and says what does.
cp s/snapshot-*.qp before
has "$($index notes)" "2 unchanged"
cmp s/snapshot-*.qp before || fail "a run without changes changed something"
echo 'There is nothing to ask here.' >notes/c.txt
refused 5 "passages that have no questions yet" -- $index notes
$index --writer "$writer" notes >/dev/null
$QUIPU check -s s >/dev/null
has "$($find 'ask')" '"document":"notes/c.txt"'
$QUIPU delete -s s --embedder none notes/c.txt >/dev/null
cmp s/snapshot-*.qp before || fail "deleting leaves something"
[ "$(wc -l <asked)" = 3 ] || fail "something was asked twice: $(cat asked)"
rm notes/c.txt

# As LeSeGR's sparse signal, and gone when they are not wanted.
rm -rf s
$QUIPU index --embedder hash -q -s s -o doc2query=2 --writer "$writer" notes >/dev/null
has "$($QUIPU retrieve -s s --embedder hash -m cg-rag -o sparse=doc2query -o encoder=none --json accountant)" '"document":"notes/a.txt"'
$QUIPU index --embedder hash -q -s s -o doc2query=0 notes >/dev/null
refused 2 "index with -o doc2query=5 --writer" -- $find accountant
echo "doc2query: asked once, found by, gone with its passage"
