"""Sets of columns whose marginal tables are asked for or measured, laid out so that equal shapes stand together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from operator import itemgetter

import numpy as np

from mechanisms.matrix.workload.union import Workload

Axes = tuple[int, ...]
# Numbers worked on at a time.
_BATCH = 1 << 20


def requested_marginals(workload: Workload) -> dict[Axes, float]:
    """Weight² of each marginal table of a workload of nothing but marginals.

    Columns of a single cell are left out: the table is the same without them.
    """
    requested: dict[Axes, float] = {}
    for axes, weight_squared in zip(term_axes(workload), (t.weight**2 for t in workload.terms), strict=True):
        requested[axes] = requested.get(axes, 0.0) + weight_squared
    return requested


def term_axes(workload: Workload) -> list[Axes]:
    """The columns with more than one cell that each term, a whole marginal table, keeps apart."""
    return [tuple(sorted(i for i, f in term.factors.items() if f.queries > 1)) for term in workload.terms]


@dataclass(frozen=True)
class Batch:
    """Sets first..last-1 of a `MarginalSets`, whose tables all have this shape."""

    first: int
    last: int
    shape: tuple[int, ...]

    @property
    def count(self) -> int:
        return self.last - self.first

    @property
    def cells(self) -> int:
        return math.prod(self.shape)


@dataclass(frozen=True)
class MarginalSets:
    """Marginal tables of a domain of the given shape, one after the other, smaller sets of columns first."""

    shape: tuple[int, ...]
    sets: tuple[Axes, ...]

    @classmethod
    def of(cls, shape: tuple[int, ...], sets: Iterable[Axes]) -> MarginalSets:
        return cls(shape, tuple(sorted(set(sets), key=lambda s: (len(s), [shape[i] for i in s], s))))

    @classmethod
    def closed(cls, shape: tuple[int, ...], sets: Iterable[Axes]) -> MarginalSets:
        """The sets with all their subsets; the empty set comes first."""
        return cls.of(shape, (below for s in sets for r in range(len(s) + 1) for below in combinations(s, r)))

    def table_shape(self, axes: Axes) -> tuple[int, ...]:
        return tuple(self.shape[i] for i in axes)

    @cached_property
    def index(self) -> dict[Axes, int]:
        return {axes: i for i, axes in enumerate(self.sets)}

    @cached_property
    def cells(self) -> np.ndarray:
        """(k,) int64: the cells of each table."""
        return np.array([math.prod(self.table_shape(axes)) for axes in self.sets], dtype=np.int64)

    @cached_property
    def starts(self) -> np.ndarray:
        """(k + 1,) int64: where each table begins, and where the last one ends."""
        return np.concatenate([[0], np.cumsum(self.cells)])

    @property
    def size(self) -> int:
        """Cells of all tables together."""
        return int(self.starts[-1])

    @cached_property
    def rests(self) -> np.ndarray:
        """(k,) the product of (n - 1)/n over each set's columns of n cells: what is left of a cell in a residual."""
        return np.array([math.prod(1 - 1 / n for n in self.table_shape(axes)) for axes in self.sets])

    def batches(self) -> Iterator[Batch]:
        """All sets in order, neighbours of equal shape together, about a million cells at a time."""
        first = 0
        while first < len(self.sets):
            shape = self.table_shape(self.sets[first])
            last, most = first + 1, first + max(1, _BATCH // math.prod(shape))
            while last < min(most, len(self.sets)) and self.table_shape(self.sets[last]) == shape:
                last += 1
            yield Batch(first, last, shape)
            first = last

    def span(self, batch: Batch) -> slice:
        """Where the cells of a batch stand."""
        return slice(int(self.starts[batch.first]), int(self.starts[batch.last]))

    def places(self, batch: Batch, closed: MarginalSets) -> Iterator[tuple[Axes, np.ndarray]]:
        """For each choice of a batch's axes, by position: where those subsets of its sets stand in `closed`."""
        sets = self.sets[batch.first : batch.last]
        for size in range(len(batch.shape) + 1):
            for own_axes in combinations(range(len(batch.shape)), size):
                yield own_axes, np.array([closed.index[s] for s in _subsets(sets, own_axes)], dtype=np.int64)


def _subsets(sets: tuple[Axes, ...], own_axes: Axes) -> Iterable[Axes]:
    if len(own_axes) < 2:
        return (tuple(s[j] for j in own_axes) for s in sets)
    return map(itemgetter(*own_axes), sets)
