"""Files that are sealed with a key, read and written a piece at a time, from any place.

AES-256-GCM (NIST SP 800-38D) in chunks. Each file has a key of its own, which HKDF derives from the owner's key, a salt
and the name that the file is bound to. A chunk's nonce says its number and whether it is the last (the STREAM
construction: Hoang, Reyhanitabar, Rogaway, Vizar 2015), so that no chunk can be changed, moved, left out or cut off.

The last chunk is filled up, and ends with the content's length: who knows all of a table but one row could else tell
that row from the length of its file. Files of an earlier version, with another mark, are as long as their content.
"""

from __future__ import annotations

import io
import os
import threading
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal, TextIO, cast, overload

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer

MARK, FORMER_MARK = b"dpportal sealed2", b"dpportal sealed1"
SALT_BYTES, KEY_BYTES, TAG_BYTES, NUMBER_BYTES = 32, 32, 16, 11
HEAD_BYTES = len(MARK) + SALT_BYTES
# Larger ones take more memory for a small read, smaller ones more time for a large one.
CHUNK = 1 << 16
SEALED_CHUNK = CHUNK + TAG_BYTES
LENGTH_BYTES = 8
# Begins the address by which the engine asks for a sealed file.
PROTOCOL = "sealed"


class ChangedFileError(Exception):
    """A sealed file was changed, cut or swapped since it was written, or its key is another one."""

    def __init__(self) -> None:
        super().__init__(
            "A stored file was changed since the portal wrote it, so it is not read. Ask an administrator to put it "
            "back from a backup; nothing was spent."
        )


@dataclass(frozen=True)
class SealedPath:
    """Where a sealed file lies on this machine, with what opens it: to its readers and writers like a path.

    key: of KEY_BYTES bytes. bound_to: what the file is, as a name in the storage; it opens as nothing else.
    """

    path: Path
    key: bytes
    bound_to: str

    def __repr__(self) -> str:
        return f"SealedPath({self.path})"

    def __str__(self) -> str:
        """The address by which the engine asks for it."""
        return f"{PROTOCOL}://{self.path}"

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def parent(self) -> Path:
        return self.path.parent

    def with_name(self, name: str) -> SealedPath:
        """A file beside this one, for the same owner."""
        return SealedPath(self.path.with_name(name), self.key, f"{self.bound_to} {name}")

    def unlink(self, missing_ok: bool = False) -> None:
        self.path.unlink(missing_ok=missing_ok)

    @property
    def size(self) -> int:
        """Bytes of what is sealed. Raises ChangedFileError if it is no sealed file."""
        with Reader(self) as reader:
            return reader.size

    @overload
    def open(self, mode: Literal["rb", "wb"]) -> BinaryIO: ...
    @overload
    def open(
        self,
        mode: Literal["r", "w"] = "r",
        *,
        encoding: str = "utf-8",
        errors: str | None = None,
        newline: str | None = None,
    ) -> TextIO: ...
    def open(
        self,
        mode: str = "r",
        *,
        encoding: str = "utf-8",
        errors: str | None = None,
        newline: str | None = None,
    ) -> BinaryIO | TextIO:
        """As a path's. Raises ChangedFileError where what is read was changed."""
        if mode in ("wb", "w"):
            file: io.BufferedIOBase = io.BufferedWriter(cast(io.RawIOBase, Writer(self)), CHUNK)
        else:
            file = io.BufferedReader(Reader(self), CHUNK)
        if "b" in mode:
            return cast(BinaryIO, file)
        return io.TextIOWrapper(cast(BinaryIO, file), encoding, errors, newline)


# A file that is read or written, sealed or not.
FilePath = Path | SealedPath


def size_of(path: FilePath) -> int:
    """Bytes of a file's content."""
    return path.size if isinstance(path, SealedPath) else path.stat().st_size


def path_of(file: FilePath) -> Path:
    """Where a file lies, whatever its bytes are."""
    return file.path if isinstance(file, SealedPath) else file


def moved_to(file: FilePath, path: Path) -> FilePath:
    """A file at another place, sealed like the first one, if that is."""
    return replace(file, path=path) if isinstance(file, SealedPath) else path


def file_to_json(file: FilePath) -> dict[str, str]:
    """A file for another process, with its key: for a pipe, never for a place where others read."""
    sealed = {"key": file.key.hex(), "bound_to": file.bound_to} if isinstance(file, SealedPath) else {}
    return {"path": str(path_of(file).resolve()), **sealed}


def file_from_json(value: dict[str, str]) -> FilePath:
    """What `file_to_json` wrote."""
    path = Path(value["path"])
    return SealedPath(path, bytes.fromhex(value["key"]), value["bound_to"]) if "key" in value else path


def is_sealed(path: Path) -> bool:
    """Whether a file begins as sealed ones do; those of earlier versions do not."""
    with path.open("rb") as file:
        return begins_sealed(file.read(len(MARK)))


def begins_sealed(head: bytes) -> bool:
    """Whether the first bytes of a file are those of a sealed one."""
    return head.startswith((MARK, FORMER_MARK))


def new_key() -> bytes:
    """A key for a dataset's files, or for what one process writes for itself."""
    return os.urandom(KEY_BYTES)


def _former_content_bytes(sealed: int) -> int:
    """How many bytes a sealed file of an earlier version holds. Raises ChangedFileError where none has that length."""
    chunks, rest = divmod(sealed - HEAD_BYTES, SEALED_CHUNK)
    if sealed < HEAD_BYTES + TAG_BYTES or 0 < rest < TAG_BYTES:
        raise ChangedFileError
    return chunks * CHUNK + max(0, rest - TAG_BYTES)


def _cipher(file: SealedPath, head: bytes) -> AESGCM:
    mark, salt = head[: len(MARK)], head[len(MARK) :]
    if not begins_sealed(mark):
        raise ChangedFileError
    purpose = b"dpportal padded file " if mark == MARK else b"dpportal sealed file "
    return _derived(file.key, salt, purpose + file.bound_to.encode())


@lru_cache(maxsize=64)
def _derived(key: bytes, salt: bytes, info: bytes) -> AESGCM:
    return AESGCM(HKDF(hashes.SHA256(), length=KEY_BYTES, salt=salt, info=info).derive(key))


def _nonce(number: int, *, last: bool) -> bytes:
    return number.to_bytes(NUMBER_BYTES, "big") + bytes([last])


class Reader(io.RawIOBase):
    """Reads a sealed file from any place. Each thread has a place of its own, as the engine asks from several."""

    def __init__(self, file: SealedPath) -> None:
        super().__init__()
        self._descriptor = os.open(file.path, os.O_RDONLY)
        self._place = threading.local()
        head = os.pread(self._descriptor, HEAD_BYTES, 0)
        self._cipher = _cipher(file, head)
        sealed = os.fstat(self._descriptor).st_size
        self._chunks = max(1, -(-(sealed - HEAD_BYTES) // SEALED_CHUNK))
        last = self._chunk(self._chunks - 1)  # a file that was cut has no last one
        if head.startswith(MARK):
            self.size = int.from_bytes(last[-LENGTH_BYTES:], "big")
        else:
            self.size = _former_content_bytes(sealed)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return getattr(self._place, "at", 0)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        begin = {os.SEEK_SET: 0, os.SEEK_CUR: self.tell(), os.SEEK_END: self.size}[whence]
        self._place.at = max(0, begin + offset)
        return self.tell()

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer).cast("B")
        data = self.read(len(view))
        view[: len(data)] = data
        return len(data)

    def read(self, size: int | None = -1) -> bytes:
        """So many bytes, fewer only at the end."""
        at = self.tell()
        left = max(0, self.size - at)
        length = left if size is None or size < 0 else min(size, left)
        if not length:
            return b""
        first, last = at // CHUNK, (at + length - 1) // CHUNK
        self._place.at = at + length
        inner = at - first * CHUNK
        if first == last:
            return self._chunk(first)[inner : inner + length]
        return b"".join(map(self._chunk, range(first, last + 1)))[inner : inner + length]

    def _chunk(self, number: int) -> bytes:
        sealed = os.pread(self._descriptor, SEALED_CHUNK, HEAD_BYTES + number * SEALED_CHUNK)
        try:
            return self._cipher.decrypt(_nonce(number, last=number == self._chunks - 1), sealed, None)
        except (InvalidTag, ValueError):
            raise ChangedFileError from None

    def close(self) -> None:
        if not self.closed:
            os.close(self._descriptor)
        super().close()


class Writer(io.RawIOBase):
    """Writes a sealed file from beginning to end. One that is not closed cannot be read."""

    def __init__(self, file: SealedPath) -> None:
        super().__init__()
        head = MARK + os.urandom(SALT_BYTES)
        self._cipher = _cipher(file, head)
        # Buffered, since a raw file may take a part of what is written, and say so only by a number.
        self._file = file.path.open("wb")
        self._file.write(head)
        self._held = bytearray()
        self._number = self._written = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._written

    def write(self, data: ReadableBuffer) -> int:
        view = memoryview(data).cast("B")
        self._held += view
        self._written += len(view)
        # The last chunk is known for it only when the file is closed.
        while len(self._held) > CHUNK:
            self._put(bytes(self._held[:CHUNK]), last=False)
            del self._held[:CHUNK]
        return len(view)

    def _put(self, content: bytes, *, last: bool) -> None:
        self._file.write(self._cipher.encrypt(_nonce(self._number, last=last), content, None))
        self._number += 1

    def _end(self) -> None:
        if len(self._held) > CHUNK - LENGTH_BYTES:
            self._put(bytes(self._held.ljust(CHUNK, b"\0")), last=False)
            self._held.clear()
        filled = self._held.ljust(CHUNK - LENGTH_BYTES, b"\0")
        self._put(bytes(filled) + self._written.to_bytes(LENGTH_BYTES, "big"), last=True)

    def close(self) -> None:
        if not self.closed:
            try:
                self._end()
            finally:
                self._file.close()
        super().close()
