"""How a file is read, by public declarations that are the same for every row; and the limits of reading."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field, fields, replace

from dpportal.platform.json_types import Json
from dpportal.tables.meaning.dates import DateFormatError, date_pattern

DELIMITERS = (",", ";", "\t", "|")
QUOTES = ('"', "'", "")
DECIMALS = (".", ",")
THOUSANDS = ("", ",", ".", " ", "'", "\u2019")
# A space as mark between thousands is each of these, which look alike.
BLANKS = (" ", "\u00a0", "\u202f")
# No shift states: in each of these, a broken byte spoils nothing beyond its own row. Nothing beyond its own field,
# either, save that a broken GB 18030, Big5 or Shift JIS letter can take a “|” with it; its row is then refused.
ENCODINGS = (
    "utf-8",
    "utf-16",
    "utf-16-le",
    "utf-16-be",
    "utf-32",
    "utf-32-le",
    "utf-32-be",
    "latin-1",
    "windows-1250",
    "windows-1251",
    "windows-1252",
    "windows-1253",
    "windows-1254",
    "windows-1257",
    "iso-8859-2",
    "iso-8859-15",
    "koi8-r",
    "gb18030",
    "big5",
    "shift-jis",
    "euc-kr",
)
# The options by which the fields of a file are found.
FINDING = (
    *("delimiter", "encoding", "header", "quote", "sheet"),
    *("title_lines", "header_lines", "fewest_filled", "note_words", "fill_merged"),
)
# Signs that are units. Any other, such as ? or *, is a mark of doubt beside a number, which the number loses.
UNIT_SIGNS = "%‰‱°′″$¢£¤¥֏৳฿៛₠-₿"
# A unit has no digits, no marks of numbers, and nothing that is a sign of patterns within brackets.
UNIT = rf"(?=\S*(?:[^\W\d_]|[{UNIT_SIGNS}]))[^\d\s.,'\u2019+\-\[\]\\^][^\d\s,'\u2019\[\]\\^]{{0,9}}"
UNIT_RULE = (
    "A unit has a letter, or a sign such as %, ° or €; no digits, spaces, commas or brackets, and at most ten "
    "characters."
)
MAX_LINE_BYTES = 2_000_000
MOST_RATIO = 100
MAX_NAME_LENGTH = 200
MOST_TITLE_LINES, MOST_HEADER_LINES, MOST_FILLED = 200, 9, 400


class OptionError(ValueError):
    """An option with a wrong value; field: its name."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True)
class ReadOptions:
    """None means: to be proposed from the first rows. Once a dataset has them resolved, no file changes them.

    Needed to find the fields: delimiter, quote ("" for none), encoding and header (whether the first line holds the
    names) of CSV and TSV, sheet of XLSX; of all of these title_lines (above the names) and header_lines (that hold
    them, and are joined). A line with fewer values than fewest_filled, or that begins with one of note_words, is no
    row but a note: each line is judged by its own text, so that nobody's row decides on another. fill_merged: whether
    of merged cells of a workbook, which it lists, each in the first column has the first one's value; else only that.
    Applied to each field's text when it is counted: decimal and thousands ("" for none, " " for any of BLANKS),
    missing (texts that mean "no value", beside the empty field), strip (spaces around a value do not count),
    date_format ("iso", "day-first", "month-first" or strptime letters), units (texts behind a number that are no part
    of it: 35 kg is 35).
    """

    delimiter: str | None = None
    encoding: str | None = None
    header: bool = True
    thousands: str | None = None
    decimal: str | None = None
    missing: tuple[str, ...] = ()
    strip: bool = True
    date_format: str | None = None
    quote: str = '"'
    sheet: str | None = None
    title_lines: int | None = None
    header_lines: int | None = None
    fewest_filled: int = 0
    note_words: tuple[str, ...] = ()
    units: tuple[str, ...] | None = None
    fill_merged: bool = False

    def __post_init__(self) -> None:
        _check("delimiter", self.delimiter, DELIMITERS, "a comma, a semicolon, a tab or a vertical bar")
        _check("encoding", self.encoding, ENCODINGS, "one of those on the list")
        _check("quote", self.quote, QUOTES, "a double quote, a single quote or none")
        _check("decimal", self.decimal, DECIMALS, "a point or a comma")
        _check("thousands", self.thousands, THOUSANDS, "none, a comma, a point, a space or an apostrophe")
        if self.thousands and self.thousands == self.decimal:
            raise OptionError("thousands", "The thousands mark and the decimal mark must differ.")
        if self.units and not all(re.fullmatch(UNIT, unit) for unit in self.units):
            raise OptionError("units", UNIT_RULE)
        for name, least, most in (
            ("title_lines", 0, MOST_TITLE_LINES),
            ("header_lines", 1, MOST_HEADER_LINES),
            ("fewest_filled", 0, MOST_FILLED),
        ):
            number = getattr(self, name)
            if number is not None and not least <= number <= most:
                raise OptionError(name, f"This must be a whole number from {least} to {most}.")
        if self.date_format is not None:
            try:
                date_pattern(self.date_format)
            except DateFormatError as error:
                raise OptionError("date_format", str(error)) from None

    @property
    def thousands_marks(self) -> tuple[str, ...]:
        """What stands between thousands."""
        return BLANKS if self.thousands == " " else tuple(self.thousands or "")

    def finds_fields_like(self, other: ReadOptions) -> bool:
        """Whether both find the same fields in a file; what else they declare is applied when texts are counted."""
        return all(getattr(self, name) == getattr(other, name) for name in FINDING)

    @property
    def leaves_out_notes(self) -> bool:
        """Whether some lines are declared to be no rows."""
        return self.fewest_filled > 0 or bool(self.note_words)

    @property
    def is_framed(self) -> bool:
        """Whether a table begins below the first line, or has lines that are no rows."""
        several = self.header and (self.header_lines or 1) > 1
        return bool(self.title_lines) or several or self.leaves_out_notes

    def unframed(self) -> ReadOptions:
        """The options for the same table once it is cut from what stands around it."""
        return replace(self, title_lines=0, header_lines=1, fewest_filled=0, note_words=())

    def framed_like(self, other: ReadOptions) -> ReadOptions:
        """The options with what the other says of the lines around a table."""
        names = ("title_lines", "header_lines", "fewest_filled", "note_words")
        return replace(self, **{name: getattr(other, name) for name in names})

    def settled(self) -> ReadOptions:
        """The options with the plainest value for each that nobody declared."""
        return replace(
            self,
            delimiter=self.delimiter or ",",
            encoding=self.encoding or "utf-8",
            decimal=self.decimal or ("," if self.thousands == "." else "."),
            thousands=self.thousands or "",
            date_format=self.date_format or "iso",
            title_lines=self.title_lines or 0,
            header_lines=self.header_lines or 1,
            units=self.units or (),
        )

    def to_json(self) -> Json:
        units = None if self.units is None else list(self.units)
        return {
            **asdict(self),
            "missing": list(self.missing),
            "note_words": list(self.note_words),
            "units": units,
        }

    @classmethod
    def from_json(cls, value: Json) -> ReadOptions:
        known = {f.name for f in fields(cls)}
        read = {key: item for key, item in value.items() if key in known}
        texts = {name: tuple(read.get(name, ())) for name in ("missing", "note_words")}
        if read.get("thousands") in BLANKS:  # an older version told them apart
            read["thousands"] = " "
        if read.get("units") is not None:
            read["units"] = tuple(read["units"])
        return cls(**{**read, **texts})


def _check(name: str, value: str | None, allowed: tuple[str, ...], words: str) -> None:
    if value is not None and value not in allowed:
        raise OptionError(name, f"This must be {words}.")


@dataclass(frozen=True)
class Limits:
    """The limits of reading.

    columns: of the table. unfolded_bytes: of all its values as the text that a CSV file would hold, where the file is
    small. memory_bytes: resident, of the reading process. free_bytes: that stay free on the disk. seconds: by the wall
    clock. threads: of DuckDB.
    """

    columns: int = 512
    unfolded_bytes: int = 2**28
    memory_bytes: int = 1000 * 2**20
    free_bytes: int = 0
    seconds: float = 1800.0
    threads: int = field(default=2)

    def unfolded_from(self, file_bytes: int) -> int:
        """Bytes of text that a packed file of this size may unfold to.

        Tables of people are packed to a tenth, and rarely to a thirtieth; a file that was made to be a burden,
        to a thousandth and less. A small file may be packed as tightly as it likes.
        """
        return max(self.unfolded_bytes, MOST_RATIO * file_bytes)

    @property
    def engine_bytes(self) -> int:
        """DuckDB's own share of the memory; the rest is the interpreter, libraries and read buffers."""
        return int(self.memory_bytes * 0.6)

    def of_threads(self, threads: int) -> Limits:
        """With so many threads, and the memory that more than two of them take."""
        further = max(0, threads - self.threads) * self.memory_bytes // self.threads
        return replace(self, threads=threads, memory_bytes=self.memory_bytes + further)

    def to_json(self) -> Json:
        return asdict(self)

    @classmethod
    def from_json(cls, value: Json) -> Limits:
        return cls(**value)
