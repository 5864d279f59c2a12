#!/bin/sh
# What programs that call quipu rely on: a run that is refused changes nothing, JSON is JSON, a line is there when its question is
# answered.
set -eu
. "$(dirname "$0")/../apart.sh"
hash="--quiet --embedder hash"

# ---- refused: no trace ----
$QUIPU index $hash -s s "$notes" >/dev/null 2>&1
before=$($QUIPU stats -s s --json)
for given in nowhere "$notes nowhere" "$notes -o nope=1" "$notes -o overlap=999"; do
    refused 2 "" -- $QUIPU index -q -s s --embedder none $given
    refused 2 "" -- $QUIPU index $hash -s new $given
    [ ! -e new ] || fail "index $given: left $(ls new)"
done
[ "$before" = "$($QUIPU stats -s s --json)" ] || fail "a refused run changed $before into $($QUIPU stats -s s --json)"
$QUIPU retrieve -q -s s -m hybrid knots >/dev/null || fail "the embedder of a refused run is asked for"

# ---- refused on the way: what was taken stays ----
printf '{"_id":"a","text":"a cord"}\n{"_id":\n' >broken.jsonl
refused 2 "broken.jsonl" -- $QUIPU index $hash --strict -s begun "$notes" broken.jsonl
has "$($QUIPU index --embedder hash -s begun "$notes" 2>&1)" "0 documents added, 0 changed, 4 unchanged"

# ---- another embedder, stopped on the way: what is published is read with its own ----
mkdir many
for i in $(seq 300); do printf '{"_id":"d%s","text":"the cord %s is of wool"}\n' "$i" "$i"; done >many/corpus.jsonl
$QUIPU index -q -s s --embedder openai:none@http://127.0.0.1:9 many >/dev/null 2>&1 && fail "an embedder that is not there embeds"
$QUIPU retrieve -q -s s -m hybrid knots >/dev/null || fail "the embedder of a failed run is asked for"

# ---- JSON is UTF-8, whatever a file is called ----
mkdir odd
cp "$notes/knots.md" "odd/$(printf 'a\377b').md"
$QUIPU index $hash -s odd.s odd >/dev/null 2>&1
$QUIPU retrieve $hash -s odd.s --json "$(printf 'knots \376')" | python3 -c '
import json, sys
d = json.loads(sys.stdin.buffer.read().decode())
assert "\ufffd" in d["query"] and "a\ufffdb" in d["hits"][0]["id"], d'

# ---- one line for each question, at once, with the same members ----
python3 - <<'P'
import json, os, subprocess
for verb in "retrieve", "ask":
    p = subprocess.Popen([os.environ["QUIPU"], verb, "-q", "-s", "s", "--embedder", "hash", "-m", "bm25", "--json", "--queries", "-"],
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    lines = []
    for question in "knots", "zyzzyva":
        p.stdin.write(json.dumps({"_id": question, "text": question}) + "\n")
        p.stdin.flush()
        lines.append(json.loads(p.stdout.readline()))
    p.stdin.close()
    assert p.wait(10) == 0
    found, none = lines
    assert found["hits"] and none["hits"] == [] and list(found) == list(none), lines
P
echo "contract: kept"
