"""How far apart two columns of a strategy can be, from the exact products of its columns.

‖a - b‖² is ‖a‖² + ‖b‖² - 2 a·b, and in a product of strategies each of the three is a product of the factors'. So of
the pairs of a factor's columns only those matter that no other pair beats in all three at once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mechanisms.arrays import Floats, Integers

# Of the squared norms, more than what floats lose on the way to a distance.
_SLACK = 2.0**-40
# Squared norms below this make every product of two columns, and every sum on the way to it, exact in floats.
EXACT = 2**53
# Choices of one pair from each factor that are tried; beyond, pairs that are near each other are taken together.
_TRIED = 2**22
# Entries of a temporary array.
_CHUNK = 2**20
# ‖a‖² + ‖b‖² - 2 a·b.
_GAP = np.array([[1], [1], [-2]])


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of columns (a, b), in either order, among which are those that can be farthest apart in any product.

    facts: (3, k) int64 of ‖a‖², ‖b‖² and a·b, below 2^63 in size. For every pair of columns there is one here, or a
    bound, with norms as large and a product as small.
    """

    facts: Integers

    @classmethod
    def alike(cls, norm: int, product: int) -> Pairs:
        """One pair of columns of this squared norm; a bound where norms are at most, products at least so large."""
        return cls(np.array([[norm], [norm], [product]], dtype=np.int64))

    @classmethod
    def of(cls, gram: Floats) -> Pairs:
        """Exactly those that matter of all columns. gram: AᵀA, whole floats below 2^53."""
        norms, group = np.unique(-np.diag(gram), return_inverse=True)
        order = np.argsort(group, kind="stable")
        first = np.searchsorted(group[order], np.arange(norms.size))
        least = np.minimum.reduceat(gram[np.ix_(order, order)], first, axis=0)
        least = np.minimum.reduceat(least, first, axis=1)
        # With norms falling along both axes, a pair matters if its product is below all of those before it.
        reached = np.minimum.accumulate(np.minimum.accumulate(least, axis=0), axis=1)
        before = np.full(least.shape, np.inf)
        before[1:] = reached[:-1]
        before[:, 1:] = np.minimum(before[:, 1:], reached[:, :-1])
        own, other = np.nonzero(least < before)
        return cls(np.stack([-norms[own], -norms[other], least[own, other]]).astype(np.int64))

    def grouped(self, most: int) -> Pairs:
        """At most so many: those of about equal norms taken together, with the largest norms and the least product."""
        if self.facts.shape[1] <= most:
            return self
        levels = math.isqrt(most)
        place = self.facts[:2] * (levels - 1) // self.facts[:2].max()
        order = np.lexsort(place)
        _, first = np.unique((place * [[1], [levels]]).sum(axis=0)[order], return_index=True)
        norms = np.maximum.reduceat(self.facts[:2, order], first, axis=1)
        return Pairs(np.vstack([norms, np.minimum.reduceat(self.facts[2:, order], first, axis=1)]))

    def with_the_longest_twice(self) -> Pairs:
        """Also the longest column with itself, whose product is the largest there is."""
        longest = np.full((3, 1), self.facts[0].max())
        return Pairs(np.hstack([self.facts, longest]))


def farthest(factors: Sequence[Pairs]) -> int:
    """The largest squared distance of two columns of a product; exact, or a bound just above it for many pairs.

    Each factor's pairs enter linearly, so what is tried is a product of matrices.
    """
    several = sum(pairs.facts.shape[1] > 2 for pairs in factors)
    grouped = [pairs.grouped(math.floor(_TRIED ** (1 / max(1, several)))) for pairs in factors]
    if any(pairs.facts[2].min() < 0 for pairs in grouped):
        # Below 0 a larger product elsewhere sets columns farther apart.
        grouped = [pairs.with_the_longest_twice() for pairs in grouped]
    grouped.sort(key=lambda pairs: pairs.facts.shape[1])
    left, right = grouped[-1:], grouped[:-1]
    some, rest = (_pair_facts(half, np.float64) for half in (left, right))
    exact_some, exact_rest = (_pair_facts(half, np.uint64) for half in (left, right))
    slack, step = float(some[0].max() * rest[0].max()) * _SLACK, max(1, _CHUNK // rest.shape[1])
    largest = 0
    for first in range(0, some.shape[1], step):
        part = slice(first, first + step)
        near, i, j = _near_largest((_GAP * some[:, part]).T @ rest, slack)
        if near + slack >= largest:
            exact = (_GAP.astype(np.uint64) * exact_some[:, part][:, i] * exact_rest[:, j]).sum(axis=0)
            largest = max(largest, _exact_distance(near, exact))
    return largest


def _pair_facts(factors: Sequence[Pairs], kind: type) -> np.ndarray:
    """(3, k) facts of every choice of one pair from each factor: as floats, or modulo 2^64."""
    facts: np.ndarray = np.ones((3, 1), dtype=kind)
    for pairs in factors:
        facts = (facts[:, :, None] * pairs.facts.astype(kind)[:, None]).reshape(3, -1)
    return facts


def _near_largest(gaps: Floats, slack: float) -> tuple[float, np.ndarray, np.ndarray]:
    """The largest in floats, and the places of all that may be the largest."""
    largest = float(gaps.max())
    i, j = np.nonzero(gaps >= largest - slack)
    return largest, i, j


def _exact_distance(near: float, wrapped: np.ndarray) -> int:
    """The largest of some integers near a float, from what they are modulo 2^64: norms may be beyond 64 bits."""
    base = round(near)
    over = wrapped - np.array(base % 2**64, dtype=np.uint64)
    return base + int(over.view(np.int64).max())


def farthest_of_all(gram: Floats) -> int:
    """The largest squared distance of two columns, exactly. gram: AᵀA, whole floats below 2^53."""
    own, step = np.diag(gram).astype(np.int64), max(1, _CHUNK // len(gram))
    largest = 0
    for first in range(0, len(gram), step):
        part = gram[first : first + step, first:].astype(np.int64)
        largest = max(largest, int((own[first : first + step, None] + own[first:] - 2 * part).max()))
    return largest


def farthest_of_union(parts: Sequence[tuple[int, Sequence[Floats]]], shape: tuple[int, ...]) -> int:
    """The largest squared distance of two columns of a union of products over the same cells, exactly.

    parts: how much each weighs, and the Gram matrices of its factors, whole floats below 2^53. Floats find the pairs
    that may be farthest, and arithmetic modulo 2^64 tells these apart to the last digit.
    """
    cells = np.stack(np.unravel_index(np.arange(math.prod(shape)), shape))
    own, wrapped = (_products(parts, cells, cells, kind) for kind in (np.float64, np.uint64))
    slack, step = float(own.max()) * _SLACK, max(1, _CHUNK // cells.shape[1])
    farthest = 0
    for first in range(0, cells.shape[1], step):
        some, rest = cells[:, first : first + step], cells[:, first:]
        products = _products(parts, some[:, :, None], rest[:, None, :], np.float64)
        near, i, j = _near_largest(own[first : first + step, None] + own[first:] - 2 * products, slack)
        if near + slack >= farthest:
            i, j = i + first, j + first
            exact = wrapped[i] + wrapped[j]
            exact -= np.uint64(2) * _products(parts, cells[:, i], cells[:, j], np.uint64)
            farthest = max(farthest, _exact_distance(near, exact))
    return farthest


def _products(
    parts: Sequence[tuple[int, Sequence[Floats]]], one: np.ndarray, two: np.ndarray, kind: type
) -> np.ndarray:
    """Entries of the Gram matrix of a union, for the cells whose places in every column are given."""
    total: np.ndarray = np.zeros(1, dtype=kind)
    for multiple, grams in parts:
        entries: np.ndarray = np.array(
            [multiple**2 % 2**64 if kind is np.uint64 else multiple**2], dtype=kind
        )
        for gram, i, j in zip(grams, one, two, strict=True):
            entry = gram[i, j]
            entries = entries * (entry if kind is np.float64 else entry.astype(np.int64).astype(kind))
        total = total + entries
    return total
