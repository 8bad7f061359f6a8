"""What an operator of a portal writes for a connection, and a PostgreSQL that asks for passwords."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import socket
import struct
import threading
from base64 import b64decode, b64encode
from contextlib import suppress

ENCRYPTED = {80877103, 80877104}
ITERATIONS = 4096
AUTHENTICATED, CLEARTEXT, SASL, SASL_CONTINUE, SASL_FINAL = 0, 3, 10, 11, 12


def credential(
    port: int,
    password: str,
    host: str = "127.0.0.1",
    encryption: str = "disable",
    engine: str = "postgresql",
) -> str:
    server = {"engine": engine, "host": host, "port": port, "encryption": encryption}
    return json.dumps({**server, "password": password})


class ScramDoor:
    """Stands before a PostgreSQL that trusts everyone, and asks for a password by SCRAM, as servers elsewhere do.

    asks: SASL, or CLEARTEXT as a server that wants to read it. given: what was sent to it as a password.
    """

    def __init__(self, host: str, port: int, password: str, asks: int = SASL) -> None:
        self.beyond, self.password, self.asks = (host, port), password, asks
        self.given: list[bytes] = []
        self.server = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.server.getsockname()[1]
        threading.Thread(target=self._take, daemon=True).start()

    def close(self) -> None:
        with suppress(OSError):
            self.server.shutdown(socket.SHUT_RDWR)
        self.server.close()

    def _take(self) -> None:
        with suppress(OSError):
            while near := self.server.accept()[0]:
                threading.Thread(target=self._let_in, args=[near], daemon=True).start()

    def _let_in(self, near: socket.socket) -> None:
        with suppress(OSError, EOFError), near:
            start = self._start(near)
            if struct.unpack("!i", start[4:8])[0] == 3 << 16 and not self._signed_in(near):
                near.sendall(_message(b"E", b"SFATAL\0C28P01\0Mpassword authentication failed\0\0"))
                return
            with socket.create_connection(self.beyond) as far:
                far.sendall(start)
                threading.Thread(target=_pass_on, args=(far, near), daemon=True).start()
                _pass_on(near, far)

    @staticmethod
    def _start(near: socket.socket) -> bytes:
        while True:
            length = _read(near, 4)
            start = length + _read(near, struct.unpack("!i", length)[0] - 4)
            if struct.unpack("!i", start[4:8])[0] not in ENCRYPTED:
                return start
            near.sendall(b"N")

    def _signed_in(self, near: socket.socket) -> bool:
        if self.asks == CLEARTEXT:
            near.sendall(_asking(CLEARTEXT, b""))
            self.given.append(_answer(near))
            return False
        near.sendall(_asking(SASL, b"SCRAM-SHA-256\0\0"))
        first = _answer(near).split(b"\0", 1)[1][4:].split(b",", 2)[2]
        salt, nonce = os.urandom(16), first.partition(b",r=")[2] + b64encode(os.urandom(18))
        server_first = b"r=%s,s=%s,i=%d" % (nonce, b64encode(salt), ITERATIONS)
        near.sendall(_asking(SASL_CONTINUE, server_first))
        final, _p, proof = _answer(near).rpartition(b",p=")
        signed = b",".join((first, server_first, final))
        salted = hashlib.pbkdf2_hmac("sha256", self.password.encode(), salt, ITERATIONS)
        stored = hashlib.sha256(key := _mac(salted, b"Client Key")).digest()
        if bytes(a ^ b for a, b in zip(key, _mac(stored, signed), strict=True)) != b64decode(proof):
            return False
        verifier = b64encode(_mac(_mac(salted, b"Server Key"), signed))
        near.sendall(_asking(SASL_FINAL, b"v=" + verifier))
        return True


def _mac(key: bytes, text: bytes) -> bytes:
    return hmac.new(key, text, hashlib.sha256).digest()


def _message(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack("!i", len(body) + 4) + body


def _asking(what: int, body: bytes) -> bytes:
    return _message(b"R", struct.pack("!i", what) + body)


def _answer(near: socket.socket) -> bytes:
    _kind, length = _read(near, 1), _read(near, 4)
    return _read(near, struct.unpack("!i", length)[0] - 4)


def _read(near: socket.socket, size: int) -> bytes:
    read = b""
    while len(read) < size:
        if not (piece := near.recv(size - len(read))):
            raise EOFError
        read += piece
    return read


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while piece := source.recv(65536):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)
