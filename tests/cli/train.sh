#!/bin/sh
# LeSeGR trained by the command line: weights that the next question uses, seeds, Ctrl-C, and what a new user would get wrong.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export QUIPU_STORE="$work/store"
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
refused() { # CODE WORD -- COMMAND...
    wanted=$1 word=$2; shift 3
    "$@" >"$work/out" 2>"$work/err" </dev/null
    code=$?
    [ $code = "$wanted" ] || fail "exit $code, wanted $wanted: $* -- $(cat "$work/err")"
    [ "$(wc -l <"$work/err")" = 1 ] || fail "one line on stderr was wanted: $* -- $(cat "$work/err")"
    grep -qF -- "$word" "$work/err" || fail "'$word' not in: $(cat "$work/err") ($*)"
}
small="-o hidden=16 -o mlp=8 -o epochs=3"
train="$QUIPU train lesegr --quiet --embedder hash --dataset $work/set"

# Forty papers of three words; paper n cites n+1, itself (40 cites 1: a cycle), and one that is not there; paper 7 has no text.
mkdir "$work/set"
for i in $(seq 1 40); do
    echo "{\"_id\":\"p$i\",\"title\":\"Paper $i\",\"text\":\"$([ "$i" = 7 ] || echo "word$i topic$((i % 5)) thing$((i % 7))")\"}"
done >"$work/set/corpus.jsonl"
{ printf 'src\tdst\ttype\tweight\n'; for i in $(seq 1 40); do printf 'p%s\tp%s\tcites\t1\np%s\tp%s\tcites\t1\np%s\tnowhere\tcites\t1\n' $i $((i % 40 + 1)) $i $i $i; done; } >"$work/set/edges.tsv"
for i in $(seq 1 12); do echo "{\"_id\":\"q$i\",\"text\":\"topic$((i % 5)) thing$((i % 7)) word$i\"}"; done >"$work/set/queries.jsonl"
{ printf 'query-id\tcorpus-id\tscore\n'; for i in $(seq 1 12); do printf 'q%s\tp%s\t1\n' $i $i; done; printf 'q1\tgone\t1\n'; } >"$work/set/qrels.tsv"

refused 1 "--dataset DIR" -- $QUIPU train lesegr
refused 4 "no index" -- $train
$QUIPU index --quiet --embedder hash "$work/set" >"$work/out" 2>"$work/err" || fail "index: $(cat "$work/err")"
refused 1 "not 'splade'" -- $QUIPU train splade --dataset "$work/set" --quiet
refused 2 "queries.jsonl" -- $QUIPU train lesegr --quiet --embedder hash --dataset "$work"
refused 2 "epoch" -- $train -o epoch=3
refused 2 "multiple of its heads" -- $train -o hidden=10 -o heads=4

$QUIPU retrieve "topic1" -m cg-rag --embedder hash >"$work/out" 2>"$work/err" || fail "untrained: $(cat "$work/err")"
grep -q untrained "$work/err" || fail "untrained was not said: $(cat "$work/err")"
$train $small --seed 3 --json >"$work/one" || fail train
$QUIPU retrieve "topic1" -m cg-rag --embedder hash --json >"$work/out" 2>"$work/err" || fail "trained: $(cat "$work/err")"
[ -s "$work/err" ] && fail "trained, and yet: $(cat "$work/err")"
grep -q '"relation": *"cites"' "$work/out" || fail "no subgraph around the results"
cp "$QUIPU_STORE/lesegr-gt.gguf" "$work/first.gguf"
$train $small --seed 3 --threads 1 --json >"$work/two" || fail "train again"
cmp "$work/first.gguf" "$QUIPU_STORE/lesegr-gt.gguf" || fail "the same seed gave other weights"
$train $small --seed 4 --json >"$work/two" || fail "train with another seed"
cmp -s "$work/first.gguf" "$QUIPU_STORE/lesegr-gt.gguf" && fail "another seed gave the same weights"
$QUIPU check >/dev/null || fail "check with weights in the folder"
for kind in gat gcn; do
    $train $small -o encoder=$kind >/dev/null || fail "train $kind"
    $QUIPU retrieve topic1 -m cg-rag -o encoder=$kind --embedder hash --quiet >/dev/null || fail "cg-rag with $kind"
done

# A loss that is none: says where, the last good weights are kept and still work.
refused 5 "epoch" -- $train $small -o rate=1e9 -o clip=1e9 -o temperature=0.000001 -o epochs=50 -o patience=50
$QUIPU retrieve topic1 -m cg-rag -o encoder=gt --embedder hash --quiet >/dev/null || fail "the weights after NaN"

# Weights that are not there, are no weights, are of other dimensions or of another embedder.
refused 5 "not there" -- $QUIPU retrieve topic1 -m cg-rag -o encoder="$work/none.gguf" --embedder hash --quiet
refused 5 "GGUF" -- $QUIPU retrieve topic1 -m cg-rag -o encoder="$work/set/qrels.tsv" --embedder hash --quiet
refused 5 "train again" -- $QUIPU retrieve topic1 -m cg-rag -o encoder=tests/reference/lesegr/gt.gguf --embedder hash --quiet

# Three questions are few but enough, one is not; labels that point nowhere are none.
mkdir "$work/few"
head -3 "$work/set/queries.jsonl" >"$work/few/queries.jsonl"
head -4 "$work/set/qrels.tsv" >"$work/few/qrels.tsv"
few="$QUIPU train lesegr --embedder hash --dataset $work/few"
$few --quiet $small >/dev/null || fail "three questions"
printf 'query-id\tcorpus-id\tscore\nq1\tp1\t1\nq2\tgone\t1\nq3\tgone\t1\n' >"$work/few/qrels.tsv"
refused 2 "1 of 3" -- $few --quiet

refused 2 "/nowhere/weights: cannot be written" -- $few --quiet -o file=/nowhere/weights

# Ctrl-C keeps the best.
rm "$QUIPU_STORE/lesegr-gt.gguf"
$QUIPU train lesegr --embedder hash --dataset "$work/set" -o epochs=10000 -o patience=10000 >"$work/out" 2>"$work/err" &
pid=$!
for i in $(seq 1 600); do grep -q "epoch 2" "$work/err" && break; sleep .1; done
kill -INT $pid
wait $pid
code=$?
[ $code = 130 ] || fail "Ctrl-C: exit $code: $(cat "$work/err")"
tail -1 "$work/err" | grep -q "are kept" || fail "Ctrl-C: $(tail -1 "$work/err")"
[ -s "$QUIPU_STORE/lesegr-gt.gguf" ] || fail "no weights after Ctrl-C"

[ $failures = 0 ]
