"""All ranges of one width, measured as they are asked: least squares in linear time, by steps of that width."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from mechanisms.arrays import Floats
from mechanisms.matrix.strategy.distances import Pairs
from mechanisms.matrix.strategy.ranges import AllRangeRows, RunningRows, by_solving
from mechanisms.matrix.strategy.rows import PAIRED_CELLS, RangeRows
from mechanisms.matrix.workload.factor import NEGLIGIBLE, AllRange, Factor, Prefix, Width
from mechanisms.protocol import PlanError
from mechanisms.sensitivity import Sensitivity

# Entries of the vectors that no window sees, where other queries are held against them.
_MAX_UNSEEN = 2**24


class WindowRows(RangeRows):
    """The n - w + 1 windows of w neighbouring cells: nothing of cells by cells is made.

    No window is a sum of others, so A has full row rank and A (AᵀA)⁺ Aᵀ = I. What no window sees are the vectors that
    repeat every w cells and sum to 0 over w of them.
    """

    def __init__(self, factor: Width) -> None:
        super().__init__(factor)
        self._width = factor.width

    def solve(self, x: np.ndarray) -> np.ndarray:
        """(AᵀA)⁺ x by way of t with Aᵀ t = x and any x̂ with A x̂ = t, each in what A sees."""
        seen = self._seen(x.astype(np.float64))
        # Neighbouring cells differ by the windows that begin and end between them.
        t = self._summed_in_steps(np.diff(seen, axis=0, prepend=0)[: self.rows])
        # Neighbouring windows differ by the cells that come and go; the first w - 1 cells may be anything.
        steps = np.zeros(seen.shape)
        steps[self._width - 1 :] = np.diff(t, axis=0, prepend=0)
        return self._seen(self._summed_in_steps(steps))

    def _summed_in_steps(self, x: np.ndarray) -> np.ndarray:
        """Each entry with those w, 2w, ... before it."""
        turns = -(-len(x) // self._width)
        padded = np.zeros((turns * self._width, *x.shape[1:]))
        padded[: len(x)] = x
        summed = padded.reshape(turns, self._width, *x.shape[1:]).cumsum(axis=0)
        return summed.reshape(padded.shape)[: len(x)]

    def _seen(self, x: np.ndarray) -> np.ndarray:
        """The nearest vector to x in the row space: without its part that repeats and sums to 0."""
        places = np.arange(self.size) % self._width
        often = np.bincount(places).reshape(-1, *[1] * (x.ndim - 1)).astype(np.float64)
        means = np.zeros((self._width, *x.shape[1:]))
        np.add.at(means, places, x)
        means /= often
        unseen = means - means.sum(axis=0) / (1 / often).sum(axis=0) / often
        left: np.ndarray = x - unseen[places]
        return left

    def trace(self, factor: Factor) -> float:
        return float(self.variances(factor).sum())

    def variances(self, factor: Factor) -> np.ndarray:
        return np.ones(self.rows) if factor == self._factor else by_solving(self, factor)

    @property
    def complete(self) -> bool:
        return self._width == 1

    def dimensions(self, factor: Factor) -> tuple[int, int]:
        """A query lies in the row space if it gives 0 for all that no window sees."""
        if self.complete or factor == self._factor:
            return factor.rank, factor.rank
        if self.size * self._width > _MAX_UNSEEN:
            raise PlanError(
                "Windows of {width:,} of {size:,} cells do not fit in memory beside other queries. Choose "
                "wider bins, or the strategy of single cells.",
                width=self._width,
                size=self.size,
            )
        unseen = self._unseen
        values = np.linalg.eigvalsh(unseen.T @ factor.gram_times(unseen))
        return factor.rank - int((values > NEGLIGIBLE * factor.squares()).sum()), factor.rank

    @property
    def _unseen(self) -> Floats:
        """A basis of what no window sees, (n, w - 1): neighbours in a turn that rise and fall by 1."""
        turn = np.eye(self._width)[:, :-1] - np.eye(self._width)[:, 1:]
        return turn[np.arange(self.size) % self._width]

    @cached_property
    def replaced(self) -> Sensitivity:
        """Of enough cells two lie each in w windows and in none together."""
        if self.size < 3 * self._width - 1:
            apart = self._farthest() or self.column.l1
            return Sensitivity(apart, apart)
        return Sensitivity(2 * self._width, 2 * self._width)

    @cached_property
    def pairs(self) -> Pairs:
        """Of many cells a bound: the first and the last share no window."""
        if self.size <= PAIRED_CELLS:
            return Pairs.of(self.gram())
        return Pairs.alike(self.column.l2_squared, int(self.rows == 1))


def ranges_as_rows(factor: Factor) -> RangeRows:
    """Ranges of cells, each as it is asked."""
    if isinstance(factor, Prefix):
        return RunningRows(factor)
    if isinstance(factor, AllRange):
        return AllRangeRows(factor)
    return WindowRows(factor) if isinstance(factor, Width) else RangeRows(factor)


def is_solved(factor: Factor) -> bool:
    """Whether the queries can be measured over any number of cells."""
    return isinstance(factor, (Prefix, AllRange, Width))
