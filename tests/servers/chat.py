"""A chat service for shell tests: serve(say) answers each request by say(its last message), streamed as one event; a number is sent as
a status instead. Several are answered at a time. Its port stands in the file `port` as soon as it listens. Standard library only."""
import http.server
import json
import os


def serve(say):
    class Chat(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            said = say(json.loads(self.rfile.read(int(self.headers["Content-Length"])))["messages"][-1]["content"])
            if isinstance(said, int):
                self.send_response(said)
                self.end_headers()
                return
            body = b"data: " + json.dumps({"choices": [{"delta": {"content": said}}]}).encode() + b"\n\ndata: [DONE]\n\n"
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Chat)
    with open("port.tmp", "w", encoding="ascii") as file:
        print(server.server_port, file=file)
    os.rename("port.tmp", "port")
    server.serve_forever()
