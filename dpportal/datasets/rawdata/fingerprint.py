"""What recognises a table, whatever its format, delimiter, encoding, row order and column order."""
# ruff: noqa: S608 names and values are quoted by engine.identifier and engine.literal

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np

from dpportal.datasets.rawdata.engine import literal, parquet
from dpportal.datasets.rawdata.layout import StoredColumn, layout, plain_number
from dpportal.datasets.rawdata.progress import Report
from dpportal.datasets.rawdata.reading import TRIMMED
from dpportal.datasets.rawdata.sketch import Sketcher

LOW_64_BITS = 2**64 - 1
# Digests of fields that are held at a time.
BATCH_FIELDS = 2**21


def canonical_text(column: StoredColumn) -> str:
    """SQL: a field's text, the same for 5, 5.0 and " 5 ", for true and TRUE; NULL if it is empty."""
    if column.all_plain:
        return _written(str(column.plain))
    text = f"nullif(regexp_extract({column.text}, {literal(TRIMMED)}, 1, 's'), '')"
    # A cast is cheap where it fails, and most texts are no numbers.
    read = f"CASE WHEN TRY_CAST({text} AS DOUBLE) IS NOT NULL THEN {plain_number(text)} END"
    number = f"coalesce({column.plain}, {read})" if column.plain else read
    truth = f"CASE WHEN lower({text}) IN ('true', 'false') THEN lower({text}) ELSE {text} END"
    return f"CASE WHEN {number} IS NULL THEN {truth} ELSE {_written(number)} END"


def _written(number: str) -> str:
    return f"CASE WHEN {number} = floor({number}) THEN {number}::BIGINT::VARCHAR ELSE {number}::VARCHAR END"


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
    texts = [f"coalesce({canonical_text(columns[name])}, chr(0))" for name in names]
    sketcher = Sketcher(key, len(names)) if key else None
    fields = [f"md5_number_lower({text}) AS f{place}" for place, text in enumerate(texts)] if key else []
    query = f"""
        SELECT (digest & {LOW_64_BITS}::UHUGEINT)::UBIGINT AS low, (digest >> 64)::UBIGINT AS high, * EXCLUDE digest
        FROM (SELECT {", ".join([f"md5_number(concat_ws(chr(31), {', '.join(texts)}))::UHUGEINT AS digest", *fields])}
              FROM {parquet(path)})
    """
    seen, sums = 0, [0, 0]
    for batch in connection.sql(query).to_arrow_reader(max(1024, BATCH_FIELDS // (len(fields) + 2))):
        low, high, *digests = (column.to_numpy() for column in batch.columns)
        seen += len(low)
        sums = [total + _sum(part) for total, part in zip(sums, (low, high), strict=True)]
        if sketcher:
            sketcher.add(digests)
        report(seen / max(1, rows))
    digest = hashlib.sha256(json.dumps([names, *map(str, (seen, *sums))]).encode()).hexdigest()
    return Print(digest, sketcher.sketch.to_bytes() if sketcher else b"")


def _sum(words: np.ndarray) -> int:
    """The exact sum of 64-bit words."""
    low, high = words & np.uint64(0xFFFFFFFF), words >> np.uint64(32)
    return int(low.sum()) + (int(high.sum()) << 32)
