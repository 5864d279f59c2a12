#!/bin/sh
# GraphRAG's communities and reports, given to an index, are what graphrag reads: compared with what a folder of
# tools/from-graphrag --reports says. Communities cross the graph's own parts, so that none of Leiden's can pass for one.
set -eu
. "$(dirname "$0")/../served.sh"
made='--embedder hash'

cat >write.py <<'P'
import csv, json, os
os.makedirs("set")
parts = {0: (0, "abcdef"), 1: (0, "gh"), 2: (1, "adf"), 10: (1, "bce")}  # community -> level, members; i is in none
long = " ".join(f"word{i}." for i in range(1200))  # several passages
texts = {0: "# All\n\nThe wool trade.", 1: "# Two\n\nHerring prices rose.", 2: "# Three\n\n" + long, 10: "Bel, Cat, Eva."}
names = dict(zip("abcdefghi", "Ada Bel Cat Dan Eva Fay Gil Hob Ian".split()))
units = {f"u{i}": f"{names[x]} met {names[y]} in spring." for i, (x, y) in enumerate(["ab", "bc", "ca", "de", "ef", "fd", "gh", "hi", "cd"])}
with open("set/corpus.jsonl", "w") as f:
    f.writelines(json.dumps({"_id": u, "title": "", "text": t}) + "\n" for u, t in units.items())
    f.writelines(json.dumps({"_id": f"report:{c}", "title": "", "text": texts[c], "community": c, "level": level}) + "\n" for c, (level, _) in parts.items())
    f.write(json.dumps({"_id": "report:north", "title": "", "text": "No report of a community.", "community": "north"}) + "\n")
with open("set/nodes.csv", "w") as f:
    csv.writer(f).writerows([("name", "type", "description"), *((n, "PERSON", "") for n in names.values())])
with open("set/edges.csv", "w") as f:
    csv.writer(f).writerows([("source", "target", "weight", "description"), *((t.split()[0], t.split()[2], 1, t) for t in units.values())])
with open("set/mentions.tsv", "w") as f:
    f.write("entity\tdocument\n")
    f.writelines(f"{n}\t{u}\n" for u, t in units.items() for n in (t.split()[0], t.split()[2]))
    f.writelines(f"{names[m]}\treport:{c}\n" for c, (_, members) in parts.items() for m in members)
json.dump({str(c): t for c, t in texts.items()}, open("texts.json", "w"))
P
python3 write.py
$QUIPU -s s index -q $made -o chunk_size=600 -o overlap=100 set >/dev/null
$QUIPU -s s check -q >/dev/null
ask() { # OPTIONS... QUESTION: what is reported, then the documents found
    $QUIPU -s s retrieve -q $made --json -m graphrag -o tokens=100000 "$@" >out.json
    python3 -c '
import json
out = json.load(open("out.json"))
texts = json.load(open("texts.json"))
rest = out.get("report", "")
found = sorted((rest.find(t), c) for c, t in texts.items() if t in rest)
for _, c in found:
    rest = rest.replace(texts[c], "")
print(*(c for _, c in found), "other" if rest.strip() else "")
print(*(h["document"] for h in out["hits"]))'
}
reports() { wanted=$1; shift; ask "$@" >told; [ "$(head -1 told | xargs)" = "$wanted" ] || fail "reports $wanted were wanted of $*: $(head -1 told)"; }

# local: the smallest communities of the entities found, or the larger ones; an entity in none has none
reports 10 -o k=1 Bel
reports 0 -o k=1 -o level=0 Bel
reports 2 -o k=1 Fay
reports 1 -o k=1 Hob
reports "" -o k=1 Ian
reports other -o k=1 -o reports=drawn Bel
reports 10 -o k=1 -o reports=given Bel

# global and drift: every report of the level, the nearest first
reports "0 1" -o mode=global -o level=0 "Gil and Hob in the wool trade." # what the report says, not its community's relations
reports "1 0" -o mode=global -o level=0 "Ada and Bel on herring prices."
for mode in global drift; do
    ask -o mode=$mode "Bel, Cat, Eva." >told
    case $(head -1 told | xargs) in "10 1 2" | "10 2 1") ;; *) fail "$mode: the nearest of all reports were wanted, found $(head -1 told)" ;; esac
done

# a report is no passage to graphrag, whosever reports are read
has "$($QUIPU -s s retrieve -q $made --json -m vector "Bel, Cat, Eva.")" '"document":"report:10"'
for mode in local global drift basic; do
    for whose in given drawn; do
        ask -o mode=$mode -o reports=$whose "Bel, Cat, Eva." >told
        case $(tail -1 told) in *report:[0-9]* | '') fail "$mode, $whose: wanted passages, found $(tail -1 told)" ;; esac
    done
done
ask -o mode=basic -o k=100 "No report of a community." >told
has "$(tail -1 told)" report:north

# a writer reads it
python3 -c '
import sys
from chat import serve
def say(asked):
    open("asked", "a").write(asked)
    return "80 [1] Eva knows.\n"
serve(say)' &
server=$!
while [ ! -s port ]; do sleep .05; done
$QUIPU -s s retrieve -q $made --writer "openai:some@http://127.0.0.1:$(cat port)/v1" --json -m graphrag -o mode=global "Bel?" >out.json
has "$(cat out.json)" '"report":"Eva knows."'
has "$(cat asked)" "[1] Bel, Cat, Eva."

# a report that goes leaves its entities to the larger community; without any, there are Leiden's
$QUIPU -s s delete -q report:10 >/dev/null
reports 0 -o k=1 Bel
$QUIPU -s s delete -q report:0 report:1 report:2 >/dev/null
reports other -o k=1 Bel
refused 2 "tools/from-graphrag" -- $QUIPU -s s retrieve $made -m graphrag -o reports=given Bel
