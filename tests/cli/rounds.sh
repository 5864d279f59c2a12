#!/bin/sh
# Many questions to a writer at a time: whatever the order, the delays and the refusals, the same index at the same price.
set -eu
. "$(dirname "$0")/../served.sh"
mkdir notes
for i in $(seq 1 40); do
    echo "The keeper Anna Nr$i met Bert Nr$((i % 7)) in Cusco. Bert Nr$((i % 7)) tied cords." >notes/$i.txt
done
for id in a b; do # the same question: the answer to one is the answer to both
    echo '{"_id": "'$id'", "title": "", "text": "The keeper Carl Nr1 met Dora Nr2 in Quito. Carl Nr1 tied cords."}'
done >notes/twice.jsonl
cat >writer.py <<'P'
import hashlib, threading, time
from chat import serve
lock, now, told = threading.Lock(), 0, set()
def say(prompt):
    global now, told
    how = open("how").read().strip()
    odd = hashlib.md5(prompt.encode()).digest()[0]
    with lock:
        now += 1
        with open("asked", "a") as f:
            f.write(f"{now}\n")
        limited = how == "limit" and odd % 4 == 0 and prompt not in told
        told |= {prompt} if how == "limit" else set()
    time.sleep({"mixed": odd / 2560, "slow": .4}.get(how, 0))
    with lock:
        now -= 1
    if limited:
        return 429
    if how == "gone" or (how == "some" and odd % 5 == 0):
        return 400
    listed = prompt.split("Entities:")[1].split("Text:")[0].strip().split("\n")
    return "".join(f"{a} | r{odd % 3} | {b}\n" for a, b in zip(listed, listed[1:]))
serve(say)
P
echo good >how
python3 writer.py & server=$!
for _ in $(seq 200); do [ -s port ] || sleep 0.1; done
index="$QUIPU index --embedder hash -o graph=text -o relations=writer --writer openai:w@http://127.0.0.1:$(cat port)/v1"
snapshot() { echo "$1/$(tr -d '\n' <"$1/CURRENT" | sed 's/ .*//')"; }
asked() { if [ -e asked ]; then wc -l <asked; else echo 0; fi; }
at_once() { sort -n asked | tail -1; }
same() { cmp "$(snapshot one)" "$(snapshot "$1")" && $QUIPU check -s "$1" >/dev/null || fail "$1: another index"; }

export QUIPU_HTTP_CONCURRENCY=1
has "$($index -q -s one notes)" "asked 41 times, 1 answers were there; 0 lines"
[ "$(at_once)" = 1 ] || fail "one at a time was two"
export QUIPU_HTTP_CONCURRENCY=6
for how in mixed limit; do
    echo $how >how
    rm -f asked
    has "$($index -q -s $how notes)" "asked 41 times, 1 answers were there; 0 lines"
    same $how
    [ $how = limit ] || { [ "$(at_once)" -gt 1 ] && [ "$(at_once)" -le 6 ]; } || fail "up to six at a time were wanted: $(at_once)"
done
[ "$(asked)" -gt 41 ] || fail "nothing was told to wait"

# What is refused is left out, said, and asked again, alone.
echo some >how
out=$($index -s some notes 2>err)
refused=$(printf '%s' "$out" | sed -n 's/.*given entities; \([0-9]*\) got no answer.*/\1/p')
[ "${refused:-0}" -gt 0 ] && [ "$refused" -lt 41 ] || fail "some were to be refused: $out"
has "$(cat err)" "$refused of 41 chunks"
has "$(cat err)" "HTTP 400"
$QUIPU check -s some >/dev/null
has "$($index -s some notes 2>err)" "asked $refused times, $((42 - refused)) answers were there"
has "$(cat err)" "$refused of $refused chunks"
echo good >how
rm asked
has "$($index -q -s some notes)" "asked $refused times, $((42 - refused)) answers were there"
[ "$(asked)" = "$refused" ] || fail "what was answered was asked again"
same some
has "$($index -q -s some notes)" "42 unchanged"
[ "$(asked)" = "$refused" ] || fail "a whole graph was asked about again"

# A writer that is gone is not asked forty times; stopped and killed runs go on.
echo gone >how
rm asked
refused 5 "HTTP 400" -- $index -q -s gone notes
[ "$(asked)" -lt 20 ] || fail "a writer that is gone was asked $(asked) times"
echo slow >how
rm asked
for signal in INT KILL INT; do
    before=$(asked)
    $index -q -s gone notes >out 2>err & run=$!
    for _ in $(seq 300); do [ "$(asked)" -gt "$before" ] && break; sleep 0.1; done
    kill -s $signal $run
    wait $run || :
    [ $signal = KILL ] || has "$(cat err)" "what is done is kept"
done
echo good >how
has "$($index -q -s gone notes)" "answers were there"
[ "$(asked)" -le 59 ] || fail "41 questions were paid $(asked) times" # but for six under way at each of the three ends
same gone
echo "questions to a writer, many at a time: one index, one price"
