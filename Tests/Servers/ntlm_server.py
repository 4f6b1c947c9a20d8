"""NTLM for the tests of OperationNetworking; what NTLM is, pyspnego knows.

    NTLM_USER_FILE=FILE ntlm_server.py PORT

FILE holds lines DOMAIN:USER:PASSWORD. Every path asks for NTLM and then belongs to the connection that proved who it
is, as [MS-NTHT] says. The answer's body is that of the request; X-User is who the client is, X-Connection the number
of the connection and of the request on it. Prints `CONNECTION REQUEST STATUS METHOD PATH USER` for each request before
it answers.
"""

import base64
import itertools
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import spnego
from spnego.exceptions import SpnegoError

numbers = itertools.count(1)


class Connection(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def setup(self):
        super().setup()
        self.number = next(numbers)
        self.requests = 0
        self.context = None
        self.user = None

    def challenge(self):
        """What to answer: None when the client is known, else the value of WWW-Authenticate."""
        scheme, _, token = self.headers.get("Authorization", "").partition(" ")
        if scheme.upper() != "NTLM":
            return None if self.user else "NTLM"
        try:
            if self.context is None or self.user:
                self.context, self.user = spnego.server(protocol="ntlm"), None
            answer = self.context.step(base64.b64decode(token))
        except (SpnegoError, ValueError):
            self.context = None
            return "NTLM"
        if not self.context.complete:
            return "NTLM " + base64.b64encode(answer).decode()
        self.user = self.context.client_principal
        return None

    def body(self):
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        pieces = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            pieces.append(self.rfile.read(size))
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass
        return b"".join(pieces)

    def answer(self):
        self.requests += 1
        try:
            body = self.body()
        except (ValueError, OSError):
            # The client left in the middle.
            self.close_connection = True
            return
        challenge = self.challenge()
        status = 401 if challenge else 200
        print(self.number, self.requests, status, self.command, self.path, self.user or "-", flush=True)
        if challenge:
            body = b"Who are you?\n"
        self.send_response(status)
        if challenge:
            self.send_header("WWW-Authenticate", challenge)
        self.send_header("X-User", self.user or "")
        self.send_header("X-Connection", f"{self.number} {self.requests}")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = answer

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True


Server(("127.0.0.1", int(sys.argv[1])), Connection).serve_forever()
