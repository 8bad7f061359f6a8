"""The facts about a stored table: its columns and how it was read."""

from __future__ import annotations

import unicodedata
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Literal

from dpportal.platform.json_types import Json
from dpportal.platform.turning_signs import without_turning
from dpportal.tables.faults import UploadFault
from dpportal.tables.meaning.number_syntax import SPACES
from dpportal.tables.meaning.parse_options import MAX_NAME_LENGTH, ReadOptions

ColumnKind = Literal["text", "integer", "real", "date", "boolean"]
Meaning = Literal["number", "date", "truth"]


@dataclass(frozen=True)
class Column:
    """A column. kind: what its first rows look like, which counting never uses. remark: a hint, or nothing.

    identifies: whether it seems to say whose row it is. missing_words: among its first texts, which nobody declared to
    mean that there is no value. repeats: whether a text comes twice among the first ones, None where none was read.
    truths: how these write no and yes, where they hold nothing else. values: how many first texts there are, and
    unread: of these, how many are no number, date or truth, by that word.
    """

    name: str
    kind: ColumnKind = "text"
    remark: str = ""
    identifies: bool = False
    missing_words: tuple[str, ...] = ()
    repeats: bool | None = None
    truths: tuple[str, ...] = ()
    values: int = 0
    unread: Mapping[Meaning, int] = field(default_factory=dict)

    def to_json(self) -> Json:
        return asdict(self)

    @classmethod
    def from_json(cls, value: Json) -> Column:
        texts = {name: tuple(value.get(name, ())) for name in ("missing_words", "truths")}
        return cls(**{**value, **texts})


@dataclass(frozen=True)
class Oddities:
    """What a curator is told of a file, so that a wrong reading is seen.

    replaced_bytes: that the encoding does not know. broken_fields: that hold line ends; longest_broken: characters
    of the longest of them. blank_rows: skipped. spoiled_rows: of a further file, left out. note_lines: left out as is
    declared. notes_at_end: last rows that look like sums or notes; fewest_filled, note_words: what would leave them
    out. Of XLSX: formulas without a stored result, cells that hold an error, ranges of
    merged cells that reach below the names. encoding_guessed: neither declared nor said by the file; another would
    read it, too. names_look_like_row: so that the first line may hold somebody's values.
    """

    replaced_bytes: int = 0
    broken_fields: int = 0
    longest_broken: int = 0
    blank_rows: int = 0
    spoiled_rows: int = 0
    note_lines: int = 0
    notes_at_end: int = 0
    fewest_filled: int = 0
    note_words: tuple[str, ...] = ()
    uncached_formulas: int = 0
    error_cells: int = 0
    merged_ranges: int = 0
    encoding_guessed: bool = False
    names_look_like_row: bool = False

    @classmethod
    def from_json(cls, value: Json) -> Oddities:
        return cls(**{**value, "note_words": tuple(value.get("note_words", ()))})


@dataclass(frozen=True)
class Sheet:
    """A sheet of a workbook that could hold a table."""

    name: str
    hidden: bool = False


@dataclass(frozen=True)
class SeenLine:
    """A line of a file, cut to what a page shows. number: counted from 1."""

    number: int
    fields: tuple[str, ...]

    @classmethod
    def from_json(cls, value: Json) -> SeenLine:
        return cls(value["number"], tuple(value["fields"]))


@dataclass(frozen=True)
class FileLook:
    """How a file begins and ends, for its curator. title_lines, header_lines: declared or proposed; names: joined.

    titles: texts of the lines above the names. fewest_filled, note_words: that would leave out what seem to be notes at
    its end.
    """

    first: tuple[SeenLine, ...] = ()
    last: tuple[SeenLine, ...] = ()
    title_lines: int = 0
    header_lines: int = 1
    names: tuple[str, ...] = ()
    fewest_filled: int = 0
    note_words: tuple[str, ...] = ()
    sheets: tuple[Sheet, ...] = ()
    titles: tuple[str, ...] = ()

    def to_json(self) -> Json:
        return asdict(self)

    @classmethod
    def from_json(cls, value: Json) -> FileLook:
        seen = {name: tuple(map(SeenLine.from_json, value[name])) for name in ("first", "last")}
        texts = {name: tuple(value.get(name, ())) for name in ("names", "note_words", "titles")}
        return cls(**{**value, **seen, **texts, "sheets": tuple(Sheet(**sheet) for sheet in value["sheets"])})


@dataclass(frozen=True)
class TableFacts:
    """The result of a conversion.

    format: its name in the registry of formats. options: as the file was read, resolved.
    content_digest, sketch: see `fingerprint`.
    """

    rows: int
    columns: tuple[Column, ...]
    format: str
    options: ReadOptions
    content_digest: str = ""
    sketch: bytes = b""
    oddities: Oddities = Oddities()
    sheets: tuple[Sheet, ...] = ()

    def to_json(self) -> Json:
        columns = [column.to_json() for column in self.columns]
        packed = {"options": self.options.to_json(), "sketch": b64encode(self.sketch).decode()}
        return {**asdict(self), "columns": columns, **packed}

    @classmethod
    def from_json(cls, value: Json) -> TableFacts:
        read = {
            "columns": tuple(map(Column.from_json, value["columns"])),
            "options": ReadOptions.from_json(value["options"]),
            "oddities": Oddities.from_json(value["oddities"]),
            "sheets": tuple(Sheet(**sheet) for sheet in value["sheets"]),
            "sketch": b64decode(value["sketch"]),
        }
        return cls(**{**value, **read})


def checked_names(header: Sequence[str | None], most: int, *, may_lack_some: bool = False) -> tuple[str, ...]:
    """The header's names, stripped, without signs that turn the direction of writing.

    may_lack_some: whether a column can be without one, "", if several others have one. Raises UploadFault if they
    cannot name the columns of a table.
    """
    if len(header) > most:
        raise UploadFault(
            "columns",
            f"The table has {len(header):,} columns; at most {most:,} are read. "
            "Keep the columns that you want to publish and upload again.",
        )
    names = tuple("" if is_nameless(name) else _plain_name(name) for name in header)
    several = len(list(filter(None, names))) > 1
    first_seen: dict[str, int] = {}
    for number, name in enumerate(names, 1):
        if not name and may_lack_some and several:
            continue
        _check_name(name, number)
        if (first := first_seen.setdefault(as_seen(name), number)) != number:
            raise UploadFault(
                "duplicate-name",
                f"Columns {first} and {number} have the same name (capitals and characters that show nothing "
                "do not count). Give each column a name of its own in the first row.",
                row=1,
                column=number,
            )
    return names


def nameless_values(number: int) -> UploadFault:
    """The refusal of a column that holds values and has no name, counted from 1."""
    return UploadFault(
        "blank-name",
        f"Column {number} has values and no name. Write a name above them in the file, or remove the column. "
        "Then upload the file again.",
        row=1,
        column=number,
    )


def is_nameless(name: str | None) -> bool:
    """Whether a column's name shows nothing."""
    return not as_seen(_plain_name(name))


def _plain_name(name: str | None) -> str:
    return without_turning(name or "").strip(SPACES)


def as_seen(name: str) -> str:
    """What a reader can tell of a name: composed, without capitals and without characters that show nothing."""
    composed = unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
    return "".join(c for c in composed if unicodedata.category(c) not in ("Cc", "Cf"))


def _check_name(name: str, number: int) -> None:
    if not name:
        wrong = f"Column {number} has no name. Write a name for it in the first row, or remove the column."
        raise UploadFault("blank-name", wrong, row=1, column=number)
    if len(name) > MAX_NAME_LENGTH or any(ord(character) < 32 for character in name):
        raise UploadFault(
            "long-name",
            f"The name of column {number} is longer than {MAX_NAME_LENGTH} characters or spans lines. "
            "Shorten it in the first row; if the first row holds no names, say so.",
            row=1,
            column=number,
        )
