"""A way to a server that ends in the midst."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress


class Way:
    """A way to a server on which nothing comes back any more from a word on, or from `ends` on, and nobody says so."""

    def __init__(self, port: int, word: bytes | None = None) -> None:
        self.server = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.server.getsockname()[1]
        self.beyond, self.word, self.ends = port, word, threading.Event()
        self.ways: list[socket.socket] = []
        threading.Thread(target=self._take, daemon=True).start()

    def _take(self) -> None:
        with suppress(OSError):
            while near := self.server.accept()[0]:
                far = socket.create_connection(("127.0.0.1", self.beyond))
                self.ways += [near, far]
                for pair in ((near, far), (far, near)):
                    threading.Thread(target=self._pass_on, args=pair, daemon=True).start()

    def _pass_on(self, taken: socket.socket, given: socket.socket) -> None:
        for sent in self._read(taken):
            if self.word and self.word in sent:
                self.ends.set()
            if not self.ends.is_set():
                given.sendall(sent)

    def close(self) -> None:
        """Let the server know, which holds what the session locked until then."""
        for way in (self.server, *self.ways):
            with suppress(OSError):
                way.shutdown(socket.SHUT_RDWR)
            way.close()

    @staticmethod
    def _read(taken: socket.socket) -> Iterator[bytes]:
        with suppress(OSError):
            while sent := taken.recv(65536):
                yield sent
