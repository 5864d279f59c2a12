#!/bin/sh
# A graph out of plain text, without model files: the entities and relations are those of a slow twin; a document that
# comes or goes leaves what a fresh index would have.
set -eu
. "$(dirname "$0")/../served.sh"
export QUIPU
index="$QUIPU index --quiet --embedder hash -o graph=text"

cat >twin.py <<'P'
"""AGRAG's entities by the formula, relations and mentions of a sentence, for texts of small letters, spaces and full stops."""
import json, math, os, random, subprocess, sys
from collections import Counter

random.seed(7)
STOP = ["the", "of", "and", "in", "was"]
WORDS = [a + b for a in "bcdfgklmn" for b in ("ara", "ilo", "umo")]
folder = "texts"
os.mkdir(folder)
texts = []
for i in range(40):
    sentences = [" ".join(random.choice(STOP) if random.random() < .3 else WORDS[int(len(WORDS) * random.random() ** 2)]
                          for _ in range(random.randint(3, 14))).capitalize() + "." for _ in range(random.randint(2, 9))]
    texts.append(sentences)
    with open(f"{folder}/{i:02}.txt", "w") as f:
        f.write(" ".join(sentences))
with open("corpus.jsonl", "w") as f:  # without titles
    f.writelines(json.dumps({"_id": f"d{i:02}", "title": "", "text": " ".join(t)}) + "\n" for i, t in enumerate(texts))

def grams(words, b):
    for i in range(len(words)):
        for n in range(1, b + 1):
            run = words[i:i + n]
            if len(run) == n and run[0] not in STOP and run[-1] not in STOP:
                yield " ".join(run)

def twin(b, tau, literal, once):
    chunks = [[s.lower().rstrip(".").split() for s in t] for t in texts]
    counts = [Counter(g for s in c for g in grams(s, b)) for c in chunks]
    df = Counter(g for c in counts for g in c)
    T = len(chunks)
    entities = set()
    for words, count in zip(chunks, counts):
        length = sum(map(len, words))
        er = {g: n / (length * math.log(T + 1)) * math.log((T + 1) / (df[g] + 1)) for g, n in count.items()}
        unit = 1 if literal else max(er.values(), default=1)
        entities |= {g for g in er if er[g] / unit > tau and (once or df[g] > 1 or count[g] > 1)}
    mentions = sum(g in entities for count in counts for g in count)
    facts = set()
    for c in chunks:
        for s in c:
            found, i = [], 0
            while i < len(s):
                best = max((n for n in range(1, b + 1) if i + n <= len(s) and " ".join(s[i:i + n]) in entities), default=0)
                if best:
                    found.append((i, i + best, " ".join(s[i:i + best])))
                i += best or 1
            for (_, x, head), (y, _, tail) in zip(found, found[1:]):
                if head != tail:
                    facts.add((head, " ".join(s[x:y][:12]) or "next to", tail))
    return entities, mentions, facts

for b, tau, er, spans in [(3, .5, "relative", "both"), (1, .3, "relative", "ngrams"), (5, .7, "relative", "both"),
                          (3, .04, "literal", "ngrams"), (2, .5, "relative", "ngrams")]:
    subprocess.run([os.environ["QUIPU"], "index", "--quiet", "--embedder", "hash", "-s", "s", "-o", "graph=text", "-o", f"b={b}",
                    "-o", f"tau={tau}", "-o", f"er={er}", "-o", f"spans={spans}", "corpus.jsonl"], check=True, stdout=subprocess.DEVNULL)
    stats = json.loads(subprocess.run([os.environ["QUIPU"], "stats", "-s", "s", "--json"], capture_output=True, check=True).stdout)
    entities, mentions, facts = twin(b, tau, er == "literal", spans == "ngrams")
    types = Counter(r for _, r, _ in facts)
    assert entities and facts, (b, tau, er)
    assert stats["entities"] == len(entities), (b, tau, er, stats["entities"], len(entities))
    got = {k.lower(): 0 for k in stats["edge_types"]}
    for k, n in stats["edge_types"].items():
        got[k.lower()] += n
    assert got.pop("contains") == mentions, (b, tau, er)
    got.pop("next", None)
    got.pop("synonym", None)
    assert got == types, (b, tau, er, {k: (got.get(k), types.get(k)) for k in got.keys() | types.keys() if got.get(k) != types.get(k)})
P
python3 twin.py || fail "the twin draws another graph"

# ---- one document gone, come, changed, a run killed: as if never otherwise ----
snapshot() { echo "$1/$(tr -d '\n' <"$1/CURRENT" | sed 's/ .*//')"; }
for facts in embedded pooled; do
    rm -rf one fresh grown changed killed
    mkdir one && cp texts/0*.txt texts/1*.txt one/
    $index -o facts=$facts -s fresh one >out
    cp texts/25.txt one/ && $index -o facts=$facts -s grown one >out
    $QUIPU delete --quiet -s grown one/25.txt >/dev/null
    cmp "$(snapshot fresh)" "$(snapshot grown)" || fail "a deleted text left a trace in the graph (facts=$facts)"
    rm one/25.txt && cp texts/26.txt one/05.txt && $index -s grown one >out && $index -o facts=$facts -s changed one >out
    cmp "$(snapshot grown)" "$(snapshot changed)" || fail "a changed text left a trace in the graph (facts=$facts)"
    $QUIPU check -s grown >/dev/null
    for ms in 010 020 030 040 060 080; do
        timeout --foreground -s KILL "0.$ms" $index -o facts=$facts -s killed one >out 2>&1 || true
    done
    $index -o facts=$facts -s killed one >out
    cmp "$(snapshot killed)" "$(snapshot changed)" || fail "a killed run left a trace in the graph (facts=$facts)"
done

# ---- pooled: each fact from where it stands. The hash embedder knows words alone, so the vectors of texts and of their
# places are the same bits, if no place is missed by a byte ----
mkdir places
printf '# Knots of the Inca\n\nThe keeper of the knots counted llamas. A keeper made cords for the Inca.\n\n## Cords\n\nÉtienne saw red cords; the cords were tied by the keeper.\n' >places/a.md
printf '%s\n' '{"_id": "1", "title": "The llamas of Étienne", "text": "Étienne counted the llamas. The knots of the llamas were red."}' \
    '{"_id": "2", "title": "", "text": "A keeper counted the knots for Étienne. Cords are red."}' >places/b.jsonl
for facts in embedded pooled; do
    $index -o tau=0 -o facts=$facts -s "places.$facts" places >out
done
cmp "$(snapshot places.embedded)" "$(snapshot places.pooled)" || fail "a place is not where its text stands"
$index -o facts=embedded -s places.pooled places >out # and back
cmp "$(snapshot places.embedded)" "$(snapshot places.pooled)" || fail "facts=embedded left places there"

# An embedder that tells no tokens: each fact is read by itself, and that is said; not where it was asked for.
cat >embedder.py <<'P'
import http.server, json, os
class Embedder(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
        body = json.dumps({"data": [{"index": i, "embedding": [1, len(t) % 7, len(t) % 5]} for i, t in enumerate(texts)]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *args):
        pass
s = http.server.HTTPServer(("127.0.0.1", 0), Embedder)
with open("port.tmp", "w") as f:
    print(s.server_port, file=f)
os.rename("port.tmp", "port")
s.serve_forever()
P
python3 embedder.py & server=$!
for _ in $(seq 200); do [ -s port ] || sleep 0.3; done
remote="$QUIPU index --embedder openai:e@http://127.0.0.1:$(cat port)/v1 -o graph=text"
$remote -s remote places >out 2>err || fail "an embedder over HTTP: $(cat err)"
grep -q 'gives no vectors of tokens' err || fail "nothing was said of facts embedded one by one: $(cat err)"
$remote -o facts=embedded -s remote.said places >out 2>err
lacks "$(cat err)" 'gives no vectors of tokens' # it was asked for
cmp "$(snapshot remote)" "$(snapshot remote.said)" || fail "another index where it was not asked for"
kill $server
server=

# ---- names, and what their words lead to ----
mkdir notes
echo 'Marie Curie was born in Warsaw. She lived in Paris with Pierre Curie.' >notes/a.txt
echo 'Later Marie Curie taught physics in Paris.' >notes/b.txt
for i in 1 2 3 4 5 6; do echo "The knots of cord $i kept a record." >notes/$i.txt; done # what stands everywhere is no entity
$index -s notes.s notes >out
out=$($QUIPU retrieve -q --embedder hash -s notes.s -m lego:1 --json "Where was Marie Curie born?")
printf '%s' "$out" | grep -q '"entities":\["marie curie"' || fail "the question's name was not found: $out"
printf '%s' "$out" | grep -q 'warsaw' || fail "no path to Warsaw: $out"
$QUIPU index --quiet --embedder hash -o graph=links -s notes.s notes >out
has "$($QUIPU stats -s notes.s --json)" '"entities":0' # the texts' graph went

# ---- aliases: both forms of an abbreviation, whatever its words weigh ----
mkdir alias
echo 'It is called peripheral motor and sensory neuropathy (PMSN) there. The tmn (what is it) was not seen.' >alias/a.txt
for i in 1 2 3 4; do echo "A case of pmsn was seen in ward $i." >alias/$i.txt; done
$index -s alias.s alias >out
stats=$($QUIPU stats -s alias.s --json)
printf '%s' "$stats" | grep -q '"abbreviated":1' || fail "an abbreviation joins nothing: $stats"
lacks "$stats" '"next to"' # besides
out=$($QUIPU retrieve -q --embedder hash -s alias.s -m lego:1 --json "What is peripheral motor and sensory neuropathy?")
printf '%s' "$out" | grep -q '"abbreviated"' || fail "no path to the short form: $out"
$index -o spans=ngrams -s alias.s alias >out
lacks "$($QUIPU stats -s alias.s --json)" '"abbreviated"' # spans=ngrams is the formula alone

# ---- what texts may be like ----
mkdir odd
yes word | head -20000 | tr '\n' ' ' >odd/one_word.txt
printf 'no end no stop %s' "$(seq -s ' and then ' 1 3000)" >odd/no_end.txt
python3 -c 'print("knot rope " * 200000, end="")' >odd/line.txt
printf 'int main(void)\n{\n    return knots[3] + ropes;\n}\n\n| knot | rope |\n|---|---|\n| 3 | 4 |\n' >odd/code.md
printf 'الكيبو سجل من العقد. العقد في الحبل. الكيبو من بيرو.\n' >odd/arabic.txt
printf '結び目の記録はキープと呼ばれる。結び目はロープにある。\n매듭 기록은 키푸라고 불린다. 매듭은 밧줄에 있다.\n' >odd/cjk.txt
$index -s odd.s odd >out || fail "odd texts"
$QUIPU check -s odd.s >/dev/null
echo "a graph out of texts: as the twin draws it"
