"""A number of 64 bits for each field of a stored table, the same for 5, 5.0 and " 5 ", for true and TRUE.

Of a plain number its double is mixed, of another text the second half of its MD5 is taken: the same on every machine
and with every version of the libraries, since what is recorded of a table must be found again after years.
"""
# ruff: noqa: S608 names and values are quoted by engine.identifier and engine.literal

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cached_property

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from dpportal.tables.engines.duckdb.session import literal
from dpportal.tables.layout import StoredFields, plain_number
from dpportal.tables.meaning.number_syntax import FURTHEST, PLAIN_NUMBER, SPACES

FACTOR, SHIFT = np.uint64(0xD6E8FEB86659FD93), np.uint64(32)
TRUTHS = ("true", "false")
# Different texts of a batch up to which each is looked up among those before, of which so many short ones are known.
FEW, MOST_KNOWN, LONGEST_KNOWN = 10_000, 200_000, 64


def mixed(words: np.ndarray) -> np.ndarray:
    """A permutation of 64 bits, each moved by every bit of the argument (after Pelle Evensen's mixers)."""
    words = words ^ (words >> SHIFT)
    for _ in range(2):
        words = words * FACTOR
        words ^= words >> SHIFT
    return words


def of_numbers(numbers: np.ndarray) -> np.ndarray:
    """Digests of doubles, of which -0 is 0."""
    return mixed((numbers + 0.0).view(np.uint64))


def of_text(text: str | None) -> int:
    """The digest of one field."""
    text = (text or "").strip(SPACES)
    if re.fullmatch(PLAIN_NUMBER, text):
        return int(of_numbers(np.array([float(text)]))[0])
    return _md5(text.lower() if text.lower() in TRUTHS else text or "\0")


def _md5(text: str) -> int:
    return int.from_bytes(hashlib.md5(text.encode(), usedforsecurity=False).digest()[8:], "little")


EMPTY = np.uint64(of_text(None))


def _texts_query() -> str:
    """SQL: of many trimmed texts the number of each that is one, and the digest of each that is not empty."""
    # A cast is cheap where it fails, and most texts are no numbers.
    number = f"CASE WHEN TRY_CAST(present AS DOUBLE) IS NOT NULL THEN {plain_number('present')} END"
    truths = ", ".join(map(literal, TRUTHS))
    is_truth = f"strlen(present) IN (4, 5) AND lower(present) IN ({truths})"
    word = f"CASE WHEN {is_truth} THEN lower(present) ELSE present END"
    # `md5_number_lower` is the same and takes four times as long.
    digest = f"(md5_number({word}) >> 64)::UBIGINT"
    return (
        f"SELECT {number} AS number, {digest} AS digest FROM (SELECT nullif(text, '') AS present FROM texts)"
    )


TEXTS = _texts_query()


@dataclass(frozen=True)
class Fields:
    """Digests of a batch of a column's fields. different, places: where each different one is given once.

    Without places `different` has one for each row. places: as wide as numpy's own, which it takes without a copy.
    """

    different: np.ndarray
    places: np.ndarray | None = None

    def __len__(self) -> int:
        """How many rows."""
        return len(self.different if self.places is None else self.places)

    @cached_property
    def of_rows(self) -> np.ndarray:
        return self.different if self.places is None else self.different[self.places]

    @property
    def counted(self) -> tuple[np.ndarray, np.ndarray | None]:
        """Those that occur, and how many rows each is of; one each where that is None."""
        if self.places is None:
            return self.different, None
        times = np.bincount(self.places, minlength=len(self.different)).astype(np.uint64)
        return self.different[times > 0], times[times > 0]


class FieldDigests:
    """Works out the digests of columns, a batch at a time. connection: for texts of which there are many.

    What it keeps has a bound, however many columns and rows there are and however long their texts.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self._known: dict[str | None, int] = {}

    def of(self, stored: StoredFields) -> Fields:
        """The digests of a batch's fields."""
        numbers = stored.numbers
        if numbers is None:
            return self._of_texts(stored.texts)
        if not numbers.null_count:
            return _of_numbers(numbers)
        digests = of_numbers(numbers.fill_null(0.0).to_numpy())
        absent = numbers.is_null().to_numpy(zero_copy_only=False)
        digests[absent] = self._of_texts(stored.texts.filter(pa.array(absent))).of_rows
        return Fields(digests)

    def _of_texts(self, texts: pa.Array) -> Fields:
        if texts.null_count == len(texts):
            return Fields(np.array([EMPTY]), np.zeros(len(texts), np.intp))
        if not pt.is_dictionary(texts.type):
            return Fields(self._of_many(texts))
        digests = np.append(self._of_different(texts.dictionary), EMPTY)
        indices = texts.indices
        places = (indices.fill_null(len(digests) - 1) if indices.null_count else indices).to_numpy()
        return Fields(digests, places.astype(np.intp))

    def _of_different(self, texts: pa.Array) -> np.ndarray:
        if len(texts) > FEW:
            return self._of_many(texts)
        if len(self._known) > MOST_KNOWN:
            self._known.clear()
        return np.array([self._of_one(text) for text in texts.to_pylist()], np.uint64)

    def _of_one(self, text: str | None) -> int:
        if (digest := self._known.get(text)) is None:
            digest = of_text(text)
            if text is None or len(text) <= LONGEST_KNOWN:
                self._known[text] = digest
        return digest

    def _of_many(self, texts: pa.Array) -> np.ndarray:
        # Arrow looks at both ends of a text, the engine's `trim` at each character between them.
        self._connection.register("texts", pa.table({"text": pc.utf8_trim(texts, SPACES)}))
        table: pa.Table = self._connection.sql(TEXTS).to_arrow_table()
        self._connection.unregister("texts")
        number, digest = table["number"].combine_chunks(), table["digest"].combine_chunks()
        of_number = number.is_valid().to_numpy(zero_copy_only=False)
        digests: np.ndarray = digest.fill_null(EMPTY).to_numpy().copy()
        digests[of_number] = of_numbers(number.drop_null().to_numpy())
        return digests


def _of_numbers(numbers: pa.Array) -> Fields:
    """Of whole numbers that lie close together each is worked out once, which also counts them."""
    doubles = numbers.to_numpy()
    lowest, highest = float(doubles.min()), float(doubles.max())
    if highest - lowest < FEW and abs(lowest) < FURTHEST:
        places = (doubles - lowest).astype(np.intp)
        if np.array_equal(places + lowest, doubles):
            return Fields(of_numbers(lowest + np.arange(highest - lowest + 1)), places)
    return Fields(of_numbers(doubles))
