"""A TLS server that ends its connections in a given way, for the tests of OperationNetworking's network engine.

    tls_cut.py CERTIFICATE KEY

Prints the port of 127.0.0.1 that it listens on. Ends when its standard input does. What it does is in the path:

    /proper     a body that lasts until the connection closes, then close_notify
    /cut        the same, but the TCP connection just ends
    /half       half a body with a Content-Length, then the TCP connection just ends
    /length     a whole body with a Content-Length, then the TCP connection just ends
    /chunked    a whole chunked body, then the TCP connection just ends
    /to/PORT    a redirect to that port of 127.0.0.1, without TLS
    /gone       403
    /keep       a whole body with a Content-Length; the next request on the connection is never answered, the TCP
                connection just ends
    /head       the head of the request; the connection is kept
    /407        407 to the first request, as if it were a proxy, and 200 to later ones; the connection is kept
    /407/close  the same, and the connection ends with the answer
    /second     the first request is read whole, and then the TCP connection just ends; later ones are answered
                with their bodies
"""

import os
import socket
import ssl
import sys
import threading


def read_head(connection):
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65536)
        if not piece:
            return None
        data += piece
    return data


def read_request(connection):
    data = read_head(connection)
    return data.split(b" ")[1].decode() if data else None


def read_body(connection, head):
    head, _, data = head.partition(b"\r\n\r\n")
    fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
    if b"content-length" in fields:
        while len(data) < int(fields[b"content-length"]):
            data += connection.recv(65536)
        return data
    while not data.endswith(b"0\r\n\r\n"):
        data += connection.recv(65536)
    body = b""
    while data:
        size, _, data = data.partition(b"\r\n")
        body, data = body + data[:int(size, 16)], data[int(size, 16) + 2:]
    return body


is_second = threading.Event()


def answer_the_second(connection, head):
    body = read_body(connection, head)
    if is_second.is_set():
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    is_second.set()
    end(connection, False)


def end(connection, is_proper):
    if is_proper:
        # Sends close_notify; the client's own may not come.
        connection.settimeout(5)
        try:
            connection.unwrap().close()
        except (ssl.SSLError, OSError):
            connection.close()
    else:
        plain = socket.socket(fileno=connection.detach())
        plain.shutdown(socket.SHUT_RDWR)
        plain.close()


def answer(connection, path):
    if path == "/gone":
        connection.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
        return
    if path.startswith("/to/"):
        location = b"http://127.0.0.1:" + path[4:].encode() + b"/"
        connection.sendall(b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: " + location + b"\r\n\r\n")
        return
    head = b"HTTP/1.1 200 OK\r\n"
    bodies = {
        "/proper": b"\r\n0123456789",
        "/cut": b"\r\n0123456789",
        "/half": b"Content-Length: 10\r\n\r\n01234",
        "/length": b"Content-Length: 10\r\n\r\n0123456789",
        "/chunked": b"Transfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n0\r\n\r\n",
        "/keep": b"Content-Length: 10\r\n\r\n0123456789",
    }
    connection.sendall(head + bodies[path])


was_refused = threading.Event()


def answer_and_keep(connection, head):
    while head is not None:
        path = head.split(b" ")[1].decode()
        if path.startswith("/407") and not was_refused.is_set():
            was_refused.set()
            connection.sendall(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 4\r\n"
                               b'Proxy-Authenticate: Basic realm="x"\r\n\r\nnone')
        else:
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(head) + head)
        if path == "/407/close":
            end(connection, True)
            return
        head = read_head(connection)


def serve(plain, context):
    try:
        connection = context.wrap_socket(plain, server_side=True)
        head = read_head(connection)
        if head is None:
            return
        path = head.split(b" ")[1].decode()
        if path in ("/head", "/407", "/407/close"):
            answer_and_keep(connection, head)
            return
        if path == "/second":
            answer_the_second(connection, head)
            return
        answer(connection, path)
        if path == "/keep":
            read_request(connection)
        end(connection, path == "/proper")
    except (ssl.SSLError, OSError, KeyError):
        plain.close()


def listen(context):
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    while True:
        plain, _ = listener.accept()
        threading.Thread(target=serve, args=(plain, context), daemon=True).start()


def main():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1], sys.argv[2])
    threading.Thread(target=listen, args=(context,), daemon=True).start()
    sys.stdin.read()
    os._exit(0)


main()
