"""A model provider that misbehaves on purpose. The first part of the path names the fault:
http://127.0.0.1:PORT/FAULT/v1 is the base URL of a service that has it. Prints its port, then serves until its standard
input ends. Standard library only.

Good answers: an embedding is (length of the text, 1, 2, 3); a rerank score is how many words of the query a document has;
chat says the last message's words back, one an event.
"""
import json
import socket
import struct
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

calls = {}  # fault -> requests so far
active = {"now": 0, "most": 0}
limited = {"since": -9.}
lock = threading.Lock()


def good(path, request):
    if path.endswith("/embeddings"):
        data = [{"index": i, "embedding": [len(t), 1, 2, 3]} for i, t in enumerate(request["input"])]
        return {"object": "list", "data": data[::-1]}  # the order is free: the index counts
    if path.endswith("/api/embed"):
        return {"embeddings": [[len(t), 1, 2, 3] for t in request["input"]]}
    if path.endswith("/rerank"):
        words = request["query"].split()
        scores = [{"index": i, "relevance_score": float(sum(d.split().count(w) for w in words))}
                  for i, d in enumerate(request["documents"])]
        return {"results": sorted(scores, key=lambda s: -s["relevance_score"])}
    return None


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, body, status=200, headers=()):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def reset(self):
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def stream(self, request, path, fault):
        words = request["messages"][-1]["content"].split()
        ollama = path.endswith("/api/chat")
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson" if ollama else "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True

        def event(payload):
            line = json.dumps(payload)
            self.wfile.write((line + "\n" if ollama else "data: " + line + "\n\n").encode())
            self.wfile.flush()

        def word(text):
            event({"message": {"role": "assistant", "content": text}, "done": False} if ollama
                  else {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]})

        if fault == "echo":  # the request itself, for the test to look at
            words = [json.dumps(request)]
        while fault == "endless":
            word("on and on and on ")
        while fault == "comments":
            self.wfile.write(b": still here\n\n")
            time.sleep(.02)
        for i, w in enumerate(words):
            if i == 2 and fault == "cut":
                return
            if i == 2 and fault == "cut-once" and calls[fault] == 1:
                return
            if i == 2 and fault == "stream-error":
                return event({"error": "out of memory" if ollama else {"message": "out of memory"}})
            if i == 2 and fault == "stream-junk":
                self.wfile.write(b'data: {"choices": [{"delta"\n\n')
                return
            if fault == "slow":
                time.sleep(.1)
            word(w if i == 0 else " " + w)
        if ollama:
            event({"message": {"content": ""}, "done": True})
        else:
            self.wfile.write(b": a comment\n\nevent: end\n\ndata: [DONE]\n\n")

    def do_GET(self):
        self.reply({"calls": calls, "most": active["most"]})

    def do_POST(self):
        fault = self.path.split("/")[1]
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with lock:
            calls[fault] = calls.get(fault, 0) + 1
            turn = calls[fault]
            active["now"] += 1
            active["most"] = max(active["most"], active["now"])
        try:
            self.answer(fault, turn, request)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        finally:
            with lock:
                active["now"] -= 1

    def answer(self, fault, turn, request):
        probe = request.get("input") == ["dimension"]
        if "messages" in request and fault in ("good", "echo", "endless", "comments", "cut", "cut-once", "stream-error",
                                               "stream-junk", "slow"):
            return self.stream(request, self.path, fault)
        answer = good(self.path, request)
        whole = json.dumps(answer).encode()
        items = (answer or {}).get("data") or (answer or {}).get("results") or (answer or {}).get("embeddings")
        if fault == "good" or (probe and not fault.startswith("probe-")):
            return self.reply(answer)  # opening works; what is asked then does not
        if fault == "slow":
            time.sleep(.1)
            return self.reply(answer)
        if fault == "hang":
            return time.sleep(30)
        if fault == "drip":
            self.send_response(200)
            self.send_header("Content-Length", str(len(whole)))
            self.end_headers()
            for byte in whole:
                self.wfile.write(bytes([byte]))
                self.wfile.flush()
                time.sleep(.2)
            return None
        if fault == "reset" or (fault == "reset-twice" and turn <= 3):
            return self.reset()
        if fault in ("e401", "e403", "e404", "e400"):
            return self.reply({"error": {"message": "no: " + self.headers.get("Authorization", "")}}, int(fault[1:]))
        if fault == "e429" and turn <= 3:
            return self.reply({"error": "slow down"}, 429, [("Retry-After", "1")])
        if fault == "limited":  # one in five is told to wait; those that come meanwhile, but for what was on its way, are counted
            now = time.monotonic()
            with lock:
                calls["early"] = calls.get("early", 0) + (.2 < now - limited["since"] < .95)
                if turn % 5 == 3:
                    limited["since"] = now
            time.sleep(.02)
            if turn % 5 == 3:
                return self.reply({"error": "slow down"}, 429, [("Retry-After", "1")])
            return self.reply(answer)
        if fault == "e429-long":
            return self.reply({"error": "come back later"}, 429, [("Retry-After", "3600")])
        if fault == "storm" or (fault == "storm-twice" and turn <= 3):
            return self.reply(b"<html>oops</html>", 500 + turn % 4)
        if fault == "truncated" or (fault == "truncated-once" and turn <= 2):
            return self.reply(whole[:len(whole) // 2])
        if fault == "short" or (fault == "short-once" and turn <= 2):  # fewer bytes than announced
            self.send_response(200)
            self.send_header("Content-Length", str(len(whole)))
            self.end_headers()
            self.wfile.write(whole[:-5])
            self.close_connection = True
            return None
        if fault in ("huge", "probe-huge"):
            self.send_response(200)
            self.send_header("Connection", "close")
            self.end_headers()
            self.close_connection = True
            while True:
                self.wfile.write(b'{"data": [' + b" " * 65536)
        if fault == "prose":
            return self.reply(b"Sure! The answer is below.\n")
        if fault == "whole":  # not streamed, whatever was asked
            return self.reply({"choices": [{"message": {"content": "one two"}, "finish_reason": "stop"}]})
        if fault == "nested":
            return self.reply(b'{"data":' + b"[" * 100000 + b"]" * 100000 + b"}")
        if fault in ("nan", "text", "null", "overflow"):
            bad = {"nan": float("nan"), "text": "1", "null": None, "overflow": 1e300}[fault]
            for item in items:
                if "embedding" in item:
                    item["embedding"][2] = bad
                elif isinstance(item, dict):
                    item["relevance_score"] = bad
            return self.reply(answer)
        if fault == "zero":
            for item in items:
                item["embedding"] = [0, 0, 0, 0]
        if fault == "dimension":
            items[0]["embedding"] = [1, 2, 3]
        if fault == "count":
            items.pop()
        if fault == "twice":
            items[0]["index"] = items[-1]["index"]
        if fault == "range":
            items[0]["index"] = 1 << 40
        if fault == "other":
            answer = {"models": []}
        return self.reply(answer)


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """A client that goes away is no news here."""


server = Server(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
