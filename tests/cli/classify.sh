#!/bin/sh
# Labels: the best passage's without a writer, candidates once each; a file, many texts, another field; the task of eval.
set -eu
. "$(dirname "$0")/../apart.sh"
mkdir set
cat >set/corpus.jsonl <<'J'
{"_id": "a", "title": "", "text": "The heart pumps blood through arteries. Blood carries oxygen. The heart pumps blood.", "label": "medicine", "year": 7}
{"_id": "b", "title": "", "text": "A compiler translates programs into machine code. Programs run on a processor. A compiler translates programs.", "label": "computing", "year": 8}
{"_id": "c", "title": "", "text": "Veins return blood to the heart, a compiler does not.", "label": "medicine", "year": 9}
J
cat >set/queries.jsonl <<'J'
{"_id": "1", "text": "which arteries carry blood"}
{"_id": "2", "text": "machine code of programs"}
{"_id": "3", "text": "oxygen in the heart"}
J
cat >set/answers.jsonl <<'J'
{"_id": "1", "answers": ["medicine"]}
{"_id": "2", "answers": ["medicine"]}
{"_id": "3", "answers": ["computing"]}
J
"$QUIPU" index --quiet --embedder hash -o graph=text -o spans=ngrams -o tau=0 -s s set
label() { "$QUIPU" classify -s s --json "$@" | python3 -c 'import json,sys; r = json.load(sys.stdin); print(r["method"], r["label"], *(l["label"] + "@" + l["id"] for l in r["labels"]), r["writer"])'; }
said=$(label "arteries carry oxygen and blood")
case $said in "agrag medicine medicine@a"*"None") ;; *) fail "with the graph: $said" ;; esac
said=$(label -m bm25 "programs of a compiler")
[ "$said" = "bm25 computing computing@b#0 medicine@c#0 None" ] || [ "$said" = "bm25 computing computing@b medicine@c None" ] || fail "bm25: $said"
said=$(label -m bm25 --label year "programs of a compiler")
case $said in "bm25 8 8@b"*) ;; *) fail "another field: $said" ;; esac
echo "machine code of programs" >text.txt
said=$(label -m bm25 text.txt)
case $said in "bm25 computing "*) ;; *) fail "a file: $said" ;; esac
[ "$("$QUIPU" classify -s s --json -m bm25 --queries set/queries.jsonl | wc -l)" = 3 ] || fail "many"
"$QUIPU" classify -s s --quiet -m bm25 "machine code" | grep -q "^computing" || fail "for people"

code=0
"$QUIPU" classify -s s -m bm25 --label genre "machine code" 2>err || code=$?
[ $code = 3 ] && grep -q "carries a 'genre'" err || fail "no such field: $code $(cat err)"
code=0
"$QUIPU" classify -s s 2>err || code=$?
[ $code = 1 ] || fail "no text: $code"
: >empty.txt
code=0
"$QUIPU" classify -s s empty.txt 2>err || code=$?
[ $code = 2 ] && grep -q "empty" err || fail "an empty file: $code $(cat err)"

# Right: 1 of 3; recall 1/2 of medicine, 0 of computing: macro 1/4. F1 of medicine 2/(2 + 2), of computing 0: 1/4, as scikit-learn's.
"$QUIPU" eval -s s --quiet --json -m bm25 -o task=labels set | python3 -c '
import json, sys
m = json.load(sys.stdin)["methods"][0]["metrics"]
for name, value in {"accuracy": 1 / 3, "macro_recall": 1 / 4, "macro_f1": 1 / 4}.items():
    assert abs(m[name]["mean"] - value) < 1e-9, m'
echo ok
