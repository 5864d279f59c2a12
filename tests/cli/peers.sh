#!/bin/sh
# The methods that AGRAG is compared with, without model files: what they return is what a slow twin works out from the texts and
# triples alone. The twin takes the order of entities and of relations by vectors, and ties among equals, from Quipu.
set -eu
. "$(dirname "$0")/../apart.sh"
export QUIPU

cat >twin.py <<'P'
import json, os, random, subprocess, threading
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

random.seed(5)
NAMES = [a + b for a in ("bar", "cil", "dum", "fen", "gor", "hix", "jul", "kam") for b in ("ona", "eth", "iva", "ust")]
VERBS = ["saw", "made", "left", "met"]
QUESTION = "who met barona and saw gorust"
texts = [" ".join(random.choice(NAMES) if random.random() < .4 else "word" for _ in range(30)) + "." for _ in range(40)]
triples = {(h, random.choice(VERBS), t): random.randint(1, 3) for h, t in (random.sample(NAMES, 2) for _ in range(60))}
os.mkdir("set")
with open("set/corpus.jsonl", "w") as f:
    f.writelines(json.dumps({"_id": f"d{i:02}", "title": "", "text": t}) + "\n" for i, t in enumerate(texts))
with open("set/triples.tsv", "w") as f:
    f.writelines("\t".join((*t, str(w))) + "\n" for t, w in triples.items())

def quipu(*args):
    return subprocess.run([os.environ["QUIPU"], *args], capture_output=True, check=True, text=True).stdout

quipu("index", "--quiet", "--embedder", "hash", "-s", "s", "set")

def ask(method, *options, flags=(), question=QUESTION):
    out = json.loads(quipu("retrieve", "-q", "--embedder", "hash", "-s", "s", "--json", "-m", method, "-k", "1000",
                           *flags, *(x for o in options for x in ("-o", o)), question))
    edges = [(e["source"], e["relation"], e["target"]) for e in out["edges"]]
    return [h["id"].split("#")[0] for h in out["hits"]], edges, out

def found(index, k):
    with open("find.yaml", "w") as f:
        f.write(f"steps:\n  - {{op: search, index: {index}, k: {k}}}\n")
    return ask("find.yaml")

in_text = {f"d{i:02}": set(t.rstrip(".").split()) & set(NAMES) for i, t in enumerate(texts)}
near = defaultdict(set)
for h, _, t in triples:
    near[h].add(t)
    near[t].add(h)
degree = {v: len(n) for v, n in near.items()}

def strength(edge):
    return degree[edge[0]] + degree[edge[2]], triples[edge]

def at(entities):
    return [e for e in triples if e[0] in entities or e[2] in entities]

def units(entities, first=False):
    """Passages by the first entity they hold, then by relations of the entities to others there."""
    order, count = {}, defaultdict(int)
    for i, v in enumerate(entities):
        for d, held in in_text.items():
            if v in held:
                if d not in order or not first:
                    count[d] += len(near[v] & held)
                order.setdefault(d, i)
    return sorted(order, key=lambda d: (order[d], -count[d], d))

def told(edges):
    """The first relation that each passage holds both ends of."""
    first = {}
    for i, (h, _, t) in enumerate(edges):
        for d, held in in_text.items():
            if {h, t} <= held:
                first.setdefault(d, i)
    return first

entities = [h["id"] for h in found("entity.dense", 8)[2]["hits"]]
by_vector = found("triple.dense", 8)[1]
nearest = found("node.dense", 60)[0]
assert len(entities) == len(by_vector) == 8

# ---- lightrag ----
free = ["k=8", "relation_tokens=0", "entity_tokens=0", "passage_tokens=0"]
hits, edges, _ = ask("lightrag", "mode=local", *free)
assert hits == units(entities), (hits, units(entities))
assert sorted(edges) == sorted(at(entities))
assert [strength(e) for e in edges] == sorted(map(strength, edges), reverse=True)
local = hits, edges

hits, edges, _ = ask("lightrag", "mode=global", *free)
assert sorted(edges) == sorted(by_vector)
assert [strength(e) for e in edges] == sorted(map(strength, edges), reverse=True)
first = told(edges)
assert sorted(hits) == sorted(first) and [first[d] for d in hits] == sorted(first.values()), (hits, first)
assert ask("lightrag", "mode=global", "rank=found", *free)[1] == by_vector

def turns(*lists):
    out = []
    for i in range(max(map(len, lists))):
        out += [l[i] for l in lists if i < len(l)]
    return list(dict.fromkeys(out))

both = ask("lightrag", *free)
assert both[0] == turns(local[0], hits) and both[1] == turns(local[1], edges)
assert ask("lightrag", "mode=mix", *free)[0] == turns(nearest[:8], local[0], hits)
few = ask("lightrag", "mode=local", "k=8", "passage_tokens=100", "relation_tokens=20")
assert 0 < len(few[0]) < len(local[0]) and few[0] == local[0][:len(few[0])]
assert 0 < len(few[1]) < len(local[1]) and few[1] == local[1][:len(few[1])]
picked = ask("lightrag", "mode=local", "pick=nearest", "related=2", *free)[0]
assert picked == [d for d in nearest if d in local[0]][:8], (picked, nearest)

# ---- a writer parts the question, and one that does not is not believed ----
class Writer(BaseHTTPRequestHandler):
    says = ""
    asked = []

    def log_message(self, *_):
        pass

    def do_POST(self):
        self.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        delta = {"choices": [{"delta": {"content": self.says}, "message": {"content": self.says}, "finish_reason": "stop"}]}
        body = json.dumps(delta).encode()
        if self.asked[-1].get("stream"):
            body = b"data: " + body + b"\n\ndata: [DONE]\n\n"
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if self.asked[-1].get("stream") else "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

server = ThreadingHTTPServer(("127.0.0.1", 0), Writer)
threading.Thread(target=server.serve_forever, daemon=True).start()
WRITER = "--writer", f"openai:some@http://127.0.0.1:{server.server_port}/v1"

Writer.says = "high: saw, left\nlow: kamust, fenona\n"
parted = ask("lightrag", *free, flags=WRITER)
low, high = ask("lightrag", "mode=local", *free, question="kamust, fenona"), ask("lightrag", "mode=global", *free, question="saw, left")
assert parted[1] == turns(low[1], high[1]) != both[1]
assert parted[0][0] == low[0][0] and set(parted[0]) == set(low[0]) | set(high[0])
assert QUESTION in Writer.asked[-1]["messages"][-1]["content"] and "grammar" in Writer.asked[-1]
Writer.says = "I am sorry, that is not for me to say."
assert ask("lightrag", *free, flags=WRITER)[:2] == both[:2]

# ---- an answer is written from passages, and what the graph says is read before them ----
Writer.says = "It met a word [1]."
for method in "lightrag", "pathrag":
    out = json.loads(quipu("ask", "-q", "--embedder", "hash", "-s", "s", "--json", "-m", method, *WRITER, QUESTION))
    prompt = Writer.asked[-1]["messages"][-1]["content"]
    assert out["citations"][0]["id"].startswith("d") and "Facts of a graph" in prompt and " -> " in prompt.split("\n[1]\n")[0], prompt

# ---- pathrag: every path by the rules of flow, by a twin ----
def flows(start, alpha, theta):
    """S and hop of what the flow reaches, and who hands on."""
    resource, hop, layer = {start: 1}, {start: 0}, [start]
    while layer:
        new = {}
        for u in layer:
            if resource[u] / len(near[u]) >= theta:
                for v in near[u]:
                    if v not in hop:
                        new[v] = new.get(v, 0) + alpha * resource[u] / len(near[u])
        hop.update({v: hop[layer[0]] + 1 for v in new})
        resource.update(new)
        layer = list(new)
    return resource, hop

def paths(entities, alpha, theta):
    out = {}
    for start in entities:
        S, hop = flows(start, alpha, theta)
        stack = [[start]]
        while stack:
            path = stack.pop()
            if len(path) > 1 and path[-1] in entities:
                score = sum(S[v] for v in path) / (len(path) - 1)
                key = min(tuple(path), tuple(path[::-1]))
                out[key] = max(score, out.get(key, 0))
            u = path[-1]
            if S[u] / len(near[u]) >= theta:
                stack += [path + [v] for v in near[u] if hop.get(v) == hop[u] + 1]
    return out

for alpha, theta in ((.7, .05), (.9, .001)):
    hits, edges, out = ask("pathrag", "n=8", f"alpha={alpha}", f"theta={theta}", "k=12", "global=false", "passage_tokens=0")
    twins = paths(entities, alpha, theta)
    scores = sorted(twins.values(), reverse=True)[:12]
    assert len(out["paths"]) == len(scores) > 2, (len(out["paths"]), len(scores))
    for p, score in zip(out["paths"], scores):
        assert abs(p["score"] - score) < 1e-5
        assert abs(twins[min(tuple(p["nodes"]), tuple(p["nodes"][::-1]))] - score) < 1e-5
    on_paths = [e for p in out["paths"] for e in zip(p["nodes"], p["nodes"][1:])]
    first = told([(a, "", b) for a, b in on_paths])
    assert set(hits[:len(first)]) == set(first) and hits[len(first):] == [d for d in units(entities) if d not in first]

assert ask("pathrag", "n=8", "k=12", "global=false", "passages=entities", "passage_tokens=0")[0] == units(entities)

# ---- graphrag: local search, by the twin; global and drift by what must hold of them ----
def links(edge):
    """Between two of the entities; else how many of them the other end is joined to."""
    h, _, t = edge
    return 99 if h in entities and t in entities else len(near[t if h in entities else h] & set(entities))

free = ["k=8", "tokens=1000000000"]
hits, edges, out = ask("graphrag", "relations=1000", *free)
assert hits == units(entities, first=True)
rank = [(links(e), *strength(e)) for e in edges]
assert sorted(edges) == sorted(at(entities)) and rank == sorted(rank, reverse=True), rank
few = ask("graphrag", "relations=2", *free)[1]
assert few == edges[:len(few)] and len(few) == sum(r[0] == 99 for r in rank) + 2 * len(entities), (len(few), rank)
told_of = [l for l in out["report"].split("\n") if not l.startswith("Community of ")]
assert told_of and len(told_of) == len(set(told_of)) and {tuple(l.split(" -> ")) for l in told_of} <= set(triples)

all_by_vector = found("triple.dense", 1000)[1]
place = {e: i for i, e in enumerate(all_by_vector)}
assert len(place) == len(triples)
hits, edges, _ = ask("graphrag", "mode=global", "level=0", "points=20", *free)
assert 0 < len(edges) < len(triples) and [place[e] for e in edges] == sorted(place[e] for e in edges)
first = told(edges)
assert sorted(hits) == sorted(first) and [first[d] for d in hits] == sorted(first.values())
fewer = ask("graphrag", "mode=global", "level=0", "points=1", *free)[1]
assert fewer[0] == edges[0] and len(fewer) < len(edges)
drift = ask("graphrag", "mode=drift", *free)
assert drift[0][0] == ask("graphrag", *free)[0][0] and set(drift[0]) >= set(ask("graphrag", *free)[0]) and drift[2]["report"]
assert ask("graphrag", "mode=basic", "k=8")[0] == nearest[:8]

Writer.says, Writer.asked = "20 [1] a lesser point\n90 [2] the main point\n70 [9999] of no report\nand so on\n", []
out = ask("graphrag", "mode=global", "level=0", *free, flags=WRITER)
assert out[2]["report"] == "the main point\na lesser point" and out[1] and len(Writer.asked) == 1
assert "[2] Community of" in Writer.asked[0]["messages"][-1]["content"] and "grammar" in Writer.asked[0]
ask("graphrag", "mode=global", "level=0", "tokens=200", flags=WRITER)
assert len(Writer.asked) > 3, "reports that do not fit are read in batches"
Writer.says, Writer.asked = "All about barona.", []
out = ask("graphrag", "reports=written", *free, flags=WRITER)[2]["report"]
assert out == Writer.says and len(Writer.asked) > 1, "said twice is told once"
Writer.asked = []
assert ask("graphrag", "mode=drift", "followups=2", "depth=2", *free, flags=WRITER)[0]
assert [QUESTION in a["messages"][-1]["content"] for a in Writer.asked] == [True, False]

# ---- a graph without passages, and passages without a graph of entities ----
os.mkdir("graph")
os.rename("set/triples.tsv", "graph/triples.tsv")
quipu("index", "--quiet", "--embedder", "hash", "-s", "graph.s", "graph")
with open("set/edges.tsv", "w") as f:
    f.write("src\tdst\ttype\tweight\n" + "".join(f"d{i:02}\td{i * 7 % 40:02}\tcites\t1\n" for i in range(1, 40)))
quipu("index", "--quiet", "--embedder", "hash", "-s", "set.s", "-o", "graph=links", "set")
for store in "graph.s", "set.s":
    for method in ("naive", "lightrag", "lightrag:mix", "pathrag", "graphrag", "graphrag:global", "graphrag:drift", "graphrag:basic"):
        name, _, mode = method.partition(":")
        if store == "set.s" and mode in ("global", "drift"):
            refused = subprocess.run([os.environ["QUIPU"], "retrieve", "--embedder", "hash", "-s", store, "-m", name, "-o",
                                      f"mode={mode}", QUESTION], capture_output=True, text=True)
            assert refused.returncode == 2 and "graph=text" in refused.stderr, refused
            continue
        out = json.loads(quipu("retrieve", "-q", "--embedder", "hash", "-s", store, "--json", "-m", name,
                               *(["-o", f"mode={mode}"] if mode else []), QUESTION))
        assert out["hits"], (store, method)

# ---- hipporag2 on passages alone: PageRank from all of them, by similarity ----
def scores(method, *options):
    out = quipu("retrieve", "-q", "--embedder", "hash", "-s", "set.s", "--json", "-m", method, "-k", "40", *options, QUESTION)
    return {h["id"].split("#")[0]: h["score"] for h in json.loads(out)["hits"]}

cosine = scores("vector")
low, high = min(cosine.values()), max(cosine.values())
start = {d: (c - low) / (high - low) for d, c in cosine.items()}
start = {d: w / sum(start.values()) for d, w in start.items()}
beside = defaultdict(set)
for i in range(1, 40):
    if i != i * 7 % 40:
        beside[f"d{i:02}"].add(f"d{i * 7 % 40:02}")
        beside[f"d{i * 7 % 40:02}"].add(f"d{i:02}")
rank = dict(start)
for _ in range(100):
    loose = sum(p for d, p in rank.items() if not beside[d])
    rank = {d: .5 * w + .5 * (sum(rank[n] / len(beside[n]) for n in beside[d]) + loose * w) for d, w in start.items()}
got = scores("hipporag2", "-o", "top=40")
assert len(cosine) == 40 and all(abs(got.get(d, 0) - rank[d]) < 1e-5 for d in rank), (got, rank)

# ---- naive ----
assert ask("naive", "tokens=0")[0] == nearest
assert 0 < len(ask("naive", "tokens=100")[0]) < 5
P
python3 twin.py
echo "the peers: as the twin works them out"
