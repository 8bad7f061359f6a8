"""From whatever bytes a text file has to UTF-8 without a mark, in a stream."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from pathlib import Path

from dpportal.datasets.rawdata.faults import UploadFault

CHUNK = 1 << 20
SAMPLE = 1 << 16
MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Windows-1252 leaves five bytes undefined; Latin-1 has a character for each.
FALLBACKS = ("windows-1252", "latin-1")


def marked_encoding(source: Path) -> str | None:
    """The encoding that a byte-order mark names."""
    with source.open("rb") as file:
        head = file.read(4)
    return next((name for mark, name in MARKS if head.startswith(mark)), None)


def known_encoding(name: str) -> str:
    """Python's name of a text encoding. Raises UploadFault for a name that is not one."""
    try:
        codec = codecs.lookup(name)
        "a".encode(name)
    except (LookupError, TypeError, ValueError):
        raise UploadFault(
            "encoding", "That encoding is not known. Choose UTF-8, UTF-16, Windows-1252 or Latin-1."
        ) from None
    return codec.name


def refuse_binary(source: Path) -> None:
    """Raise UploadFault if the file holds a NUL byte: text in a one-byte encoding or UTF-8 never does."""
    line = 1
    with source.open("rb") as file:
        while chunk := file.read(CHUNK):
            if (position := chunk.find(b"\0")) >= 0:
                raise _binary(line + chunk.count(b"\n", 0, position))
            line += chunk.count(b"\n")


def is_utf8(source: Path) -> bool:
    """Whether the whole file is UTF-8; decides in a stream, stopping at the first byte that is not."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    with source.open("rb") as file:
        try:
            while chunk := file.read(CHUNK):
                decoder.decode(chunk)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return False
    return True


def sample_is_utf8(source: Path) -> bool:
    """Whether the beginning, the middle and the end of a file are UTF-8."""
    size = source.stat().st_size
    with source.open("rb") as file:
        for position in sorted({0, max(0, size // 2), max(0, size - SAMPLE)}):
            file.seek(position)
            # A character cut at either end of the piece is not an error of the file.
            piece = file.read(SAMPLE).lstrip(bytes(range(0x80, 0xC0))) if position else file.read(SAMPLE)
            try:
                codecs.getincrementaldecoder("utf-8")().decode(piece, final=position + len(piece) >= size)
            except UnicodeDecodeError:
                return False
    return True


def transcode(source: Path, target: Path, encoding: str, report: Callable[[int], None]) -> None:
    """Write a file again as UTF-8 without a mark and with every line ended by a newline.

    report: is told the lines written. Raises UploadFault if a byte has no meaning in that encoding.
    """
    decoder = codecs.getincrementaldecoder(encoding)()
    held = ""
    lines = 0
    with source.open("rb") as old, target.open("wb") as new:
        while True:
            chunk = old.read(CHUNK)
            text = held + _decoded(decoder, chunk, encoding)
            # The two characters that end a line may be cut between two pieces.
            held = "\r" if chunk and text.endswith("\r") else ""
            text = text[: len(text) - len(held)].replace("\r\n", "\n").replace("\r", "\n")
            new.write((text if new.tell() else text.removeprefix("\ufeff")).encode())
            if not chunk:
                return
            lines += text.count("\n")
            report(lines)


def _decoded(decoder: codecs.IncrementalDecoder, chunk: bytes, encoding: str) -> str:
    try:
        return decoder.decode(chunk, final=not chunk)
    except UnicodeDecodeError:
        raise UploadFault(
            "encoding",
            f"This file is not text in the encoding {encoding}: some bytes have no meaning in it. "
            "Choose another encoding, or save the table as CSV in UTF-8.",
        ) from None


def _binary(line: int) -> UploadFault:
    return UploadFault(
        "binary",
        f"Line {line:,} holds a NUL byte, so this is not a text file that can be read as a table. "
        "Save the table as CSV in UTF-8; if it is UTF-16 without a mark, choose that encoding.",
        row=line,
    )
