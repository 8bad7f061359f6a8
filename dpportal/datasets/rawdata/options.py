"""How a curator wants a file to be read, and how much of it may be read at all."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any

DELIMITERS = (",", ";", "\t", "|")
MAX_LINE_BYTES = 2_000_000
MAX_NAME_LENGTH = 200


@dataclass(frozen=True)
class ReadOptions:
    """None means: found out from the file. All but `missing` matter for CSV and TSV only.

    header: whether the first line holds the names. thousands, decimal: separators inside numbers.
    missing: texts that mean "no value", beside the empty field. strip: spaces around a field do not count.
    date_format: of dates that are not ISO 8601, in strptime letters, for example "%d.%m.%Y".
    """

    delimiter: str | None = None
    encoding: str | None = None
    header: bool = True
    thousands: str | None = None
    decimal: str = "."
    missing: tuple[str, ...] = ()
    strip: bool | None = None
    date_format: str | None = None

    def __post_init__(self) -> None:
        if self.delimiter is not None and self.delimiter not in DELIMITERS:
            raise ValueError("the delimiter must be a comma, a semicolon, a tab or a vertical bar")
        if self.decimal not in (".", ","):
            raise ValueError("the decimal separator must be a point or a comma")
        if self.thousands not in (None, ",", ".", " ", "'", "\u00a0", "\u202f"):
            raise ValueError("the thousands separator must be a comma, a point, a space or an apostrophe")
        if self.thousands == self.decimal:
            raise ValueError("the thousands separator and the decimal separator must differ")

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "missing": list(self.missing)}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> ReadOptions:
        known = {f.name for f in fields(cls)}
        read = {key: item for key, item in value.items() if key in known}
        return cls(**{**read, "missing": tuple(read.get("missing", ()))})


@dataclass(frozen=True)
class Limits:
    """Where reading stops.

    columns, rows: of the table. unfolded_bytes: of all its values in their plainest form, and of any file
    written on the way. memory_bytes: of the reading process. seconds: by the wall clock. threads: of DuckDB.
    """

    columns: int = 400
    rows: int = 200_000_000
    unfolded_bytes: int = 4 * 2**30
    memory_bytes: int = 1000 * 2**20
    seconds: float = 1800.0
    threads: int = field(default=2)

    @property
    def engine_bytes(self) -> int:
        """DuckDB's own share of the memory; the rest is the interpreter, libraries and read buffers."""
        return int(self.memory_bytes * 0.6)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Limits:
        return cls(**value)
