"""From whatever bytes a text file has to plain text, in a stream: UTF-8, no mark, every line ended by a newline."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np

from dpportal.platform.sealed_files import FilePath, size_of
from dpportal.tables.faults import UploadFault
from dpportal.tables.formats.encoding_guess import guessed_encoding, wide_encoding
from dpportal.tables.formats.progress import Report

CHUNK = 1 << 20
SAMPLE = 1 << 16
MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
WIDE = ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
MARK = "\ufeff"
NEWLINE = ord("\n")
REPLACED = "replaced-and-counted"


@dataclass
class PlainText:
    """A file of plain text. lines: ended by newlines. replaced: bytes without a meaning. quoted: has any quote.

    takes_nul: whether NUL characters are left to whoever reads the lines. blank: newlines in a row with which what was
    read ends; most_blank: the most before another line, and blank_from: the line that they follow. Of less than CHUNK
    it is not known.

    path: the upload itself where it is plain already, else a scratch file.
    """

    path: FilePath
    lines: int = 0
    replaced: int = 0
    quoted: bool = False
    takes_nul: bool = False
    blank: int = 0
    most_blank: int = 0
    blank_from: int = 0


def proposed_encoding(source: FilePath) -> str:
    """What a byte-order mark says, else UTF-8 if most of the first letters beyond ASCII are, else a guess by them."""
    head = _head(source)
    if marked := _marked(head) or wide_encoding(head):
        return marked
    text = codecs.getincrementaldecoder("utf-8")("replace").decode(head, final=False)
    foreign = text.count("\ufffd")
    beyond = sum(character > "\x7f" for character in text)
    return "utf-8" if 2 * foreign <= beyond - foreign else guessed_encoding(head)


def is_guess(source: FilePath, encoding: str) -> bool:
    """Whether a proposed encoding is no more than plausible: another would read the same bytes without a fault."""
    return encoding != "utf-8" and not _marked(_head(source))


def _head(source: FilePath) -> bytes:
    with source.open("rb") as file:
        return file.read(SAMPLE)


def _marked(head: bytes) -> str:
    """The encoding that a byte-order mark names, or nothing."""
    return next((name for mark, name in MARKS if head.startswith(mark)), "")


def settled_encoding(source: FilePath, encoding: str | None) -> str:
    """The declared encoding, or the proposed one, with the order of its bytes: by the file's mark, else the usual.

    Once it is a declaration, no file's first bytes change it.
    """
    if encoding not in (None, "utf-16", "utf-32"):
        return encoding
    proposed = proposed_encoding(source)
    return proposed if encoding is None or proposed.startswith(encoding) else f"{encoding}-le"


def plain_text(
    source: FilePath, scratch: FilePath, encoding: str, report: Report, *, takes_nul: bool = False
) -> PlainText:
    """The file as plain text, which most files are already; others are written again.

    A byte that the encoding does not know becomes U+FFFD and is counted. Byte-order marks at the beginning are dropped.
    encoding: settled. Raises UploadFault for a NUL character, which no text has, unless they are taken.
    """
    if encoding not in WIDE and (plain := _as_it_is(source, report, takes_nul)):
        return plain
    plain = PlainText(scratch, takes_nul=takes_nul)
    decode = _decoder(encoding, plain)
    size = size_of(source)
    with source.open("rb") as old, scratch.open("wb") as new:
        last = b"\n"
        while chunk := old.read(CHUNK):
            last = _write(new, plain, decode(chunk, False)) or last
            report(old.tell() / size)
        last = _write(new, plain, decode(b"", True)) or last
        if last != b"\n":
            _write(new, plain, b"\n")
    return plain


def _as_it_is(source: FilePath, report: Report, takes_nul: bool) -> PlainText | None:
    """The file itself if its lines end as they should and hold ASCII alone, which all but the wide encodings share."""
    plain, last, size = PlainText(source, takes_nul=takes_nul), b"", size_of(source)
    with source.open("rb") as file:
        while chunk := file.read(CHUNK):
            if not chunk.isascii() or b"\r" in chunk:
                return None
            last = _note(plain, chunk)
            report(file.tell() / size)
    return plain if last == b"\n" else None


def _write(new: BinaryIO, plain: PlainText, piece: bytes) -> bytes:
    """Write a piece, adding to what is known of the file; returns its last byte."""
    new.write(piece)
    return _note(plain, piece)


def _note(plain: PlainText, piece: bytes) -> bytes:
    """Add a piece to what is known of the file; returns its last byte."""
    if not plain.takes_nul and (position := piece.find(b"\0")) >= 0:
        raise _binary(plain.lines + 1 + piece.count(b"\n", 0, position))
    _note_blank(plain, piece)
    # Thrice as fast as the count that bytes have.
    plain.lines += int(np.count_nonzero(np.frombuffer(piece, np.uint8) == NEWLINE))
    plain.quoted = plain.quoted or b'"' in piece or b"'" in piece
    return piece[-1:]


def _note_blank(plain: PlainText, piece: bytes) -> None:
    rest = piece.lstrip(b"\n")
    run = plain.blank + len(piece) - len(rest)
    if rest and run > plain.most_blank:
        plain.most_blank, plain.blank_from = run, plain.lines + 1 - plain.blank
    plain.blank = len(rest) - len(rest.rstrip(b"\n")) if rest else run


def _decoder(encoding: str, plain: PlainText) -> Callable[[bytes, bool], bytes]:
    """Bytes of the file to bytes of plain text, piece by piece."""

    def replace(error: UnicodeError) -> tuple[str, int]:
        assert isinstance(error, UnicodeDecodeError)
        plain.replaced += error.end - error.start
        return "\ufffd", error.end

    codecs.register_error(REPLACED, replace)
    decoder = codecs.getincrementaldecoder(encoding)(REPLACED)
    held, started = "", False

    def decode(chunk: bytes, last: bool) -> bytes:
        nonlocal held, started
        # Most pieces of most files are plain already.
        simple = started and not held and encoding not in WIDE and not any(map(bool, decoder.getstate()))
        if simple and chunk.isascii() and b"\r" not in chunk:
            return chunk
        text = held + decoder.decode(chunk, last)
        # The two characters that end a line may be cut between two pieces.
        held = "\r" if not last and text.endswith("\r") else ""
        text = text[: len(text) - len(held)].replace("\r\n", "\n").replace("\r", "\n")
        if not started:
            text = text.lstrip(MARK)
            started = bool(text)
        # A lone surrogate is no character: it would not be UTF-8.
        return text.encode("utf-8", "replace")

    return decode


def _binary(line: int) -> UploadFault:
    return UploadFault(
        "binary",
        f"Line {line:,} holds a NUL byte, so this is not a text file that can be read as a table. "
        "Save the table as CSV in UTF-8; if it is UTF-16 without a mark, choose that encoding.",
        row=line,
    )
