"""The formats in which a table can be uploaded: a file each here, and a line each in `FORMATS`.

Messages, pages and the list of files that a browser offers follow from the registry. None of it loads a reader: that
happens in the process that reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dpportal.tables.formats.feather import Feather
from dpportal.tables.formats.parquet import Parquet
from dpportal.tables.formats.reader import Format, Reading
from dpportal.tables.formats.text import Text
from dpportal.tables.formats.xlsx import Xlsx

__all__ = [
    "ENDINGS",
    "FORMATS",
    "TEXT",
    "TITLES",
    "Format",
    "Reading",
    "each_title",
    "has_lines",
    "has_sheets",
    "leaves_out_rows",
    "titles",
]

# What no other format recognises is taken for text.
TEXT = Text()
FORMATS: tuple[Format, ...] = (
    TEXT,
    Parquet(),
    Feather(),
    Xlsx(),
)


def titles(formats: Iterable[Format]) -> str:
    """Their titles in a sentence: “CSV, Parquet or XLSX”."""
    *first, last = each_title(formats)
    return f"{', '.join(first)} or {last}" if first else last


def each_title(formats: Iterable[Format]) -> list[str]:
    """Their titles, one after the other."""
    return [title for known in formats for title in known.titles]


def has_sheets(name: str | None) -> bool:
    """Whether a file of the format of that name can hold several tables."""
    return any(known.has_sheets for known in FORMATS if known.name == name)


def has_lines(name: str | None) -> bool:
    """Whether other lines can stand around the table in a file of the format of that name, or of none that is known."""
    return any(known.has_lines for known in FORMATS if name in (known.name, None))


def leaves_out_rows(name: str | None, options: Mapping[str, object]) -> bool:
    """Whether a person's own values can make their row none of the table: a note, or in a workbook an empty line.

    name: of a format. options: as a dataset declares them.
    """
    skipping = any(known.skips_empty_rows for known in FORMATS if known.name == name)
    return skipping or any(options.get(rule) for rule in ("fewest_filled", "note_words"))


TITLES = titles(FORMATS)
# As a browser takes them: which files are offered first.
ENDINGS = ",".join(ending for known in FORMATS for ending in known.endings)
