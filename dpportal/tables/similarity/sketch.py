"""A small keyed sample of a table's rows and columns, by which nearly equal tables are found without their rows.

A row is known by the sum of its fields' digests, so neither names nor order of columns matter to it; a column by its
fields. A cipher under a secret key gives every different row, and every different field of a column, a number; kept are
the least numbers, each with how often its row or field occurs (a bottom-k sample: Cohen and Kaplan 2007). Without the
key nobody can tell which rows are in a sample, test a guess, or make a table that avoids the sample of another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from dpportal.tables.similarity.field_digests import Fields

MOST_ROWS, MOST_FIELDS = 1024, 128
NOTHING = np.uint64(2**64 - 1)
# What a number is of, in the cipher's block beside the digest.
ROW, FIELD = 0, 1
# Columns are alike if they hold so much of all their fields in common; of fewer sampled rows nothing is said.
ALIKE, FEWEST = 0.95, 8
FIRST_LOOKED_AT = 4


@dataclass
class Sample:
    """Of all numbers that were added the least `size` different ones, increasing, each with how often it was added."""

    size: int
    numbers: np.ndarray = field(default_factory=lambda: np.empty(0, np.uint64))
    counts: np.ndarray = field(default_factory=lambda: np.empty(0, np.uint64))

    @property
    def bound(self) -> np.uint64:
        """Up to here nothing is left out."""
        return self.numbers[-1] if len(self.numbers) == self.size else NOTHING

    def add(self, numbers: np.ndarray, times: np.ndarray | None = None) -> None:
        """numbers: (n,) uint64, each added so many times, or once.

        One that is too large now is too large for good, so no count is cut short.
        """
        within = numbers <= self.bound
        own = numbers[within]
        if not len(own):
            return
        counts = np.ones(len(own), np.uint64) if times is None else times[within]
        merged, places = np.unique(np.concatenate([self.numbers, own]), return_inverse=True)
        total = np.zeros(len(merged), np.uint64)
        np.add.at(total, places, np.concatenate([self.counts, counts]))
        self.numbers, self.counts = merged[: self.size], total[: self.size]

    def to_array(self) -> np.ndarray:
        """(2 size,) uint64: always as long, so that its length says nothing."""
        array = np.full(2 * self.size, NOTHING)
        array[: len(self.numbers)] = self.numbers
        array[self.size : self.size + len(self.counts)] = self.counts
        return array

    @classmethod
    def of_array(cls, array: np.ndarray) -> Sample:
        size = len(array) // 2
        filled = int(np.count_nonzero(array[size:] != NOTHING))
        return cls(size, array[:filled], array[size : size + filled])


@dataclass
class Sketch:
    """Samples of a table's rows and of each column's fields."""

    rows: Sample
    columns: list[Sample]

    @classmethod
    def of_nothing(cls, columns: int) -> Sketch:
        return cls(Sample(MOST_ROWS), [Sample(MOST_FIELDS) for _ in range(columns)])

    def to_bytes(self) -> bytes:
        return np.concatenate([s.to_array() for s in (self.rows, *self.columns)]).tobytes()

    @classmethod
    def from_bytes(cls, content: bytes) -> Sketch:
        array = np.frombuffer(content, np.uint64)
        rows, columns = array[: 2 * MOST_ROWS], array[2 * MOST_ROWS :]
        return cls(Sample.of_array(rows), [Sample.of_array(c) for c in columns.reshape(-1, 2 * MOST_FIELDS)])


class Sketcher:
    """Adds rows to a sketch, a batch at a time. key: secret, 32 bytes."""

    def __init__(self, key: bytes, columns: int) -> None:
        self._cipher = Cipher(algorithms.AES(key), modes.ECB())  # noqa: S305 (a permutation is what is wanted)
        self.sketch = Sketch.of_nothing(columns)

    def add(self, columns: Sequence[Fields]) -> None:
        """columns: digests of each column's fields in the next rows."""
        rows = np.zeros(len(columns[0]), np.uint64)
        for sample, column in zip(self.sketch.columns, columns, strict=True):
            rows += column.of_rows
            different, times = column.counted
            sample.add(self._numbers(different, FIELD), times)
        self.sketch.rows.add(self._numbers(rows, ROW))

    def _numbers(self, digests: np.ndarray, of: int) -> np.ndarray:
        blocks = np.full((len(digests), 2), of, np.uint64)
        blocks[:, 0] = digests
        return np.frombuffer(
            self._cipher.encryptor().update(blocks.view(np.uint8).reshape(-1).data), np.uint64
        )[::2]


@dataclass(frozen=True)
class Likeness:
    """How alike two tables look. rows: the share of the rows of one that the other has, too, the larger of the two.

    columns: how many columns of the one with fewer hold nearly the same fields, as often, as one of the other.
    """

    rows: float
    columns: int
    of_columns: int

    @property
    def is_close(self) -> bool:
        """Whether the tables may hold the same people: half of the rows, or two thirds of the columns."""
        return self.rows >= 0.5 or (self.columns >= 2 and 3 * self.columns >= 2 * self.of_columns)


def likeness(one: Sketch, other: Sketch) -> Likeness:
    """Estimated from the samples; exact where a table has fewer different rows, a column fewer fields, than kept."""
    shared, own, others = _common(one.rows, other.rows)
    complete = one.rows.bound == NOTHING and other.rows.bound == NOTHING
    sampled = [total for total in (own, others) if total >= FEWEST or (complete and total)]
    rows = max((shared / total for total in sampled), default=0.0)
    few, many = sorted((one.columns, other.columns), key=len)
    return Likeness(rows, _matched(few, many), len(few))


def _common(one: Sample, other: Sample) -> tuple[int, int, int]:
    """How much is in both, in one and in the other, of all numbers below which neither sample leaves anything out."""
    bound = min(one.bound, other.bound)
    below = [(s.numbers[s.numbers <= bound], s.counts[s.numbers <= bound]) for s in (one, other)]
    (numbers, counts), (other_numbers, other_counts) = below
    _both, at, other_at = np.intersect1d(numbers, other_numbers, assume_unique=True, return_indices=True)
    shared = int(np.minimum(counts[at], other_counts[other_at]).sum())
    return shared, int(counts.sum()), int(other_counts.sum())


def _matched(few: list[Sample], many: list[Sample]) -> int:
    """How many of the few columns have one among the many that is alike, no two the same."""
    free = set(range(len(many)))
    # Columns that are alike have nearly always one of their least numbers in common.
    places: dict[int, list[int]] = {}
    for place, sample in enumerate(many):
        for number in sample.numbers[:FIRST_LOOKED_AT].tolist():
            places.setdefault(number, []).append(place)
    matched = 0
    for sample in few:
        near = {p for number in sample.numbers[:FIRST_LOOKED_AT].tolist() for p in places.get(number, ())}
        partner = next((p for p in sorted(near & free) if _alike(sample, many[p])), None)
        if partner is not None:
            free.discard(partner)
            matched += 1
    return matched


def _alike(one: Sample, other: Sample) -> bool:
    """Whether two columns hold the same fields nearly as often; of a column with one field that says nothing."""
    shared, own, others = _common(one, other)
    return min(len(one.numbers), len(other.numbers)) > 1 and shared >= ALIKE * (own + others - shared)
