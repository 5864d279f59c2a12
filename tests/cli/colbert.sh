#!/bin/sh
# Late interaction: what is made once, found, deleted without a trace, and what is said where it cannot be.
set -eu
. "$(dirname "$0")/../apart.sh"
cp -r "$notes" notes
index="$QUIPU index --embedder hash -q -s s"
find="$QUIPU retrieve -s s --embedder hash -m colbert --json"

$index notes >/dev/null
refused 2 "index it again with -o tokens=yes" -- $find "dyed cotton"
refused 5 "needs an embedder that gives vectors of tokens" -- $QUIPU index --embedder none -q -s none -o tokens=yes notes
refused 2 "yes" -- $index -o tokens=perhaps notes
has "$($index -o tokens=yes notes)" "chunks with vectors of tokens"
has "$($index notes)" "0 texts embedded"
$QUIPU check -s s >/dev/null
has "$($find 'who checked the accounts of the keepers')" '"document":"notes/keepers.md"'
has "$($find -o exact=true 'who checked the accounts of the keepers')" '"document":"notes/keepers.md"'
has "$($find -o probes=4 -o candidates=16 -o threshold=-1 -k 1 'dyed cotton')" '"document":"notes/weaving.md"'
has "$($find -o probes=65536 -o candidates=1000000000 -k 1 'dyed cotton')" '"document":"notes/weaving.md"'
refused 2 "threshold" -- $find -o threshold=2 "dyed cotton"
lacks "$($QUIPU stats -s s --json)" '"tokens":0'
refused 2 "another embedder" -- $QUIPU retrieve -s s --embedder hash:64 -m colbert "dyed cotton"

mkdir set
printf '%s\n' '{"_id":"a","title":"","text":"cotton is dyed"}' '{"_id":"b","title":"","text":"knots keep numbers"}' >set/corpus.jsonl
echo '{"_id":"q","text":"dyed cotton"}' >set/queries.jsonl
printf 'query-id\tcorpus-id\tscore\nq\ta\t1\n' >set/qrels.tsv
$QUIPU index --embedder hash -q -s e -o tokens=yes set >/dev/null
has "$($QUIPU eval set --embedder hash -q -s e -m colbert,bm25 -o metrics=hit@1 --json)" '"colbert"'

# Added and deleted, nothing is left of a document; another embedder makes its own.
cp s/snapshot-*.qp before
echo 'Ropes of another people, and of another time.' >notes/ropes.txt
$index notes >/dev/null
cmp -s s/snapshot-*.qp before && fail "nothing was added"
$QUIPU check -s s >/dev/null
$QUIPU delete -s s --embedder hash notes/ropes.txt >/dev/null
cmp s/snapshot-*.qp before || fail "deleting leaves something"
rm notes/ropes.txt
$QUIPU index --embedder hash:64 -q -s s notes >/dev/null
has "$($QUIPU retrieve -s s --embedder hash:64 -m colbert -k 1 --json 'dyed cotton')" '"document":"notes/weaving.md"'
$QUIPU check -s s >/dev/null
$QUIPU index --embedder hash:64 -q -s s -o tokens=no notes >/dev/null
refused 2 "index it again with -o tokens=yes" -- $QUIPU retrieve -s s --embedder hash:64 -m colbert "dyed cotton"
echo "colbert: made once, found by, gone with its passage"
