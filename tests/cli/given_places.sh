#!/bin/sh
# Triples given beside the texts that they are from: vectors of entities and facts out of the passages, without model
# files. The hash embedder knows words alone, so where a fact is its own words in a passage, the vector of its place is
# that of its text, bit for bit, if no place is missed by a byte.
set -eu
. "$(dirname "$0")/../served.sh"
export QUIPU
index="$QUIPU index --quiet --embedder hash"
snapshot() { echo "$1/$(tr -d '\n' <"$1/CURRENT" | sed 's/ .*//')"; }
embedded() { sed -n 's/^\([0-9]*\) texts embedded.*/\1/p' out; }
# DATA NAME: indexed both ways, into NAME.embedded and NAME.pooled
both() {
    for facts in embedded pooled; do
        $index -o facts=$facts -s "$2.$facts" "$1" >out 2>err || fail "index: $(cat err)"
        embedded >"$2.$facts.n"
    done
}

mkdir plain
cat >plain/corpus.jsonl <<'D'
{"_id": "d1", "title": "The Qhapaq road", "text": "Étienne saw the keeper of knots in Cusco. The chasqui carried red cords to Quito."}
{"_id": "d2", "title": "", "text": "Red cords, it is said, bound Quito. The keeper of knots counted llamas."}
{"_id": "d3", "title": "Llamas", "text": "Llamas graze above Cusco. Red cords reached Quito."}
D
printf 'head\trelation\ttail\tpassage\n' >plain/triples.tsv
printf 'chasqui\tcarried\tRed Cords\td1\nétienne\tsaw the\tkeeper of knots\td1\nkeeper of knots\tcounted\tllamas\td2\n' >>plain/triples.tsv
both plain plain
cmp "$(snapshot plain.embedded)" "$(snapshot plain.pooled)" || fail "a place is not where its fact stands"
# 3 passages and 3 relations; of the 5 entities and 3 facts none
[ "$(cat plain.pooled.n)" = 6 ] || fail "wanted 6 texts embedded, found $(cat plain.pooled.n)"
[ "$(cat plain.embedded.n)" = 14 ] || fail "wanted 14 texts embedded, found $(cat plain.embedded.n)"
$index -s plain.pooled plain >out
[ "$(embedded)" = "" ] || [ "$(embedded)" = 0 ] || fail "indexed again, texts were embedded: $(cat out)"

# ---- HippoRAG's extractions say where entities stand: their words are looked for all the same, and that leads nowhere ----
mkdir told
python3 - <<'P'
import json
passages = [json.loads(line) for line in open("plain/corpus.jsonl")]
triples = [line.rstrip("\n").split("\t") for line in open("plain/triples.tsv")][1:]
json.dump({"docs": [{"idx": p["_id"], "passage": p["text"], "extracted_triples": [t[:3] for t in triples if t[3] == p["_id"]]}
                    for p in passages]}, open("told/openie_results_ner_x.json", "w"))
P
both told told
cmp "$(snapshot told.embedded)" "$(snapshot told.pooled)" || fail "a place among HippoRAG's is not where its fact stands, or leads there"
[ "$(cat told.pooled.n)" = 6 ] || fail "wanted 6 of HippoRAG's texts embedded, found $(cat told.pooled.n)"

# ---- names that do not stand there: embedded as texts ----
cp -r plain missing
printf 'keeper of knots\tlives in\tLake Titicaca\td1\nViracocha\tmade\tLake Titicaca\td9\nÉtienne\tnever saw\tQuito\td2\n' >>missing/triples.tsv
both missing missing
# beside the 6: 2 entities, 3 relations, 3 facts
[ "$(cat missing.pooled.n)" = 14 ] || fail "wanted 14 texts embedded, found $(cat missing.pooled.n)"
cmp "$(snapshot missing.embedded)" "$(snapshot missing.pooled)" || fail "what stands nowhere is not its own text"

# ---- the document that is named, not another; none is there that is named: the least span of all ----
for case in "d3 reached same" "d1 reached other" "d1 to same" "d9 reached other" "d9 to same"; do
    set -- $case
    mkdir "case.$1.$2"
    cp plain/corpus.jsonl "case.$1.$2"
    printf 'head\trelation\ttail\tpassage\nred cords\t%s\tQuito\t%s\n' "$2" "$1" >"case.$1.$2/triples.tsv"
    both "case.$1.$2" "$1.$2"
    if cmp -s "$(snapshot "$1.$2.embedded")" "$(snapshot "$1.$2.pooled")"; then found=same; else found=other; fi
    [ $found = "$3" ] || fail "a fact of $1, '$2': its vector is of $found words"
done

# ---- a slow twin says what the words of each fact's least span are: those are its relation ----
mkdir twin
python3 - <<'P'
import itertools, json, random
random.seed(5)
words = ["cord", "knot", "llama", "road", "keeper", "cusco", "quito", "rope", "north", "gold", "stone", "bridge"]
texts = {f"d{i:02}": [random.choice(words) for _ in range(random.randint(2, 40))] for i in range(30)}
with open("twin/corpus.jsonl", "w") as f:
    f.writelines(json.dumps({"_id": d, "title": "", "text": " ".join(t)}) + "\n" for d, t in texts.items())

def least(a, b, documents):
    """Of the spans from one to the other the least in letters, then the first."""
    spans = [(len(" ".join(t[min(i, j):max(i, j) + 1])), d, min(i, j), max(i, j)) for d, t in texts.items() if d in documents
             for i, x in enumerate(t) if x == a for j, y in enumerate(t) if y == b]
    return min(spans, default=None)

n = 0
with open("twin/triples.tsv", "w") as f:
    f.write("head\trelation\ttail\tpassage\n")
    for a, b in itertools.permutations(words, 2):
        document = random.choice([*texts, "elsewhere"])
        found = least(a, b, [document] if document in texts else texts)
        between = " ".join(texts[found[1]][found[2] + 1:found[3]]) if found else "is far from"
        if between:
            f.write(f"{a}\t{between}\t{b}\t{document}\n")
            n += found is not None
assert n > 40, n
P
both twin twin
cmp "$(snapshot twin.embedded)" "$(snapshot twin.pooled)" || fail "the twin finds facts elsewhere"
[ "$(cat twin.pooled.n)" -lt "$(($(cat twin.embedded.n) - 40))" ] || fail "the twin's facts were embedded one by one"

# ---- a document gone, come, changed: as if never otherwise ----
cp -r missing set
printf 'red cords\thung in\tQuito\td1\nred cords\tbound\tQuito\t\n' >>set/triples.tsv # their vectors are of other words
$index -s grown set >out
$QUIPU delete --quiet -s grown d3 >/dev/null
sed 3d missing/corpus.jsonl >set/corpus.jsonl
$index -s two set >out
cmp "$(snapshot two)" "$(snapshot grown)" || fail "a deleted document left a trace in the vectors of given facts"
cp missing/corpus.jsonl set/
$index -s two set >out
$index -s fresh set >out
cmp "$(snapshot two)" "$(snapshot fresh)" || fail "an added document gives another index than a fresh one"
sed 1d missing/corpus.jsonl >set/corpus.jsonl # where most of the places were
$QUIPU delete --quiet -s two d1 >/dev/null
$index -s without set >out
cmp "$(snapshot without)" "$(snapshot two)" || fail "places of a deleted document are still there"
$index -o facts=embedded -s missing.pooled missing >out
cmp "$(snapshot missing.embedded)" "$(snapshot missing.pooled)" || fail "facts=embedded left places there"
$QUIPU check -s two >/dev/null

# ---- no vectors of triples: no places of facts; and back ----
$index -o triples=no -s none case.d1.reached >out
$index -o triples=auto -s none case.d1.reached >out
cmp "$(snapshot none)" "$(snapshot d1.reached.pooled)" || fail "vectors of triples that came later are others"
echo "given triples: vectors out of the passages that have their words"
