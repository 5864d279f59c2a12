"""kill.py KILLS SEED: an index is changed by `quipu index` and `quipu delete`, each killed with SIGKILL at a random moment.

After every kill the index is opened by a new process: `quipu check` is clean, and every document that a finished run
acknowledged is found by its word (BM25), by its vector, and over its link. The run is then repeated to its end. No text
is embedded twice: an embedder that counts serves the vectors, and only the batch that was under way at a kill may be
asked for again. At the end the index is, byte for byte, one made in one go.
"""
import glob
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DOCUMENTS, DIM = 300, 24
BATCH = 128  # EMBED_BATCH of src/ingest/ingest.c: what is embedded between two commits
kills, seed = int(sys.argv[1]), int(sys.argv[2])
draw = random.Random(seed)
quipu = os.environ["QUIPU"]
work = tempfile.mkdtemp()
source, store = work + "/notes", work + "/store"
asked = {}  # run -> texts it asked vectors for, in order
lock = threading.Lock()


def fail(message):
    sys.exit(f"FAILED (seed {seed}): {message}")


# ---- the embedder: a text's vector is that of its word ----

def word(i, version):
    return "z" + "".join("bcdfghjklm"[int(c)] for c in f"{i:03d}{version:03d}") + "k"


def vector(text):
    own = [w for w in text.replace("\n", " ").split() if w.startswith("z")]
    return random.Random(zlib.crc32(own[-1].encode())).choices(range(-9, 10), k=DIM) if own else [1] * DIM


class Embedder(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # one packet an answer: two would wait for each other

    def log_message(self, *_):
        pass

    def do_POST(self):
        try:
            texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
            run = self.headers["Authorization"].split()[-1]
            with lock:
                asked.setdefault(run, []).extend(t for t in texts if "\n" in t)  # others: questions, and the first word
            body = json.dumps({"data": [{"index": i, "embedding": vector(t)} for i, t in enumerate(texts)]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except OSError:
            self.close_connection = True


server = ThreadingHTTPServer(("127.0.0.1", 0), Embedder)
server.daemon_threads = True
server.handle_error = lambda *_: None
threading.Thread(target=server.serve_forever, daemon=True).start()
embedder = f"openai:words@http://127.0.0.1:{server.server_port}/v1"


# ---- runs of quipu ----

runs = 0
done = set()  # texts whose vectors were kept for sure


def start(arguments, into=store):
    global runs
    runs += 1
    environment = dict(os.environ, OPENAI_API_KEY=f"run{runs}", QUIPU_STORE=into, no_proxy="*")
    return subprocess.Popen([quipu, *arguments, "--quiet", "--embedder", embedder, "--sparse", "hash"], env=environment,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(arguments, into=store):
    child = start(arguments, into)
    out, err = child.communicate()
    if child.returncode:
        fail(f"{arguments}: exit {child.returncode}: {err}")
    return out


def count_embedded(finished):
    """A batch is committed when the next one is asked for; of a finished run, all are."""
    with lock:
        texts = list(asked.get(f"run{runs}", []))
    if len(set(texts)) < len(texts) or done & set(texts):
        fail(f"embedded twice: {[t for t in texts if t in done or texts.count(t) > 1][0]!r}")
    done.update(texts if finished else texts[:max(len(texts) - 1, 0) // BATCH * BATCH])


def kill(arguments, moment):
    """Killed after `moment` seconds; negative: so long after the new snapshot began to be written."""
    child = start(arguments)
    while moment < 0 and child.poll() is None and not glob.glob(store + "/snapshot-*.tmp"):
        time.sleep(.0002)
    try:
        child.wait(abs(moment))
    except subprocess.TimeoutExpired:
        child.kill()
    child.communicate()
    time.sleep(.01)  # what was on its way to the embedder arrives
    count_embedded(child.returncode == 0)
    if child.returncode not in (0, -9):
        fail(f"{arguments}: exit {child.returncode} where it was killed")
    return child.returncode == -9


# ---- what must be found ----

def hits(name, method, questions, k):
    with open(work + "/questions.jsonl", "w") as f:
        f.writelines(json.dumps({"_id": i, "text": t}) + "\n" for i, t in questions)
    out = finish(["retrieve", "-m", method, "-k", str(k), "--json", "--queries", work + "/questions.jsonl"])
    found = [json.loads(line) for line in out.splitlines()]
    if len(found) != len(questions):
        fail(f"{name}: {len(found)} of {len(questions)} questions were answered")
    return [[h["document"] for h in q.get("hits", [])] for q in found]


def key(i):
    return f"notes/d{i:03d}.md"


def verify(certain):
    """certain: documents with the version each must have."""
    out = subprocess.run([quipu, "check", "-s", store], capture_output=True, text=True)
    if out.returncode:
        fail(f"check: {out.stderr}")
    questions = [(key(i), word(i, v)) for i, v in certain.items()]
    for name, method in (("BM25", "bm25"), ("vector", "vector")):
        for (wanted, _), found in zip(questions, hits(name, method, questions, 1)):
            if found != [wanted]:
                fail(f"{name}: {wanted} was wanted, {found} was found")
    for (wanted, _), found in zip(questions, hits("learned terms", "splade", questions, 5)):
        if wanted not in found:  # the hash model gives some words the same number
            fail(f"learned terms: {wanted} was wanted, {found} was found")
    linked = {i: v for i, v in certain.items() if (i + 1) % DOCUMENTS in certain}
    questions = [(key(i), word(i, v)) for i, v in linked.items()]
    for i, found in zip(linked, hits("graph", work + "/next.yaml", questions, 10)):
        if key((i + 1) % DOCUMENTS) not in found:
            fail(f"graph: {key(i)} links to its next, {found} was found")


# ---- the life of an index ----

def write(i, version):
    with open(f"{source}/d{i:03d}.md", "w") as f:
        f.write(f"# Note {i}\n\nThe word of this note is {word(i, version)} and\nso on: [next](d{(i + 1) % DOCUMENTS:03d}.md).\n")


os.mkdir(source)
with open(work + "/next.yaml", "w") as f:
    f.write("name: next\nsteps:\n  - {op: search, index: node.bm25, k: 1}\n"
            "  - {op: hop, hops: 1, edges: link, direction: out}\n")
versions = {i: 0 for i in range(DOCUMENTS)}
for i in versions:
    write(i, 0)
finish(["index", source])
count_embedded(True)
verify(versions)

killed, rounds, lengths = 0, 0, {"index": .2, "delete": .1}
while killed < kills:
    rounds += 1
    if rounds > 3 * kills + 10:
        fail(f"of {rounds} runs only {killed} could be killed")
    if draw.random() < .6 or len(versions) < DOCUMENTS // 2:
        touched = draw.sample(range(DOCUMENTS), draw.choice((5, 150, 250)))
        after = {**versions, **{i: max(versions.get(i, 0), rounds) for i in touched}}
        for i in touched:
            write(i, after[i])
        arguments = ["index", source]
    else:
        touched = draw.sample(sorted(versions), draw.choice((1, 20)))
        after = {i: v for i, v in versions.items() if i not in touched}
        for i in touched:
            os.remove(f"{source}/d{i:03d}.md")
        arguments = ["delete", *map(key, touched)]
    wait = -draw.uniform(.0002, .01) if draw.random() < .4 else draw.uniform(0, lengths[arguments[0]])
    if kill(arguments, wait):
        killed += 1
        verify({i: v for i, v in versions.items() if i not in touched})
        began = time.time()
        finish(["index", source])  # also ends a delete: its files are gone
        count_embedded(True)
        if arguments[0] == "index":
            lengths["index"] = .5 * lengths["index"] + .5 * (time.time() - began)
    versions = after
    if killed % 10 == 0:
        verify(versions)

verify(versions)
finish(["index", source], work + "/fresh")
made = [open(glob.glob(f"{folder}/snapshot-*.qp")[0], "rb").read() for folder in (store, work + "/fresh")]
if made[0] != made[1]:
    fail("the index is not the one that was never killed")
left = [name for name in os.listdir(store) if name.endswith(".tmp")]
if left:
    fail(f"left behind: {left}")
shutil.rmtree(work)
print(f"killed {killed} times in {rounds} runs; {len(done)} texts embedded, none twice")
