"""Runs a downloader twice, against a server that gives the second run what CASE says, and judges the file.

    second_run.py CASE COMMAND...

The words FILE and URL of the command are replaced. The file has 4 MiB, a strong ETag and a Last-Modified; If-Range is
obeyed. The first run is ended by SIGTERM when a third has come, and the server holds the rest back. CASE:

    same        the second run meets the same file
    other       another file of the same length
    ignored     200 with the whole file, whatever Range asks for
    early       206 that starts 1000 bytes before the offset
    shorter     a file of 1 MiB: 416
    less        206 with 200 kB of what was asked for
    meanwhile   one run only: the connection breaks after a third, and the next request meets another file

Prints the exit code of the last run, and what the file is: right, mixed (the old one's beginning, the new one's end),
a part, or absent.
"""

import pathlib
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LENGTH = 4 << 20
THIRD = LENGTH // 3
# In seconds; wget tries for almost three minutes.
LIMIT = 300


def content(version, length=LENGTH):
    return random.Random(version).randbytes(length)


class State:
    def __init__(self, case):
        self.case = case
        self.body = content(1)
        self.date = "Mon, 05 Jan 2026 10:00:00 GMT"
        self.is_first = True
        self.is_over = threading.Event()

    def change(self):
        self.is_first = False
        if self.case in ("other", "shorter", "meanwhile"):
            self.body = content(2, 1 << 20 if self.case == "shorter" else LENGTH)
            self.date = "Tue, 06 Jan 2026 10:00:00 GMT"


class Connection(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def head(self, status, length, **fields):
        self.send_response(status)
        self.send_header("ETag", f'"{state.date[5:7]}"')
        self.send_header("Last-Modified", state.date)
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(length))
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def do_HEAD(self):
        self.head(200, len(state.body))

    def do_GET(self):
        body = state.body
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if self.headers.get("If-Range", f'"{state.date[5:7]}"') not in (f'"{state.date[5:7]}"', state.date):
            wanted = None
        if not wanted or (state.case == "ignored" and not state.is_first):
            self.head(200, len(body))
            return self.send(body)
        start, end = int(wanted[1]), min(int(wanted[2] or LENGTH) + 1, len(body))
        if start >= len(body):
            return self.head(416, 0, Content_Range=f"bytes */{len(body)}")
        if not state.is_first and start:
            if state.case == "early":
                start = max(0, start - 1000)
            if state.case == "less":
                end = min(end, start + 200_000)
        self.head(206, end - start, Content_Range=f"bytes {start}-{end - 1}/{len(body)}")
        self.send(body[start:end])

    def send(self, body):
        try:
            if not state.is_first:
                return self.wfile.write(body)
            self.wfile.write(body[:THIRD])
            if state.case == "meanwhile":
                state.change()
            else:
                state.is_over.wait(LIMIT)
            self.close_connection = True
        except OSError:
            self.close_connection = True


def run(command, file, cuts):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if not cuts:
        return process.wait(LIMIT)
    end = time.monotonic() + LIMIT
    # Buffers of the client may hold some of the third.
    while process.poll() is None and time.monotonic() < end:
        if file.exists() and file.stat().st_blocks * 512 >= THIRD - 100_000:
            break
        time.sleep(0.05)
    process.terminate()
    code = process.wait(LIMIT)
    state.is_over.set()
    return code


def verdict(file):
    if not file.exists():
        return "absent"
    found, old, new = file.read_bytes(), content(1), state.body
    if found == new:
        return "right"
    common = next((i for i in range(min(len(found), len(old))) if found[i] != old[i]), len(found))
    if len(found) == len(new) and 0 < common < len(found) and found[common:] == new[common:]:
        return f"mixed: {common} bytes of the old file, {len(new) - common} of the new one"
    return f"{len(found)} bytes, {common} of them as in the old file; {len(new)} would be right"


class Server(ThreadingHTTPServer):
    def handle_error(self, *_):
        """A client that was ended has reset its connection."""


state = State(sys.argv[1])
server = Server(("127.0.0.1", 0), Connection)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
with tempfile.TemporaryDirectory() as directory:
    file = pathlib.Path(directory, "file")
    names = {"FILE": str(file), "URL": f"http://127.0.0.1:{server.server_port}/file"}
    command = [names.get(word, word) for word in sys.argv[2:]]
    if state.case != "meanwhile":
        run(command, file, cuts=True)
        state.change()
    print(f"exit {run(command, file, cuts=False)}: {verdict(file)}")
