"""Whole rows of cells as a vector of integers, for methods whose last question follows from noisy answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mechanisms.arrays import Integers

_LARGEST = 2**62
# Rows that are unpacked at a time.
BLOCK = 1 << 16


@dataclass(frozen=True)
class WholeRows:
    """Rows of d cells, as many columns in one integer as there is room for.

    shape: cells of each column.
    """

    shape: tuple[int, ...]

    @cached_property
    def words(self) -> tuple[tuple[int, ...], ...]:
        """The columns that share an integer."""
        words: list[list[int]] = []
        room = 0
        for place, size in enumerate(self.shape):
            if room < size:
                words.append([])
                room = _LARGEST
            words[-1].append(place)
            room //= size
        return tuple(tuple(word) for word in words)

    def pack(self, rows: np.ndarray) -> Integers:
        """(n, d) integers to (n · words,) int64."""
        packed = np.zeros((len(self.words), rows.shape[0]), dtype=np.int64)
        for word, columns in zip(packed, self.words, strict=True):
            for place in columns:
                word *= self.shape[place]
                word += rows[:, place]
        return packed.ravel()

    def number(self, values: Integers) -> int:
        """How many rows were packed. Raises ValueError if it cannot be so many words."""
        if values.size % len(self.words):
            raise ValueError(f"whole rows of {len(self.words)} words cannot take {values.size} integers")
        return values.size // len(self.words)

    def among(self, values: Integers, places: Sequence[int]) -> Integers:
        """The same rows of some columns alone, packed."""
        fewer = WholeRows(tuple(self.shape[place] for place in places))
        words = np.empty((len(fewer.words), self.number(values)), dtype=np.int64)
        start = 0
        for rows in self.blocks(values):
            words[:, start : start + len(rows)] = fewer.pack(rows[:, list(places)]).reshape(len(words), -1)
            start += len(rows)
        return words.ravel()

    def blocks(self, values: Integers) -> Iterator[Integers]:
        """(n, d) int64 again, some rows at a time, so that memory never holds all of them unpacked."""
        words = values.reshape(len(self.words), self.number(values))
        for start in range(0, words.shape[1], BLOCK):
            packed = words[:, start : start + BLOCK]
            rows = np.empty((packed.shape[1], len(self.shape)), dtype=np.int64)
            for word, columns in zip(packed, self.words, strict=True):
                for place in reversed(columns):
                    word, rows[:, place] = np.divmod(word, self.shape[place])
            yield rows
