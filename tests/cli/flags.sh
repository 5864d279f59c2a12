#!/bin/sh
# Flags, the config file, files of questions and of results: what is wrong is told with its place, before any long work.
set -eu
. "$(dirname "$0")/../apart.sh"
export QUIPU_STORE="$work/store"
find="$QUIPU retrieve --embedder hash -m bm25"
$QUIPU index --quiet --embedder hash "$notes" >/dev/null

refused 1 "'-d' is no flag here" -- $QUIPU index -s s -dash.txt
refused 1 "'--jsn' is no flag here" -- $find --jsn knots
refused 1 "'--json=5' takes no value" -- $find --json=5 knots
refused 1 "'--store' wants a value" -- $QUIPU ask --store
refused 1 "store: DIR was wanted, ''" -- $QUIPU ask -s "" knots
refused 1 "from 1 to 2147483647" -- $find -k 100000000000 knots
refused 1 "both were found" -- $find --queries q.jsonl knots

for wrong in 'top: x' 'top: [1]' 'methd: bm25' 'json: yes' 'where:'; do
    printf 'quiet: true\n%s\n' "$wrong" >my.yaml
    refused 2 "my.yaml:2: " -- $find --config my.yaml knots
done
printf -- '- a\n' >my.yaml
refused 2 "my.yaml:1: config: a mapping" -- $find --config my.yaml knots

printf '%s\n' '{"_id":7,"text":"knots"}' '{"_id":"b","text":" "}' '{"_id":"c","text":"xyzzy"}' >q.jsonl
code=0; $find --json --queries q.jsonl >out 2>err || code=$?
[ $code = 2 ] || fail "an empty question in a file: exit $code"
has "$(sed -n 1p out)" '{"_id":"7",'
has "$(cat err)" 'q.jsonl:2: a question was wanted'
has "$(cat err)" 'q.jsonl:3: nothing was found'
: >q.jsonl
refused 2 "q.jsonl: a question a line was wanted" -- $find --queries q.jsonl

# Where a result cannot be written it is said before hours of evaluation; what is no plain file is written to, not replaced.
mkdir set
printf '{"_id":"q","text":"knots"}\n' >set/queries.jsonl
printf 'query-id\tcorpus-id\tscore\nq\tnotes/knots.md\t1\n' >set/qrels.tsv
eval="$QUIPU eval set --embedder hash -m bm25"
refused 2 "/nowhere/page.html: cannot be written" -- $eval --html /nowhere/page.html
refused 2 "set: cannot be written" -- $eval --run set
mkfifo pipe
cat pipe >page & $eval --quiet --html pipe >/dev/null && wait $!
[ -p pipe ] && has "$(head -c 15 page)" "<!doctype html>"
printf 'query-id\tcorpus-id\tscore\nq\telsewhere\t1\n' >set/qrels.tsv
has "$($eval 2>&1)" "none of its relevant documents is in the index"

# The manual says what a method needs and what can be measured; a mistake in its use, what to do instead.
has "$($QUIPU help lego:3)" "needs: embedder, writer"
has "$($QUIPU help lego:16)" "reported by the writer"
has "$($QUIPU help eval)" "rouge_l_f "
refused 2 "compares several" -- $QUIPU retrieve --embedder hash -m bm25,vector knots
printf 'steps:\n  - {op: repeat, times: 2}\n' >my.yaml
refused 2 "my.yaml:2: a repeat is written" -- $QUIPU retrieve --embedder hash -m my.yaml knots
has "$($QUIPU help model)" "pooling "
has "$($QUIPU help bm25 --no-color --quiet)" "bm25 - "
[ "$($QUIPU help bm25 --json)" = "$($QUIPU methods bm25 --json)" ] || fail "help of a method as JSON"
has "$($QUIPU help delete --json)" '{"name":"delete","args":"DOC..."'
has "$($QUIPU help --json | python3 -c 'import json, sys; print(*(v["name"] for v in json.load(sys.stdin)))')" "index delete ask"
for words in --version --help help "index --help" "help index"; do
    code=0; $QUIPU $words >/dev/full 2>err || code=$?
    [ $code = 2 ] || fail "$words to a full output: exit $code"
    has "$(cat err)" "standard output cannot be written"
done

# A document that is named twice goes once; what is counted are documents and graphs, and those of a folder go by its name.
mkdir records
printf '%s\n' '{"_id":"a","text":"one"}' '{"_id":"b","text":"two"}' '{"_id":"c","text":"three"}' >records/corpus.jsonl
printf 'head\trelation\ttail\nrope\tmade of\themp\n' >records/triples.tsv
$QUIPU index -q -s r --embedder hash records >/dev/null
[ "$($QUIPU delete -q -s r --json b b)" = '{"deleted":1}' ] || fail "the same id twice"
refused 3 "no document, and no graph" -- $QUIPU delete -q -s r records/triples.tsv
[ "$($QUIPU delete -q -s r --json records)" = '{"deleted":1}' ] || fail "a graph by its folder: $($QUIPU stats -s r)"
[ "$($QUIPU delete -q -s r a c)" = '2 deleted' ] || fail "two documents"
echo "flags: told"
