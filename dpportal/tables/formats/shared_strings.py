"""The texts that a workbook keeps once for all its cells."""

from __future__ import annotations

from typing import IO
from xml.parsers import expat

from openpyxl.xml.constants import SHEET_MAIN_NS

from dpportal.tables.faults import UploadFault
from dpportal.tables.formats.legal_characters import LegalCharacters
from dpportal.tables.formats.sheet_parser import PIECE_BYTES, refuse_doctype

STRING = f"{SHEET_MAIN_NS}}}si"
# Where a string's texts lie: one for the whole string, or one for each run of letters that look alike. The third kind,
# how a text is pronounced, is no part of it.
PLAIN, RUN = ["si", "t"], ["si", "r", "t"]
# Bytes of the markup of a cell that refers to a string, of which the shortest is `<c t="s"><v>0</v></c>`; and strings
# to which no cell refers, as some programs leave behind.
CELL_BYTES, UNUSED = 16, 2**20
# As the library reads an escaped underscore.
ESCAPE = "x005F_"


def read_shared_strings(source: IO[bytes] | LegalCharacters, cell_bytes: int) -> list[str]:
    """Each string's text. cell_bytes: of the workbook's other parts, where the cells are.

    The library makes some objects of every string, which takes ten times as long.
    Raises UploadFault for far more strings than cells, ValueError or expat.ExpatError for a damaged part.
    """
    parser = _Strings(UNUSED + cell_bytes // CELL_BYTES)
    while piece := source.read(PIECE_BYTES):
        parser.feed(piece)
    parser.feed(b"", last=True)
    return parser.texts


class _Strings:
    """Reads the strings piece by piece. texts: of those that have ended. most: of which there may be."""

    def __init__(self, most: int) -> None:
        self.texts: list[str] = []
        self._most = most
        # The elements around the place that is read, from the string's own on.
        self._path: list[str] = []
        # Letters of its text, of its runs, and of the element that is read.
        self._plain: list[str] = []
        self._runs: list[str] = []
        self._letters: list[str] = []
        self._expat = expat.ParserCreate(namespace_separator="}")
        self._expat.buffer_text = True
        self._expat.StartElementHandler = self._begin
        self._expat.EndElementHandler = self._end
        self._expat.StartDoctypeDeclHandler = refuse_doctype

    def feed(self, piece: bytes, *, last: bool = False) -> None:
        self._expat.Parse(piece, last)
        if len(self.texts) > self._most:
            raise UploadFault(
                "unfolds",
                "This workbook has far more texts than cells, so a program filled it or it is damaged. "
                "Copy the table into a new workbook, or save it as CSV, and upload that file.",
            )

    def _begin(self, name: str, _attributes: dict[str, str]) -> None:
        path = self._path
        if path:
            # What follows a text's first child is none of its letters.
            self._expat.CharacterDataHandler = None
            path.append(name.rpartition("}")[2])
            if path in (PLAIN, RUN):
                self._letters = []
                self._expat.CharacterDataHandler = self._letters.append
        elif name == STRING:
            path.append("si")
            self._plain, self._runs = [], []

    def _end(self, _name: str) -> None:
        path = self._path
        if not path:
            return
        self._expat.CharacterDataHandler = None
        if path == PLAIN:
            self._plain = self._letters
        elif path == RUN:
            self._runs.extend(self._letters)
        path.pop()
        if not path:
            self.texts.append("".join([*self._plain, *self._runs]).replace(ESCAPE, ""))
