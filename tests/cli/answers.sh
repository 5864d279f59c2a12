#!/bin/sh
# Answers measured: evidence among passages, ROUGE-L, and a judge that a local server plays. Without model files.
set -eu
work=$(mktemp -d)
trap 'kill $server 2>/dev/null || :; rm -rf "$work"' EXIT
server=
fail() { echo "FAILED: $*" >&2; exit 1; }
cd "$work"
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
import http.server, json, sys
asked = 0
class Judge(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        global asked
        prompt = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["messages"][-1]["content"]
        said = "yes"
        if "First answer" in prompt:
            asked += 1
            said = "1" if asked % 2 else "0.5"
        body = b"data: " + json.dumps({"choices": [{"delta": {"content": said}}]}).encode() + b"\n\ndata: [DONE]\n\n"
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *args):
        pass
s = http.server.HTTPServer(("127.0.0.1", 0), Judge)
print(s.server_port, flush=True)
s.serve_forever()
P
python3 judge.py >port &
server=$!
for _ in $(seq 200); do [ -s port ] || sleep 0.3; done
$QUIPU eval set -q -s s --embedder hash -m bm25 -o task=answers -o extract=true -o judge="openai:judge@http://127.0.0.1:$(cat port)/v1" --json >out
[ "$(mean acc)" = 0.75 ] || fail "acc: $(mean acc)"
[ "$(mean cov) $(mean fs)" = "1.0 1.0" ] || fail "cov, fs"
grep -q "openai:judge@" out || fail "the report does not name the judge: $(grep judge out)"
code=0
$QUIPU eval set -q -s s --embedder hash -m bm25 -o task=answers -o extract=true -o metrics=acc >out 2>err || code=$?
[ $code = 2 ] && grep -q "wants a judge" err || fail "no judge: $code $(cat err)"
echo "answers: measured"
