"""What recognises a table, whatever its format, delimiter, encoding, row order and column order."""
# ruff: noqa: S608 names and values are quoted by engine.identifier and engine.literal

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np

from dpportal.datasets.rawdata.engine import literal, parquet
from dpportal.datasets.rawdata.layout import LOOKED_UP, NARROW, StoredColumn, layout, plain_number
from dpportal.datasets.rawdata.progress import Report
from dpportal.datasets.rawdata.reading import TRIMMED
from dpportal.datasets.rawdata.sketch import Sketcher

LOW_64_BITS = 2**64 - 1
# Digests of fields that are held at a time.
BATCH_FIELDS = 2**21
# Characters of a plain number's text, up to which it has no more digits than a double keeps.
DIGITS = 15


def canonical_text(column: StoredColumn) -> str:
    """SQL: a field's text, the same for 5, 5.0 and " 5 ", for true and TRUE; NULL if it is empty."""
    plain = f"CASE WHEN {_written_already(column)} THEN {column.text} ELSE {_written(str(column.plain))} END"
    if column.all_plain:
        return plain
    text = f"nullif(regexp_extract({column.text}, {literal(TRIMMED)}, 1, 's'), '')"
    # A cast is cheap where it fails, and most texts are no numbers.
    number = f"CASE WHEN TRY_CAST({text} AS DOUBLE) IS NOT NULL THEN {plain_number(text)} END"
    truth = f"CASE WHEN lower({text}) IN ('true', 'false') THEN lower({text}) ELSE {text} END"
    other = f"CASE WHEN {number} IS NULL THEN {truth} ELSE {_written(number)} END"
    return f"CASE WHEN {column.plain} IS NOT NULL THEN {plain} ELSE {other} END" if column.plain else other


def _written(number: str) -> str:
    return f"CASE WHEN {number} = floor({number}) THEN {number}::BIGINT::VARCHAR ELSE {number}::VARCHAR END"


def _written_already(column: StoredColumn) -> str:
    """SQL: whether a plain number's text is what would be written for it: short, without a zero at its end.

    A number that is less than a thousandth could be written with an exponent.
    """
    return (
        f"NOT suffix({column.text}, '0') AND strlen({column.text}) <= {DIGITS} "
        f"AND (abs({column.plain}) >= 0.001)"
    )


@dataclass(frozen=True)
class Print:
    """By what a table is recognised. digest: see `look`. sketch: the bytes of a `Sketch`; nothing without a key."""

    digest: str
    sketch: bytes = b""


def look(
    connection: duckdb.DuckDBPyConnection, path: Path, rows: int, report: Report, key: bytes | None = None
) -> Print:
    """What recognises a table, from one look at each of its rows. key: of the sketch, 32 bytes.

    The digest is the SHA-256 of the column names, the number of rows and the sum of the rows' MD5 digests, in
    hexadecimal. The sum makes it independent of row order and, unlike exclusive or, keeps repeated rows. It recognises
    a table that is uploaded again in another form; one that is nearly the same is recognised by its sketch.
    """
    columns = layout(connection, path)
    names = sorted(columns)
    few = [name for name in names if columns[name].few][: LOOKED_UP if len(names) <= NARROW else 0]
    fields = [_Fields(connection, path, columns[name], few=name in few) for name in names]
    sketcher = Sketcher(key, len(names)) if key else None
    if sketcher:
        for place, field in enumerate(fields):
            field.sketch(sketcher, place)
    seen, sums = 0, [0, 0]
    query = _rows(path, fields, sketched=sketcher is not None)
    for batch in connection.sql(query).to_arrow_reader(max(1024, BATCH_FIELDS // (len(fields) + 2))):
        low, high, *digests = (column.to_numpy() for column in batch.columns)
        seen += len(low)
        sums = [total + _sum(part) for total, part in zip(sums, (low, high), strict=True)]
        if sketcher:
            sketcher.add(digests, [place for place, field in enumerate(fields) if not field.few])
        report(seen / max(1, rows))
    digest = hashlib.sha256(json.dumps([names, *map(str, (seen, *sums))]).encode()).hexdigest()
    return Print(digest, sketcher.sketch.to_bytes() if sketcher else b"")


class _Fields:
    """A column's canonical texts and their digests; of few different texts each is worked out once."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, path: Path, column: StoredColumn, *, few: bool
    ) -> None:
        self.connection, self.column, self.few = connection, column, few
        if self.few:
            text = _present(StoredColumn(column.number, "text"))
            connection.execute(
                f"CREATE TEMP TABLE {self._table} AS SELECT text, rows, field, {_digest('field')} AS digest "
                f"FROM (SELECT text, rows, {text} AS field "
                f"FROM (SELECT {column.text} AS text, count(*) AS rows FROM {parquet(path)} GROUP BY 1))"
            )

    @property
    def _table(self) -> str:
        return f"fields_{self.column.number}"

    @property
    def text(self) -> str:
        return f"{self._table}.field" if self.few else _present(self.column)

    @property
    def digest(self) -> str:
        """SQL of the digest, where the texts are named `self.name`."""
        return f"digest_{self.column.number}" if self.few else _digest(self.name)

    @property
    def name(self) -> str:
        return f"field_{self.column.number}"

    def sketch(self, sketcher: Sketcher, place: int) -> None:
        """Add the fields of a column of few texts."""
        if not self.few:
            return
        found = self.connection.sql(f"SELECT digest, sum(rows)::UBIGINT FROM {self._table} GROUP BY digest")
        for batch in found.to_arrow_reader(BATCH_FIELDS):
            sketcher.add_fields(place, *(column.to_numpy() for column in batch.columns))

    @property
    def join(self) -> str:
        return (
            f"JOIN {self._table} ON {self.column.text} IS NOT DISTINCT FROM {self._table}.text"
            if self.few
            else ""
        )


def _digest(text: str) -> str:
    """SQL: the second half of a text's MD5 as a number. `md5_number_lower` is the same and takes four times as long."""
    return f"(md5_number({text}) >> 64)::UBIGINT"


def _present(column: StoredColumn) -> str:
    return f"coalesce({canonical_text(column)}, chr(0))"


def _rows(path: Path, fields: Sequence[_Fields], *, sketched: bool) -> str:
    """SQL: the halves of each row's digest, and those of its fields where they are sketched."""
    texts = [f"{field.text} AS {field.name}" for field in fields]
    texts += [f"{field._table}.digest AS {field.digest}" for field in fields if field.few and sketched]
    joins = " ".join(field.join for field in fields)
    # `concat_ws` takes half as long again; no field is NULL.
    joined = ", chr(31), ".join(field.name for field in fields)
    whole = f"md5_number(concat({joined}))::UHUGEINT AS digest"
    digests = [f"{field.digest} AS f{place}" for place, field in enumerate(fields) if sketched]
    return f"""
        SELECT (digest & {LOW_64_BITS}::UHUGEINT)::UBIGINT AS low, (digest >> 64)::UBIGINT AS high, * EXCLUDE digest
        FROM (SELECT {", ".join([whole, *digests])}
              FROM (SELECT {", ".join(texts)} FROM {parquet(path)} AS rows {joins}))
    """


def _sum(words: np.ndarray) -> int:
    """The exact sum of 64-bit words."""
    low, high = words & np.uint64(0xFFFFFFFF), words >> np.uint64(32)
    return int(low.sum()) + (int(high.sum()) << 32)
