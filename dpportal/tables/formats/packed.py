"""Whether a file is packed from its first byte to its last.

Asked of files that begin with a line of names alone: a row that comes first could be made to look like an archive of
itself and all that follows.
"""

from __future__ import annotations

import bz2
import lzma
import struct
import zlib
from collections.abc import Callable
from os import SEEK_END
from typing import Protocol

import pyarrow as pa

from dpportal.platform.sealed_files import FilePath, size_of
from dpportal.tables.formats import FORMATS
from dpportal.tables.formats.archives import END, END_BYTES, IN_LARGE_END, LONGEST_COMMENT
from dpportal.tables.meaning.parse_options import MAX_LINE_BYTES

ZIP_PART, ZIP_DIRECTORY = b"PK\x03\x04", b"PK\x01\x02"
ZSTD = b"\x28\xb5\x2f\xfd"
SEVEN_ZIP, SEVEN_ZIP_BYTES = b"7z\xbc\xaf\x27\x1c", 32
PIECE_BYTES = 2**16
# Of what a stream unfolds to, before that much of it was read which a row can be. Tables unfold to a tenth of this.
MOST_UNFOLDED = 2**28


class Decompressor(Protocol):
    """What unpacks a stream piece by piece, as the standard library has it."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int) -> bytes: ...


class Gzip:
    """A stream of gzip with the members that the library's other streams have."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj(zlib.MAX_WBITS | 16)

    @property
    def eof(self) -> bool:
        return self._stream.eof

    @property
    def needs_input(self) -> bool:
        return not self._stream.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._stream.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """As much as comes out at once; the rest of the data is kept."""
        return self._stream.decompress(self._stream.unconsumed_tail + data, max_length)


def packed_as(source: FilePath) -> str:
    """What archive or packed table the whole file is, as people call it; empty if none.

    A first row can begin like an archive, and a last one can end like one. So a stream has to go on to the file's last
    byte, or for longer than a row, without a fault, and a table's or archive's end has to say where the rest lies.
    """
    with source.open("rb") as file:
        head = file.read(SEVEN_ZIP_BYTES)
        size = file.seek(0, SEEK_END)
        file.seek(max(0, size - END_BYTES - LONGEST_COMMENT))
        tail = file.read()
    for beginning, (name, begin) in STREAMS.items():
        if head.startswith(beginning):
            return name if _is_stream(source, begin, beginning) else ""
    if head.startswith(ZSTD):
        return "a zstd archive" if _is_zstd(source) else ""
    if head.startswith(SEVEN_ZIP) and _begins_seven_zip(head, size):
        return "a 7-Zip archive"
    if head.startswith(ZIP_PART) and _ends_as_zip(source, tail, size):
        return "a zip archive or a workbook"
    title = next((known.titles[0] for known in FORMATS if known.fills(head, tail, size)), "")
    return f"a packed table ({title})" if title else ""


def _is_stream(source: FilePath, begin: Callable[[], Decompressor], beginning: bytes) -> bool:
    """Whether streams of one kind fill the file, or are longer than any row."""
    stream, unfolded, left = begin(), 0, size_of(source)
    with source.open("rb") as file:
        while piece := file.read(PIECE_BYTES):
            left -= len(piece)
            while piece:
                try:
                    length, piece = _unfolded(stream, piece)
                except (zlib.error, lzma.LZMAError, OSError):
                    return False
                unfolded += length
                if unfolded > MOST_UNFOLDED:
                    return False
                if stream.eof:
                    if not piece:
                        return left == 0
                    if not piece.startswith(beginning):
                        return False
                    stream = begin()
            if file.tell() > MAX_LINE_BYTES:
                return True
    return False


def _is_zstd(source: FilePath) -> bool:
    """As `_is_stream`; the library that reads these streams goes on from one to the next by itself."""
    unfolded = 0
    with source.open("rb") as file, pa.CompressedInputStream(file, "zstd") as stream:
        try:
            while piece := stream.read(PIECE_BYTES):
                unfolded += len(piece)
                if unfolded > MOST_UNFOLDED:
                    return False
                if file.tell() > MAX_LINE_BYTES:
                    return True
        except OSError:
            return False
    return True


def _begins_seven_zip(head: bytes, size: int) -> bool:
    """Whether what the first bytes say of the rest agrees with its own checksum, and with the file's length."""
    if len(head) < SEVEN_ZIP_BYTES:
        return False
    checksum, place, length = struct.unpack("<IQQ", head[8:28])
    agrees: bool = zlib.crc32(head[12:]) == checksum and SEVEN_ZIP_BYTES + place + length == size
    return agrees


def _unfolded(stream: Decompressor, piece: bytes) -> tuple[int, bytes]:
    """How many bytes a piece unfolds to, and what of it lies behind the stream's end."""
    length = len(stream.decompress(piece, PIECE_BYTES))
    while not stream.eof and not stream.needs_input and length <= MOST_UNFOLDED:
        length += len(stream.decompress(b"", PIECE_BYTES))
    return length, stream.unused_data


def _ends_as_zip(source: FilePath, tail: bytes, size: int) -> bool:
    """Whether a last record ends with the file, and the directory that it names lies right before it."""
    at = tail.rfind(END)
    if at < 0 or len(tail) - at < END_BYTES:
        return False
    length, place, comment = struct.unpack("<IIH", tail[at + 12 : at + END_BYTES])
    if at + END_BYTES + comment != len(tail):
        return False
    if IN_LARGE_END in (length, place):
        return True
    with source.open("rb") as file:
        file.seek(place)
        return place + length == size - len(tail) + at and file.read(4) == ZIP_DIRECTORY


STREAMS: dict[bytes, tuple[str, Callable[[], Decompressor]]] = {
    b"\x1f\x8b\x08": ("a gzip archive", Gzip),
    b"BZh": ("a bzip2 archive", bz2.BZ2Decompressor),
    b"\xfd7zXZ\0": ("an xz archive", lzma.LZMADecompressor),
}
