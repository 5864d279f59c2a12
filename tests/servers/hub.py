"""A model hub that misbehaves on purpose: `hub.py FOLDER` serves the folder's files as /FAULT/OWNER/NAME/resolve/REVISION/PATH,
by a redirect to where the bytes lie, as the real one does, with the SHA-256 in X-Linked-ETag. GET / answers what was asked
for: [path, range, bytes sent]. Prints its port, then serves until its standard input ends. Standard library only.
"""
import hashlib
import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

folder = sys.argv[1]
log = []
turns = {}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, body=b"", headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path == "/":
            return self.reply(200, json.dumps(log).encode())
        if self.path == "/clear":
            log.clear()
            turns.clear()
            return self.reply(200)
        fault, rest = self.path[1:].split("/", 1)
        turns[self.path] = turns.get(self.path, 0) + 1
        try:
            if rest.startswith("cdn/"):
                return self.send_file(fault, rest[4:], turns[self.path])
            return self.resolve(fault, rest, turns[self.path])
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def resolve(self, fault, rest, turn):
        name = rest.split("/resolve/", 1)[1].split("/", 1)[1]
        path = os.path.join(folder, name)
        if fault == "missing" or not os.path.exists(path):
            return self.reply(404, b"Entry not found")
        if fault == "gated":
            return self.reply(401, b"Access is restricted")
        if fault == "storm" or (fault == "storm-once" and turn == 1):
            return self.reply(503)
        if fault == "loop":
            return self.reply(302, headers=[("Location", self.path)])
        if fault == "file":
            return self.reply(302, headers=[("Location", "file:///etc/hostname")])
        digest = hashlib.sha256(open(path, "rb").read()).hexdigest()
        headers = [("Location", "/%s/cdn/%s" % (fault, name))]
        if fault == "liar":
            digest = digest[::-1]
        if fault != "silent":
            headers.append(("X-Linked-ETag", '"%s"' % digest))
        return self.reply(302, headers=headers)

    def send_file(self, fault, name, turn):
        data = open(os.path.join(folder, name), "rb").read()
        wanted = self.headers.get("Range")
        start = int(wanted[6:].split("-")[0]) if wanted and fault != "norange" else 0
        entry = [name, wanted, 0]
        log.append(entry)
        if start and start >= len(data):
            return self.reply(416, headers=[("Content-Range", "bytes */%d" % len(data))])
        body = data[start:]
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(body)))
        if start:
            self.send_header("Content-Range", "bytes %d-%d/%d" % (start, len(data) - 1, len(data)))
        self.end_headers()
        if fault == "cut" and turn <= 2:
            self.wfile.write(body[:len(body) // 3])
            entry[2] = len(body) // 3
            self.close_connection = True
            return None
        if fault == "flip":
            body = body[:-1] + bytes([body[-1] ^ 1])
        step = 4096 if fault == "slow" else len(body)
        for at in range(0, len(body), step):
            self.wfile.write(body[at:at + step])
            self.wfile.flush()
            entry[2] += len(body[at:at + step])
            if fault == "slow":
                time.sleep(.02)
        return None


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """A client that goes away is no news here."""


server = Server(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
