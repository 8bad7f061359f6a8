"""The fingerprint of a table, the same in every format, delimiter, encoding, row order and column order."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

import duckdb
import numpy as np

from dpportal.tables.layout import StoredFields
from dpportal.tables.similarity.field_digests import FieldDigests, Fields, mixed
from dpportal.tables.similarity.sketch import Sketcher

# What the digest is, so that no other kind is ever taken for the same.
KIND = "mixed fields 2"


class Fingerprint:
    """The fingerprint of a table, from one pass over its rows.

    names: of the columns. connection: of an engine that has nothing else to do. key: of the sketch, 32 bytes.
    """

    def __init__(
        self, names: Sequence[str], connection: duckdb.DuckDBPyConnection, key: bytes | None = None
    ) -> None:
        self._names = sorted(names)
        self._places = [names.index(name) for name in self._names]
        self._digests_of = FieldDigests(connection)
        self._factors = mixed(np.arange(1, len(names) + 1, dtype=np.uint64)) | np.uint64(1)
        self._sketcher = Sketcher(key, len(names)) if key else None
        self._rows = self._total = 0

    def add(self, columns: Sequence[StoredFields]) -> None:
        """Look at further rows. columns: in the table's order."""
        fields = [self._digests_of.of(columns[place]) for place in self._places]
        rows = self._digests(fields)
        self._rows += len(rows)
        self._total += _sum(rows)
        if self._sketcher:
            self._sketcher.add(fields)

    @property
    def digest(self) -> str:
        """The SHA-256 of its kind, the column names, the number of rows and the exact sum of the rows' digests.

        The sum makes it independent of row order and, unlike exclusive or, keeps repeated rows. It recognises a table
        that is uploaded again in another form; one that is nearly the same is recognised by its sketch. It does not
        resist somebody who makes another table of the same digest, who would gain nothing: theirs would be taken for
        one that has its budget. Who has no key cannot test a guess, since only a keyed fingerprint of it is kept.
        """
        content = json.dumps([KIND, self._names, str(self._rows), str(self._total)])
        return hashlib.sha256(content.encode()).hexdigest()

    @property
    def sketch(self) -> bytes:
        """The bytes of a `Sketch`; nothing without a key."""
        return self._sketcher.sketch.to_bytes() if self._sketcher else b""

    def _digests(self, fields: Sequence[Fields]) -> np.ndarray:
        """A digest of each row, in which every field has its place."""
        sums = np.zeros(len(fields[0]), np.uint64)
        for factor, column in zip(self._factors, fields, strict=True):
            sums += column.of_rows * factor
        return mixed(sums)


def _sum(words: np.ndarray) -> int:
    """The exact sum of 64-bit words."""
    low, high = words & np.uint64(0xFFFFFFFF), words >> np.uint64(32)
    return int(low.sum()) + (int(high.sum()) << 32)
