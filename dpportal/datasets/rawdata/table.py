"""What is known of a stored table: its columns and how it was read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from dpportal.datasets.rawdata.faults import UploadFault
from dpportal.datasets.rawdata.options import MAX_NAME_LENGTH

Kind = Literal["text", "integer", "real", "date", "boolean"]
SQL_TYPES: dict[Kind, str] = {
    "text": "VARCHAR",
    "integer": "BIGINT",
    "real": "DOUBLE",
    "date": "DATE",
    "boolean": "BOOLEAN",
}


@dataclass(frozen=True)
class Column:
    """A stored column. remark: a hint for the curator about how its values were read, or nothing."""

    name: str
    kind: Kind
    remark: str = ""

    def to_json(self) -> dict[str, str]:
        return asdict(self)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Column:
        return cls(**value)


@dataclass(frozen=True)
class TableFacts:
    """The result of a conversion.

    format: "csv", "parquet" or "xlsx". delimiter, encoding: of a CSV, else None.
    content_digest: see `fingerprint.content_digest`.
    """

    rows: int
    columns: tuple[Column, ...]
    format: str
    delimiter: str | None
    encoding: str | None
    content_digest: str

    def with_digest(self, content_digest: str) -> TableFacts:
        return replace(self, content_digest=content_digest)

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "columns": [column.to_json() for column in self.columns]}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> TableFacts:
        return cls(**{**value, "columns": tuple(map(Column.from_json, value["columns"]))})


def checked_names(header: Sequence[str | None], most: int) -> tuple[str, ...]:
    """The header's names, stripped. Raises UploadFault if they cannot name the columns of a table."""
    if len(header) > most:
        raise UploadFault(
            "columns",
            f"The table has {len(header):,} columns; at most {most:,} are read. "
            "Keep the columns that you want to publish and upload again.",
        )
    names = tuple((name or "").strip() for name in header)
    first_seen: dict[str, int] = {}
    for number, name in enumerate(names, 1):
        _check_name(name, number)
        if (first := first_seen.setdefault(name.casefold(), number)) != number:
            raise UploadFault(
                "duplicate-name",
                f"Columns {first} and {number} have the same name (capitals do not count). "
                "Give each column a name of its own in the first row.",
                row=1,
                column=number,
            )
    return names


def _check_name(name: str, number: int) -> None:
    if not name:
        wrong = f"Column {number} has no name. Write a name for it in the first row"
        raise UploadFault("blank-name", f"{wrong}, or remove the column.", row=1, column=number)
    if len(name) > MAX_NAME_LENGTH or any(ord(character) < 32 for character in name):
        raise UploadFault(
            "long-name",
            f"The name of column {number} is longer than {MAX_NAME_LENGTH} characters or spans lines. "
            "Shorten it in the first row; if the first row holds no names, say so.",
            row=1,
            column=number,
        )
