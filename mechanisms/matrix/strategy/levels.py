"""Strategies of levels over one column by the closed form of their inverse: O(n) time and memory for n cells.

A hierarchy or a wavelet over the padded line of 2^K cells has a Gram matrix with the eigenspaces of `dyadic`, so the
inverse M of AᵀA averages over aligned blocks. The n cells that there are come first, and that the others are empty is
known. So the inverse over the n cells is that of a normal vector of covariance M, given that its last entries are 0:

    M₁₁ - M₁₂ M₂₂⁻¹ M₂₁.

Those entries fall into at most K aligned blocks, and the n cells into at most K others. M has one entry for all pairs
of a cell here and a cell there in the same two blocks, and maps what is constant on the blocks beyond to such. So with
R the indicators of the blocks of cells the second term is R C Rᵀ, C of a row and a column for each.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve

from mechanisms.arrays import Floats, Integers
from mechanisms.linear.haar import Haar
from mechanisms.linear.tree import Tree
from mechanisms.matrix.strategy.distances import Pairs
from mechanisms.matrix.strategy.energies import energies, overlaps
from mechanisms.matrix.strategy.ranges import by_solving
from mechanisms.matrix.strategy.rows import Rows
from mechanisms.matrix.workload.factor import Factor
from mechanisms.sensitivity import Sensitivity

# Entries of a temporary array.
_CHUNK = 2**21


class LevelRows(Rows):
    """The answers of a tree or a wavelet of 2^K cells, 2^(K-1) < n <= 2^K, without those about empty cells alone."""

    def __init__(self, levels: Tree | Haar, cells: int) -> None:
        if not 2**levels.scales // 2 < cells <= 2**levels.scales:
            raise ValueError(f"{levels.scales} scales do not fit {cells} cells")
        self.levels, self._cells = levels, cells

    @property
    def size(self) -> int:
        return self._cells

    @property
    def scales(self) -> int:
        """K."""
        return self.levels.scales

    @property
    def column_sums(self) -> tuple[np.ndarray, np.ndarray]:
        """Every column holds the same weights, but for signs."""
        norms = self.levels.column
        return np.full(self.size, norms.l1), np.full(self.size, norms.l2_squared)

    @property
    def replaced(self) -> Sensitivity:
        """Exact: cells that part at any scale are among the n. A single one cannot be changed; its norms stand in."""
        return self.levels.replaced if self.size > 1 else self.column

    @property
    def pairs(self) -> Pairs:
        norm = self.levels.column.l2_squared
        return Pairs.alike(norm, min([self._product(e) for e in range(self.scales)], default=norm))

    @abstractmethod
    def _product(self, scale: int) -> int:
        """The product of the columns of two cells that lie in different halves of a block of 2^(scale + 1)."""

    @abstractmethod
    def _parts(self) -> Iterator[tuple[int, Integers, int]]:
        """The rows in order: (scale e of the blocks, weight of each cell, number of rows)."""

    def _blocks(self, scale: int) -> int:
        """How many blocks of 2^scale hold cells."""
        return -(-self.size // (1 << scale))

    @property
    def rows(self) -> int:
        return sum(number for _e, _weights, number in self._parts())

    def matrix(self) -> sparse.csr_array:
        cells = np.arange(self.size)
        parts = [
            sparse.csr_array((weights.astype(np.int64), (cells >> e, cells)), shape=(number, self.size))
            for e, weights, number in self._parts()
        ]
        return sparse.csr_array(sparse.vstack(parts, format="csr"))

    def gram(self) -> np.ndarray:
        return self.gram_times(np.eye(self.size))

    def gram_times(self, x: np.ndarray) -> np.ndarray:
        return self._averaged(x, self.levels.eigenvalues)

    def solve(self, x: np.ndarray) -> np.ndarray:
        solved = self._averaged(x, self._precisions)
        if self.size < 2**self.scales:
            sums = np.add.reduceat(x, self._groups[:, 0], axis=0)
            solved -= np.repeat(np.tensordot(self._known_empty, sums, 1), np.diff(self._groups)[:, 0], axis=0)
        return solved

    def _averaged(self, x: np.ndarray, values: Sequence[float] | Floats) -> Floats:
        """Σ_e values[e] times the part of x in V_e, of the n cells."""
        sums = [x.astype(np.float64)]
        for _ in range(self.scales):
            sums.append(_pairs_added(sums[-1]))
        steps = np.diff(values, prepend=0.0) / 2.0 ** np.arange(self.scales + 1)
        below: Floats = steps[-1] * sums.pop()
        for step in steps[-2::-1]:
            level = sums.pop()
            below = np.repeat(below, 2, axis=0)[: len(level)]
            level *= step
            below += level
        return below

    @property
    def _precisions(self) -> Floats:
        """1/λ_e."""
        return 1 / np.array(self.levels.eigenvalues)

    @cached_property
    def _groups(self) -> Integers:
        """(g, 2) first cell and the one after the last of the aligned blocks that make up the n cells."""
        return _aligned(0, self.size)

    @cached_property
    def _known_empty(self) -> Floats:
        """C, (g, g)."""
        beyond, here = _aligned(self.size, 2**self.scales), self._groups
        if not len(beyond):
            return np.zeros((len(here), len(here)))
        precisions, sizes = self._precisions, np.diff(beyond)[:, 0]
        # M of two cells whose first common block has 2^l cells.
        steps = np.diff(precisions, prepend=0.0) / 2.0 ** np.arange(self.scales + 1)
        entries = np.cumsum(steps[::-1])[::-1]
        between = entries[_common(here, beyond)] * np.sqrt(sizes)
        within = entries[_common(beyond, beyond)] * np.sqrt(np.multiply.outer(sizes, sizes))
        scale = np.log2(sizes).astype(np.int64)
        # A block is smaller than the whole line, so that there are larger ones.
        np.fill_diagonal(within, precisions[scale] + sizes * entries[scale + 1])
        known: Floats = between @ cho_solve(cho_factor(within), between.T)
        return known

    def trace(self, factor: Factor) -> float:
        apart = float(np.array(energies(factor)) @ self._precisions)
        return apart - sum(
            float(known @ np.add.reduceat(factor.gram_times(inside), self._groups[:, 0]))
            for known, inside in zip(self._known_empty, self._indicators(), strict=True)
            if known.any()
        )

    def _indicators(self) -> Iterator[Floats]:
        for first, last in self._groups:
            inside = np.zeros(self.size)
            inside[first:last] = 1.0
            yield inside

    def variances(self, factor: Factor) -> np.ndarray:
        spans = factor.spans()
        if spans is None:
            return by_solving(self, factor)
        out, step = np.empty(len(spans)), max(1, _CHUNK // (self.scales + 1))
        for first in range(0, len(spans), step):
            out[first : first + step] = self._of_ranges(*spans[first : first + step].T)
        return out

    def _of_ranges(self, start: np.ndarray, stop: np.ndarray) -> Floats:
        lengths = np.array([overlaps(start, stop, 2**e) for e in range(self.scales + 1)])
        lengths[:-1] -= lengths[1:]
        first, last = self._groups.T
        inside = np.minimum(stop[:, None], last) - np.maximum(start[:, None], first)
        held = np.maximum(inside, 0).astype(np.float64)
        known = ((held @ self._known_empty) * held).sum(axis=1)
        variances: Floats = np.maximum(self._precisions @ lengths - known, 0.0)
        return variances

    @property
    def complete(self) -> bool:
        return True

    def dimensions(self, factor: Factor) -> tuple[int, int]:
        return factor.rank, factor.rank


class TreeRows(LevelRows):
    """Counts of aligned blocks, level after level from the root down."""

    levels: Tree

    def _product(self, scale: int) -> int:
        return sum(w * w for w in self.levels.weights[scale + 1 :])

    def _parts(self) -> Iterator[tuple[int, Integers, int]]:
        for e in self.levels.levels:
            yield e, np.full(self.size, self.levels.weights[e]), self._blocks(e)

    def times(self, x: np.ndarray) -> np.ndarray:
        parts, sums = [], x
        for e, weight in enumerate(self.levels.weights):
            if e:
                sums = _pairs_added(sums)
            if weight:
                parts.append(weight * sums)
        return np.concatenate(parts[::-1])

    def transposed_times(self, y: np.ndarray) -> np.ndarray:
        above, start = np.zeros((1, *y.shape[1:])), 0
        for e in range(self.scales, -1, -1):
            if e < self.scales:
                above = np.repeat(above, 2, axis=0)[: self._blocks(e)]
            if weight := self.levels.weights[e]:
                above += weight * y[start : start + len(above)].astype(np.float64)
                start += len(above)
        return above


class HaarRows(LevelRows):
    """The total, then the differences between the halves of blocks, from the largest blocks to the least."""

    levels: Haar

    def _product(self, scale: int) -> int:
        weights = self.levels.weights
        return sum(w * w for w in weights[scale + 1 :]) - weights[scale] ** 2

    def _parts(self) -> Iterator[tuple[int, Integers, int]]:
        yield self.scales, np.full(self.size, self.levels.weights[-1]), 1
        cells = np.arange(self.size)
        for e in reversed(range(self.scales)):
            yield e + 1, self.levels.weights[e] * (1 - 2 * (cells >> e & 1)), self._blocks(e + 1)

    def times(self, x: np.ndarray) -> np.ndarray:
        parts, sums = [], x
        for weight in self.levels.weights[:-1]:
            # The sign before is the left half's.
            halves = _evened(sums)
            parts.append(weight * (halves[0::2] - halves[1::2]))
            sums = halves[0::2] + halves[1::2]
        return np.concatenate([self.levels.weights[-1] * sums, *parts[::-1]])

    def transposed_times(self, y: np.ndarray) -> np.ndarray:
        above, start = self.levels.weights[-1] * y[:1].astype(np.float64), 1
        for e in reversed(range(self.scales)):
            apart = self.levels.weights[e] * y[start : start + len(above)].astype(np.float64)
            start += len(above)
            halves = np.stack([above + apart, above - apart], axis=1)
            above = halves.reshape(-1, *y.shape[1:])[: self._blocks(e)]
        return above


def _evened(x: np.ndarray) -> np.ndarray:
    """With an empty entry at the end if their number is odd."""
    return x if len(x) % 2 == 0 else np.concatenate([x, np.zeros_like(x[:1])])


def _pairs_added(x: np.ndarray) -> np.ndarray:
    halves = _evened(x)
    added: np.ndarray = halves[0::2] + halves[1::2]
    return added


def _aligned(start: int, stop: int) -> Integers:
    """The fewest aligned blocks of a power of two that make up the cells start..stop-1, (k, 2)."""
    blocks = []
    while start < stop:
        size = 1 << (stop - start).bit_length() - 1
        if start:
            size = min(size, start & -start)
        blocks.append((start, start + size))
        start += size
    return np.array(blocks, dtype=np.int64).reshape(-1, 2)


def _common(one: Integers, two: Integers) -> Integers:
    """For pairs of aligned blocks l, with 2^l the size of the first block that holds both, (k, m)."""
    apart = one[:, None, 0] ^ two[None, :, 0]
    return np.frexp(apart.astype(np.float64))[1].astype(np.int64)
