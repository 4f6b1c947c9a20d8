"""A TLS server whose answers come a few octets of their records at a time, for the tests of OperationNetworking.

    tls_slow.py CERTIFICATE KEY [handshake]

Prints the port of 127.0.0.1 that it listens on. Ends when its standard input does. The path says what is sent at once
after a request, and what comes slowly behind it, 14 octets every tenth of a second:

    /line        an interim head; a long line of a head, in one record
    /lines       a status line; more lines of the head, a record each
    /extension   a head and a byte of the body; a long extension of a chunk, in one record
    /trailers    a head, the body and the last chunk; trailers, a record each
    /body        a head; the body, in one record
    /            all of the response

With `handshake`, each flight of the server's handshake comes in three parts, 1.2 seconds before each.
"""

import os
import socket
import ssl
import sys
import threading
import time

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n"
FIELDS = [b"X: a\r\n"] * 500
ANSWERS = {
    "/line": (b"HTTP/1.1 103 E\r\n\r\n", [b"HTTP/1.1 200 OK\r\nX: " + b"a" * 4000]),
    "/lines": (b"HTTP/1.1 200 OK\r\n", FIELDS),
    "/extension": (CHUNKED, [b"1;" + b"a" * 4000]),
    "/trailers": (CHUNKED + b"0\r\n", FIELDS),
    "/body": (b"HTTP/1.1 200 OK\r\nContent-Length: 400\r\n\r\n", [b"b" * 400]),
    "/": (b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlate", []),
}
IS_LATE = sys.argv[3:] == ["handshake"]


def send_flight(plain, octets):
    third = len(octets) // 3 + 1
    for start in range(0, len(octets), third):
        if IS_LATE:
            time.sleep(1.2)
        plain.sendall(octets[start:start + third])


def serve(plain, context):
    received, made = ssl.MemoryBIO(), ssl.MemoryBIO()
    session = context.wrap_bio(received, made, server_side=True)

    def finish(step, send):
        while True:
            try:
                return step()
            except ssl.SSLWantReadError:
                send(made.read())
                data = plain.recv(65536)
                if not data:
                    raise OSError("the client went away")
                received.write(data)

    try:
        finish(session.do_handshake, lambda flight: send_flight(plain, flight))
        request = b""
        while b"\r\n\r\n" not in request:
            request += finish(lambda: session.read(65536), plain.sendall)
        fast, slow = ANSWERS[request.split(b" ")[1].decode()]
        session.write(fast)
        plain.sendall(made.read())
        for record in slow:
            session.write(record)
            octets = made.read()
            for start in range(0, len(octets), 14):
                plain.sendall(octets[start:start + 14])
                time.sleep(0.1)
        # Until the client goes away.
        plain.recv(1)
    except OSError:
        pass
    finally:
        plain.close()


def listen(context):
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    while True:
        plain, _ = listener.accept()
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=serve, args=(plain, context), daemon=True).start()


def main():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1], sys.argv[2])
    threading.Thread(target=listen, args=(context,), daemon=True).start()
    sys.stdin.read()
    os._exit(0)


main()
