#!/bin/sh
# Wrong things, typed as a new user would: one line on stderr each, the documented exit code, nothing lost.
set -u
notes=$(cd "$(dirname "$0")/../data/notes" && pwd)
reranker=$(ls "$(dirname "$0")"/../../models/quipu-rerank-*.gguf)
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
export QUIPU_STORE="$work/store"
failures=0

# refused CODE WORDS... -- COMMAND...: the exit code, one line on stderr, and each of the words in it.
refused() {
    wanted=$1; shift
    words=
    while [ "$1" != -- ]; do words="$words$1
"; shift; done
    shift
    "$@" >"$work/out" 2>"$work/err" </dev/null
    code=$?
    lines=$(wc -l <"$work/err")
    [ $code = "$wanted" ] || { echo "FAILED: exit $code, wanted $wanted: $* -- $(cat "$work/err")"; failures=$((failures + 1)); }
    [ "$lines" = 1 ] || { echo "FAILED: $lines lines on stderr: $* -- $(cat "$work/err")"; failures=$((failures + 1)); }
    printf '%s' "$words" | while read -r word; do
        grep -qF -- "$word" "$work/err" || echo "FAILED: '$word' not in: $(cat "$work/err") ($*)"
    done | tee -a "$work/missing"
}
q() { $QUIPU "$@"; }
E='--quiet --embedder hash'
H="$E --reranker hash"

refused 1 "verb" -- $QUIPU
for what in help methods ops; do
    refused 2 "'a?b?[31m'" -- $QUIPU $what "$(printf 'a\nb\033[31m')"
done
refused 1 "'a?b'" -- $QUIPU "$(printf 'a\nb')"
for wrong in TIMEOUT=abc DEADLINE=0 CONCURRENCY=1x; do
    refused 2 "QUIPU_HTTP_${wrong%=*} is '${wrong#*=}'" -- env QUIPU_HTTP_$wrong $QUIPU index $E --writer openai:w@http://127.0.0.1:9/v1 "$notes"
done
refused 1 "there is no verb 'indx'" -- $QUIPU indx
refused 1 "--frob" -- $QUIPU ask --frob x
refused 1 "-V" -- $QUIPU -V
refused 1 "QUESTION" -- $QUIPU ask
refused 1 "between quotes" -- $QUIPU ask what is a quipu
refused 1 "'pull' alone" -- $QUIPU model pull
refused 1 "'list' and more" -- $QUIPU model list all
refused 2 "method or operator 'legos'" -- $QUIPU help legos
$QUIPU help lego | grep -q "subgraph extraction" || echo "FAILED: help of a method" | tee -a "$work/missing"
$QUIPU help link | grep -q "entities that the question starts from" || echo "FAILED: help of an operator" | tee -a "$work/missing"
refused 4 "no index" "quipu" -- $QUIPU ask "anything"
refused 2 "nowhere" -- $QUIPU index $E "$work/nowhere"
mkdir "$work/empty"
refused 3 "$work/empty" -- $QUIPU index $E "$work/empty"
for source in junk.pdf empty.md -; do
    head -c 2000 /dev/urandom >"$work/junk.pdf"
    : >"$work/empty.md"
    name=$source; [ $source = - ] || name="$work/$source"
    refused 3 "$source: no document could be read" -- $QUIPU index $E -s "$work/fresh" "$name"
done
refused 2 "nofile.gguf: no such file" -- $QUIPU model import "$work/nofile.gguf"
refused 2 "nofolder: no such file" -- $QUIPU model import "$work/nofolder"

q index $E "$notes" >/dev/null || { echo "FAILED: indexing the notes"; exit 1; }
refused 2 "empty" -- $QUIPU retrieve $H -m bm25 "   "
refused 2 "65536" -- $QUIPU retrieve $H -m bm25 "$(head -c 100000 /dev/zero | tr '\0' 'a')"
refused 2 "fastinsigt" "fastinsight" -- $QUIPU retrieve $H -m fastinsigt "knots"
refused 2 "bta" "beta" -- $QUIPU retrieve $H -m fastinsight -o bta=1 "knots"
refused 2 "alpha" -- $QUIPU retrieve $H -m fastinsight -o alpha=7 "knots"
refused 2 "alpha" -- $QUIPU retrieve $H -m fastinsight -o alpha=x "knots"
refused 1 "KEY=VALUE" -- $QUIPU retrieve $H -o alpha "knots"
refused 2 "edges" -- $QUIPU retrieve $H -m fastinsight -o edges=nosuch "knots"
refused 2 "character 7" "a value" -- $QUIPU retrieve $H -m bm25 --where "year >" "knots"
refused 2 "character 8" "closing quote" -- $QUIPU retrieve $H -m bm25 --where "year = 'x" "knots"
refused 3 "no document has a field 'year'" "title" -- $QUIPU retrieve $H -m bm25 --where "year = 1" "knots"
refused 3 "did you mean 'title'" -- $QUIPU retrieve $H -m bm25 --where "format = 'x' or titl ~ 'knots'" "knots"
refused 3 "--where" -- $QUIPU retrieve $H -m bm25 --where "title = 'x'" "knots"
refused 2 "another embedder" -- $QUIPU retrieve --embedder hash:64 --reranker hash -m vector "knots"
refused 5 "nosuchmodel" -- $QUIPU retrieve --embedder nosuchmodel -m vector "knots"
refused 3 "unknown.md" -- $QUIPU delete $E unknown.md
printf 'not a model' >"$work/foreign.gguf"
refused 5 "foreign.gguf" -- $QUIPU retrieve --embedder "$work/foreign.gguf" -m vector "knots"
refused 5 "none.gguf" "No such file" -- $QUIPU retrieve $E --reranker "$work/none.gguf" -m rerank "knots"
head -c 3000000 "$reranker" >"$work/cut.gguf"
refused 5 "cut.gguf" "cut short" "fetch it again" -- $QUIPU retrieve $E --reranker "$work/cut.gguf" -m rerank "knots"
head -c 300 "$reranker" >"$work/cut.gguf"
refused 5 "cut.gguf" "cut short" -- $QUIPU retrieve $E --reranker "$work/cut.gguf" -m rerank "knots"
refused 2 "no learned terms" "index it again with --sparse" -- $QUIPU retrieve --embedder hash -m splade "knots"
refused 2 "no attention heads" "index it again with --heads" -- $QUIPU retrieve --embedder hash -m gear "knots"
refused 2 "no vectors of tokens" "index it again with -o tokens=yes" -- $QUIPU retrieve --embedder hash -m colbert "knots"
$QUIPU index $E --embedder none -s "$work/plain" "$notes" >/dev/null
for method in hybrid vector; do
    refused 2 "no vectors" "index it again with an embedder" -- $QUIPU retrieve -s "$work/plain" -m $method "knots"
done
refused 5 "sparse encoder was wanted" "weights no terms" -- $QUIPU index $E --sparse "$reranker" "$notes"
refused 5 "is a reranker" "embedder was wanted" -- $QUIPU retrieve --embedder "$reranker" -m vector "knots"
refused 2 "nosuch.yaml" -- $QUIPU retrieve $H -m "$work/nosuch.yaml" "knots"

# Two writers at once: the second is refused, and told by whom. (A held lock stands for a long index.)
# A store that is not ours.
mkdir "$work/foreign"
head -c 4096 /dev/urandom >"$work/foreign/truth.db"
refused 4 "truth.db" -- $QUIPU index $E -s "$work/foreign" "$notes"

# Broken files are reported and skipped; what is whole is indexed.
mkdir "$work/mixed"
cp "$notes/knots.md" "$work/mixed/"
head -c 2000 /dev/urandom >"$work/mixed/junk.pdf"
printf 'bad \377\376 utf-8 and a NUL \000 byte, but words still: cochineal\n' >"$work/mixed/odd.txt"
printf '%s\n' '{"_id":"a","text":"first record"}' '{"_id":' '{"_id":"a","text":"again"}' '{"_id":"c","text":"third record"}' \
    >"$work/mixed/records.jsonl"
$QUIPU index --embedder hash -s "$work/mixed.store" "$work/mixed" >"$work/out" 2>"$work/err" || echo "FAILED: exit $? with one bad file" | tee -a "$work/missing"
grep -q 'junk.pdf' "$work/err" || echo "FAILED: junk.pdf is not named: $(cat "$work/err")" | tee -a "$work/missing"
grep -q 'records.jsonl:2' "$work/err" || echo "FAILED: the broken line is not named: $(cat "$work/err")" | tee -a "$work/missing"
for word in cochineal first third; do
    $QUIPU retrieve -s "$work/mixed.store" --embedder hash -m bm25 --json "$word" >/dev/null 2>&1 || echo "FAILED: $word is not found" | tee -a "$work/missing"
done
$QUIPU index --quiet --strict --embedder hash -s "$work/strict.store" "$work/mixed" >/dev/null 2>&1 && echo "FAILED: --strict let a bad file pass" | tee -a "$work/missing"

# One hostile file each: a line that names it, the rest of the folder is there.
mkdir "$work/hostile"
cp "$notes/knots.md" "$work/hostile/"
head -c 3000 /dev/urandom >"$work/hostile/junk.docx"
printf 'PK\003\004 and no more' >"$work/hostile/cut.epub"
head -c 2000 /dev/zero | tr '\0' '\377' >"$work/hostile/bytes.txt"
yes '<div>' | head -n 5000 >"$work/hostile/deep.html"
head -c 100000 /dev/zero | tr '\0' '[' >"$work/hostile/deep.json"
: >"$work/hostile/empty.md"
ln -s nothing "$work/hostile/dangling.md"
ln -s .. "$work/hostile/circle"
head -c 1000000 /dev/zero | tr '\0' 'x' >"$work/hostile/line.txt"
out=$($QUIPU index --embedder hash -s "$work/hostile.store" "$work/hostile" 2>"$work/err") ||
    echo "FAILED: exit $? with hostile files" | tee -a "$work/missing"
for file in junk.docx cut.epub bytes.txt deep.html deep.json empty.md dangling.md; do
    [ "$(grep -c "$file" "$work/err")" = 1 ] || echo "FAILED: not one line for $file: $(cat "$work/err")" | tee -a "$work/missing"
done
printf '%s' "$out" | grep -q '^2 documents added.*, 7 could not be read' || echo "FAILED: $out" | tee -a "$work/missing"

# A data set with a broken line, an id twice, and an edge to nobody; a file again, unchanged, costs nothing.
mkdir "$work/set"
printf '%s\n' '{"_id":"a","text":"first"}' '{"_id":"b","text":' '{"_id":"a","text":"again"}' '{"_id":"c","text":"third"}' \
    >"$work/set/corpus.jsonl"
printf 'src\tdst\ttype\tweight\na\tc\tcites\t1\na\tnobody\tcites\t1\nnot an edge\n' >"$work/set/edges.tsv"
out=$($QUIPU index --embedder hash -s "$work/set.store" "$work/set" 2>"$work/err") ||
    echo "FAILED: exit $? with a broken data set" | tee -a "$work/missing"
for words in 'corpus.jsonl:2' "id 'a'" 'nobody' 'edges.tsv:4'; do
    grep -qF -- "$words" "$work/err" || echo "FAILED: '$words' not in: $(cat "$work/err")" | tee -a "$work/missing"
done
printf '%s' "$out" | grep -q '2 chunks and 1 edges' || echo "FAILED: $out" | tee -a "$work/missing"

[ "$failures" = 0 ] && ! [ -s "$work/missing" ]
