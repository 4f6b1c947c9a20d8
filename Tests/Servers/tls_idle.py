"""A TLS server that says something on a connection after it has answered, for the tests of OperationNetworking.

    tls_idle.py CERTIFICATE KEY

Prints the port of 127.0.0.1 that it listens on. Ends when its standard input does. It speaks HTTP/1.1, by OpenSSL's own
functions, since Python's `ssl` has none for tickets and key updates. A response is the number of its connection, and the
head and the body are a record each. What comes then is in the path:

    /plain          nothing
    /late           a second response
    /record         a second response, in the record that has the body
    /ticket         a session ticket
    /update         a key update that asks for one
    /ticket/late    a session ticket, and a second response
    /cut/N          the first N octets of the record of a second response; the rest follows when the next request has
                    been read; of a negative N, all but as many
    /cut/N/ticket   the same of a session ticket
    /notify         close_notify; the TCP connection stays
    /garbage        bytes that are no record; the TCP connection stays
"""

import ctypes
import os
import socket
import sys
import threading

ctypes.CDLL("libcrypto.so.3", mode=ctypes.RTLD_GLOBAL)
library = ctypes.CDLL("libssl.so.3")
POINTER, BYTES, INT = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int


def function(name, result, *arguments):
    made = getattr(library, name)
    made.restype, made.argtypes = result, arguments
    return made


server_method = function("TLS_server_method", POINTER)
new_context = function("SSL_CTX_new", POINTER, POINTER)
use_chain = function("SSL_CTX_use_certificate_chain_file", INT, POINTER, BYTES)
use_key = function("SSL_CTX_use_PrivateKey_file", INT, POINTER, BYTES, INT)
set_tickets = function("SSL_CTX_set_num_tickets", INT, POINTER, ctypes.c_size_t)
new_tls = function("SSL_new", POINTER, POINTER)
set_socket = function("SSL_set_fd", INT, POINTER, INT)
accept = function("SSL_accept", INT, POINTER)
read = function("SSL_read", INT, POINTER, BYTES, INT)
write = function("SSL_write", INT, POINTER, BYTES, INT)
shutdown = function("SSL_shutdown", INT, POINTER)
new_ticket = function("SSL_new_session_ticket", INT, POINTER)
update_key = function("SSL_key_update", INT, POINTER, INT)
do_handshake = function("SSL_do_handshake", INT, POINTER)
free_tls = function("SSL_free", None, POINTER)
memory_method = function("BIO_s_mem", POINTER)
new_bio = function("BIO_new", POINTER, POINTER)
read_bio = function("BIO_read", INT, POINTER, BYTES, INT)
set_output = function("SSL_set0_wbio", None, POINTER, POINTER)

STRANGER = b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nSTRANGER"


def read_request(tls):
    """The path; `None` at the end. The body is read, too."""
    data, length = b"", None
    while length is None or len(data) < length:
        buffer = ctypes.create_string_buffer(65536)
        count = read(tls, buffer, len(buffer))
        if count <= 0:
            return None
        data += buffer.raw[:count]
        head, end, _ = data.partition(b"\r\n\r\n")
        if end and length is None:
            fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
            length = len(head) + 4 + int(fields.get(b"content-length", 0))
    return data.split(b" ")[1].decode()


def ticket(tls):
    new_ticket(tls)
    do_handshake(tls)


def cut(tls, plain, count, send):
    """Sends the first octets of the record that `send` makes. Returns the others."""
    memory = new_bio(memory_method())
    set_output(tls, memory)
    send()
    buffer = ctypes.create_string_buffer(65536)
    length = read_bio(memory, buffer, len(buffer))
    assert length > 0
    record = buffer.raw[:length]
    set_socket(tls, plain.fileno())
    plain.sendall(record[:count])
    return record[count:]


def serve(context, plain, number):
    tls, rest = new_tls(context), b""
    set_socket(tls, plain.fileno())
    if accept(tls) == 1:
        while path := read_request(tls):
            plain.sendall(rest)
            rest = b""
            body = b"%d" % number
            head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body)
            body += STRANGER if path == "/record" else b""
            write(tls, head, len(head))
            write(tls, body, len(body))
            if path.startswith("/ticket"):
                ticket(tls)
            if path.endswith("/late"):
                write(tls, STRANGER, len(STRANGER))
            if path == "/update":
                update_key(tls, 1)
                do_handshake(tls)
            if path.startswith("/cut/"):
                of_ticket = path.endswith("/ticket")
                send = (lambda: ticket(tls)) if of_ticket else (lambda: write(tls, STRANGER, len(STRANGER)))
                rest = cut(tls, plain, int(path.split("/")[2]), send)
            if path == "/notify":
                shutdown(tls)
            if path == "/garbage":
                plain.sendall(b"This is no record of TLS.")
    free_tls(tls)
    plain.close()


def listen(context):
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    number = 0
    while True:
        plain, _ = listener.accept()
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        number += 1
        threading.Thread(target=serve, args=(context, plain, number), daemon=True).start()


def main():
    context = new_context(server_method())
    set_tickets(context, 0)
    assert use_chain(context, sys.argv[1].encode()) == 1
    assert use_key(context, sys.argv[2].encode(), 1) == 1
    threading.Thread(target=listen, args=(context,), daemon=True).start()
    sys.stdin.read()
    os._exit(0)


main()
