#!/bin/sh
# Answers measured: evidence among passages, ROUGE-L, and a judge that a local server plays. Without model files.
set -eu
. "$(dirname "$0")/../served.sh"
mkdir set
printf '%s\n' '{"_id":"d1","title":"","text":"The quipu kept records with knots on cords."}' \
    '{"_id":"d2","title":"","text":"Rain fell on the mountains of Peru."}' >set/corpus.jsonl
printf '%s\n' '{"_id":"q1","text":"what kept records with knots"}' >set/queries.jsonl
printf '%s\n' '{"_id":"q1","answers":["The quipu kept records."],"evidence":["The quipu kept records with knots; Nobody wrote letters on leather"]}' >set/answers.jsonl
$QUIPU index --quiet --embedder hash -s s set >out

mean() { python3 -c 'import json,sys; m=json.load(open("out"))["methods"][0]["metrics"]; print(round(next(x["mean"] for x in m if x["metric"]==sys.argv[1]) if isinstance(m,list) else m[sys.argv[1]]["mean"], 4))' "$1"; }
$QUIPU eval set -q -s s --embedder hash -m bm25 -o task=evidence --json >out
[ "$(mean evidence@1)" = 0.5 ] || fail "evidence@1: $(mean evidence@1)"

# A judge: says 1 of two answers in one order, 0.5 in the other; finds every statement.
cat >judge.py <<'P'
from chat import serve
asked = 0
def say(prompt):
    global asked
    if "First answer" not in prompt:
        return "yes"
    asked += 1
    return "1" if asked % 2 else "0.5"
serve(say)
P
python3 judge.py &
server=$!
for _ in $(seq 200); do [ -s port ] || sleep 0.3; done
$QUIPU eval set -q -s s --embedder hash -m bm25 -o task=answers -o extract=true -o judge="openai:judge@http://127.0.0.1:$(cat port)/v1" --json >out
[ "$(mean acc)" = 0.75 ] || fail "acc: $(mean acc)"
[ "$(mean cov) $(mean fs)" = "1.0 1.0" ] || fail "cov, fs"
grep -q "openai:judge@" out || fail "the report does not name the judge: $(grep judge out)"

# Pairwise, in both orders: who likes what is read first likes neither; who likes what is long says so twice.
cat >judge.py <<'P'
import sys
from chat import serve
def say(prompt):
    first, second = (prompt.split(f"{n} answer: ")[1].split("\n")[0] for n in ("First", "Second"))
    open("asked", "a").write("x\n")
    return "1" if sys.argv[1] == "first" or len(first) > len(second) else "2"
serve(say)
P
mkdir pairs
cp set/queries.jsonl set/answers.jsonl pairs/
printf '%s\n' '{"_id":"d1","title":"","text":"The quipu kept records with knots on cords."}' \
    '{"_id":"d2","title":"","text":"The knots on leather kept records with letters that nobody wrote."}' >pairs/corpus.jsonl
$QUIPU index --quiet --embedder hash -s p pairs >out
answers='-m bm25:top=1,bm25:top=2 -o task=answers -o extract=true -o metrics=win,f1'
for likes in first long; do
    kill $server
    rm -f port
    python3 judge.py $likes & server=$!
    for _ in $(seq 200); do [ -s port ] || sleep 0.3; done
    judge="openai:judge@http://127.0.0.1:$(cat port)/v1"
    $QUIPU eval pairs -q -s p --embedder hash $answers -o judge="$judge" --html $likes.html --json >$likes
    [ "$(wc -l <asked)" = 2 ] || fail "a pair is asked about twice, not $(wc -l <asked) times"
    rm asked
done
wins() { python3 -c 'import json,sys; print(*(m["metrics"]["win"]["mean"] for m in json.load(open(sys.argv[1]))["methods"]))' $1; }
[ "$(wins first)" = "0.5 0.5" ] || fail "who likes the first: $(wins first)"
[ "$(wins long)" = "0.5 1.0" ] || fail "who likes the long: $(wins long)"
grep -q '"win_against": "bm25:top=1"' long && grep -q '"win_prompt": "judge-better.txt"' long || fail "the report does not say who was compared how"
grep -q "win against bm25:top=1 by judge-better.txt" long.html || fail "the page does not"
echo 'only {first}' >prompt.txt
refused 2 "has no {second}" -- $QUIPU eval pairs -q -s p --embedder hash $answers -o judge="$judge" -o win_prompt=prompt.txt

refused 2 "prompt.txt: has no {question}" -- $QUIPU ask -q -s p --embedder hash -m zero-shot -o prompt=prompt.txt --writer "$judge" knots

refused 2 "wants a judge" -- $QUIPU eval set -q -s s --embedder hash -m bm25 -o task=answers -o extract=true -o metrics=acc

# Beside qrels.tsv the metrics choose the task, where they all want one; none is 0 for want of what another task makes.
cp -r set judged
printf 'query-id\tcorpus-id\tscore\nq1\td1\t1\n' >judged/qrels.tsv
eval="$QUIPU eval judged -q -s s --embedder hash -m bm25 -o extract=true"
$eval -o metrics=f1,rouge_l --json >out
grep -q '"task": "answers"' out || fail "f1 is of answers: $(grep '"task"' out)"
[ "$(mean f1)" != 0.0 ] || fail "f1: an answer was quoted"
$eval -o metrics=evidence@1 --json >out
[ "$(mean evidence@1)" = 0.5 ] || fail "evidence@1 beside qrels.tsv: $(mean evidence@1)"
$eval -o task=answers -o metrics=f1,recall@1,evidence@1 --json >out
[ "$(mean recall@1)" = 1.0 ] || fail "rankings are there whatever the task: $(mean recall@1)"
refused 2 "metric 'f1' wants the task answers, this one is retrieval: give -o task=answers" -- $eval -o metrics=recall@1,f1
refused 2 "metric 'em' wants the task answers, this one is retrieval: give -o task=answers" -- $eval -o task=retrieval -o metrics=em
refused 2 "metric 'sub_f1' wants the task graph" -- $eval -o task=answers -o metrics=sub_f1
refused 2 "metric 'win' wants a judge" -- $eval -o metrics=win
sed -i 's/,"evidence".*/}/' judged/answers.jsonl
refused 2 "metric 'evidence@1' wants the task evidence" -- $eval -o metrics=recall@1,evidence@1
echo "answers: measured"
