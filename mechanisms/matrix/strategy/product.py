"""Strategies over a whole domain: products of strategies over its columns, and unions of such products."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property, reduce
from typing import Protocol

import numpy as np
from scipy import sparse

from mechanisms.accounting import Definition
from mechanisms.arrays import Floats
from mechanisms.matrix.reconstruction import Measured
from mechanisms.matrix.strategy.distances import EXACT, farthest, farthest_of_union
from mechanisms.matrix.strategy.joint import MAX_JOINT, Joint
from mechanisms.matrix.strategy.pseudo_inverse import Inverse
from mechanisms.matrix.strategy.rows import IdentityRows, Rows, TotalRows
from mechanisms.matrix.workload.factor import Factor
from mechanisms.matrix.workload.union import Term, on_axis
from mechanisms.protocol import PlanError
from mechanisms.sensitivity import Sensitivity

# Weights up to which the integer answers of 2^23 rows fit 64 bits; beyond `most_rows` they wrap, which costs accuracy.
MAX_WEIGHT = 2**40
# The norm of the largest part of a union, at which 10^9 rows fit 64 bits, and the least share as a part of the largest.
_MAX_SHARE, _LEAST_SHARE = 2**33, 2.0**-14
# Entries of a matrix of answers by sums.
MAX_PRODUCTS = 2**27


def most_rows(moved: Sensitivity) -> int:
    """So many rows have sums that fit 64 bits beside their noise: no weight is above what a row moves in L2."""
    return 2**62 // max(1, math.isqrt(moved.l2_squared))


class Strategy(Measured, Protocol):
    """Integer-weighted sums A over the cells of a domain, and least squares from their noisy answers.

    shape: of the domain; n its number of cells. size: p, the number of sums. column, replaced: how far a row moves
    the answers that enters or leaves, or changes its cell. Variances are for noise of variance 1 on every sum.
    """

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def size(self) -> int: ...
    @property
    def column(self) -> Sensitivity: ...
    @property
    def replaced(self) -> Sensitivity: ...

    def answers(self, counts: np.ndarray) -> np.ndarray:
        """A x, exact: (n,) int64 to (p,) int64."""

    def estimate(self, values: np.ndarray) -> np.ndarray:
        """The least-squares estimate of the cells, (p,) to (n,); the shortest where there are several."""

    def solve(self, cells: np.ndarray) -> np.ndarray:
        """(AᵀA)⁺ x, (n,) to (n,)."""

    def trace(self, term: Term) -> float:
        """tr W (AᵀA)⁺ Wᵀ over the answers of a term, without its weight."""

    def variances(self, term: Term) -> Floats:
        """The diagonal of W (AᵀA)⁺ Wᵀ, (q,)."""

    def dimensions(self, term: Term) -> tuple[int, int]:
        """How many dimensions of the term's row space the strategy's holds, and how many there are."""


class Kronecker:
    """A₁ ⊗ … ⊗ A_d, one strategy for each column: all of them at once, never written down."""

    def __init__(self, factors: Sequence[Rows]) -> None:
        self.factors = tuple(factors)
        if self.column.l2_squared > MAX_WEIGHT**2:
            raise ValueError("the weights of the product are too large for 64 bits; use a coarser grid")

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(f.size for f in self.factors)

    @property
    def size(self) -> int:
        return math.prod(f.rows for f in self.factors)

    @cached_property
    def column(self) -> Sensitivity:
        """A column of the product is a product of columns, so its norms are products of theirs."""
        columns = [f.column for f in self.factors]
        return Sensitivity(math.prod(c.l1 for c in columns), math.prod(c.l2_squared for c in columns))

    @cached_property
    def replaced(self) -> Sensitivity:
        """As the factor's where there is but one with several cells that are told apart. Else L2: see `farthest`, and
        L1 by the triangle inequality."""
        divided = [f for f in self.factors if not isinstance(f, TotalRows) and f.size > 1]
        if len(divided) == 1:
            (alone,) = divided
            l1 = alone.replaced.l1 * (self.column.l1 // alone.column.l1)
            l2_squared = alone.replaced.l2_squared * (self.column.l2_squared // alone.column.l2_squared)
            return Sensitivity(l1, l2_squared)
        l1 = (2 if divided else 1) * self.column.l1
        return Sensitivity(l1, self.farthest or self.column.l2_squared)

    @cached_property
    def farthest(self) -> int:
        """The largest squared distance of two columns, or a bound on it; 0 if all are alike."""
        return farthest([f.pairs for f in self.factors])

    def column_norms(self) -> tuple[np.ndarray, np.ndarray]:
        """L1 and squared L2 norms of every column, (n,) Python integers each: they may not fit 64 bits."""
        l1, l2_squared = zip(*(f.column_sums for f in self.factors), strict=True)
        return _outer([v.astype(object) for v in l1]), _outer([v.astype(object) for v in l2_squared])

    def matrix(self) -> sparse.csr_array:
        matrices = (sparse.csr_array(f.matrix()) for f in self.factors)
        return sparse.csr_array(reduce(lambda a, b: sparse.kron(a, b, format="csr"), matrices))

    def answers(self, counts: np.ndarray) -> np.ndarray:
        return self._each(counts.reshape(self.shape), lambda f: f.times)

    def transposed_times(self, values: np.ndarray) -> np.ndarray:
        return self._each(values.reshape([f.rows for f in self.factors]), lambda f: f.transposed_times)

    def gram_times(self, cells: np.ndarray) -> np.ndarray:
        return self._each(cells.reshape(self.shape), lambda f: f.gram_times)

    def solve(self, cells: np.ndarray) -> np.ndarray:
        return self._each(cells.reshape(self.shape), lambda f: f.solve)

    def estimate(self, values: np.ndarray) -> np.ndarray:
        return self.solve(self.transposed_times(values))

    def _each(
        self, tensor: np.ndarray, function: Callable[[Rows], Callable[[np.ndarray], np.ndarray]]
    ) -> np.ndarray:
        for axis, factor in enumerate(self.factors):
            tensor = on_axis(tensor, axis, function(factor))
        return tensor.ravel()

    def _pairs(self, term: Term) -> list[tuple[Rows, Factor]]:
        return list(zip(self.factors, term.all_factors(self.shape), strict=True))

    def trace(self, term: Term) -> float:
        return math.prod(rows.trace(factor) for rows, factor in self._pairs(term))

    def variances(self, term: Term) -> Floats:
        return _outer([rows.variances(factor) for rows, factor in self._pairs(term)])

    @property
    def complete(self) -> bool:
        return all(f.complete for f in self.factors)

    def dimensions(self, term: Term) -> tuple[int, int]:
        """Row spaces of products are products of row spaces, and so are their intersections."""
        each = [rows.dimensions(factor) for rows, factor in self._pairs(term)]
        return math.prod(a for a, _ in each), math.prod(b for _, b in each)


class Stacked(Joint):
    """A union of products over the same domain, each times a whole number, reconciled by least squares together.

    multiples: (k,) integers > 0, how much the sums of each part weigh. A part that sums over a column has one row
    of ones there. At most 4,096 cells, or 4,096 sums (`FewSums`); PlanError beyond.
    """

    def __init__(self, parts: Sequence[Kronecker], multiples: Sequence[int]) -> None:
        if len({part.shape for part in parts}) != 1 or len(parts) != len(multiples) or min(multiples) < 1:
            raise ValueError("a union needs parts over one domain, each with a whole number above 0")
        self.parts, self.multiples = tuple(parts), tuple(multiples)
        self.check_cells()
        if self.column.l2_squared > MAX_WEIGHT**2:
            raise ValueError("the weights of the union are too large for 64 bits; use a coarser grid")

    @staticmethod
    def of(parts: Sequence[Kronecker], shares: Sequence[float], definition: Definition) -> Stacked:
        """Parts in such multiples that each has, to 1 in 1,000 or better, its share of the column norm.

        shares: > 0, of the L1 norm (pure ε) or of the L2 norm (zCDP) of one row's change. None is less than 2^-14 of
        the largest, which costs next to nothing, so that the least are not lost in rounding errors.
        """
        norms = [
            p.column.l1 if definition is Definition.PURE else math.sqrt(p.column.l2_squared) for p in parts
        ]
        largest = max(shares)
        ratios = [
            max(share, _LEAST_SHARE * largest) / norm for share, norm in zip(shares, norms, strict=True)
        ]
        multiple = min(2**10 / min(ratios), _MAX_SHARE / largest)
        multiples = [max(1, math.floor(multiple * ratio)) for ratio in ratios]
        divisor = math.gcd(*multiples)
        kind = Stacked if math.prod(parts[0].shape) <= MAX_JOINT else FewSums
        return kind(parts, [m // divisor for m in multiples])

    @property
    def shape(self) -> tuple[int, ...]:
        return self.parts[0].shape

    @property
    def size(self) -> int:
        return sum(part.size for part in self.parts)

    @cached_property
    def column(self) -> Sensitivity:
        """The largest sums, over the parts, of a column's norms; exact."""
        norms = [part.column_norms() for part in self.parts]
        l1 = sum(m * first for m, (first, _) in zip(self.multiples, norms, strict=True))
        l2_squared = sum(m * m * second for m, (_, second) in zip(self.multiples, norms, strict=True))
        return Sensitivity(int(np.max(l1)), int(np.max(l2_squared)))

    @cached_property
    def replaced(self) -> Sensitivity:
        """L2: see `farthest`. L1: by the triangle inequality."""
        return Sensitivity(2 * self.column.l1, self.farthest or self.column.l2_squared)

    @property
    def farthest(self) -> int:
        """The largest squared distance of two columns; exact, unless norms are beyond what floats hold exactly."""
        factors = [f for part in self.parts for f in part.factors]
        if max(f.column.l2_squared for f in factors) >= EXACT:
            return self._farthest_apart()
        parts = [[f.gram() for f in part.factors] for part in self.parts]
        return farthest_of_union(list(zip(self.multiples, parts, strict=True)), self.shape)

    def _farthest_apart(self) -> int:
        """A bound: the sum of the parts' largest."""
        return sum(m * m * part.farthest for m, part in zip(self.multiples, self.parts, strict=True))

    def matrix(self) -> sparse.csr_array:
        parts = zip(self.parts, self.multiples, strict=True)
        return sparse.csr_array(sparse.vstack([m * part.matrix() for part, m in parts], format="csr"))

    def answers(self, counts: np.ndarray) -> np.ndarray:
        parts = zip(self.parts, self.multiples, strict=True)
        return np.concatenate([m * part.answers(counts) for part, m in parts])

    def transposed_times(self, values: np.ndarray) -> np.ndarray:
        # The square of a multiple times a count may not fit 64 bits.
        values, total, start = values.astype(np.float64), np.zeros(self.cells), 0
        for part, m in zip(self.parts, self.multiples, strict=True):
            total += m * part.transposed_times(values[start : start + part.size])
            start += part.size
        return total

    def gram_times(self, cells: np.ndarray) -> np.ndarray:
        parts = zip(self.parts, self.multiples, strict=True)
        return sum((m * m * part.gram_times(cells) for part, m in parts), np.zeros(self.cells))

    def gram(self) -> np.ndarray:
        grams = (
            reduce(np.kron, [f.gram() for f in part.factors]) * m**2
            for part, m in zip(self.parts, self.multiples, strict=True)
        )
        return sum(grams, np.zeros((self.cells, self.cells)))


class FewSums(Stacked):
    """A union that measures few sums of many cells: least squares by AAᵀ, of the size of the sums.

    column, replaced: the sum of the parts' largest norms and distances, exact where a part's columns all have the same.
    """

    def check_cells(self) -> None:
        if self.size > MAX_JOINT:
            raise PlanError(
                "A union of {size:,} sums over {cells:,} cells cannot be reconciled in memory; at most "
                "{max_joint:,} of either can. Use fewer columns or wider bins, or a strategy that is not a "
                "union.",
                size=self.size,
                cells=self.cells,
                max_joint=MAX_JOINT,
            )

    @cached_property
    def column(self) -> Sensitivity:
        parts = list(zip(self.parts, self.multiples, strict=True))
        l1 = sum(m * part.column.l1 for part, m in parts)
        return Sensitivity(l1, sum(m * m * part.column.l2_squared for part, m in parts))

    @property
    def farthest(self) -> int:
        return self._farthest_apart()

    @cached_property
    def _transposed(self) -> list[list[np.ndarray]]:
        """Every part's factors as (n, p) floats."""
        return [
            [sparse.csr_array(f.matrix()).T.toarray().astype(np.float64) for f in part.factors]
            for part in self.parts
        ]

    def _between(self, middle: Sequence[Callable[[np.ndarray], np.ndarray]]) -> np.ndarray:
        """A M Aᵀ, (p, p), for M = ⊗ M_i given by its products."""
        parts = list(zip(self.multiples, self._transposed, strict=True))
        return np.block(
            [
                [
                    m * k * reduce(np.kron, [a.T @ f(b) for a, b, f in zip(one, two, middle, strict=True)])
                    for k, two in parts
                ]
                for m, one in parts
            ]
        )

    @property
    def products(self) -> np.ndarray:
        """AAᵀ, (p, p)."""
        return self._between([lambda x: x] * len(self.shape))

    @cached_property
    def _pseudo(self) -> np.ndarray:
        """(AAᵀ)⁺."""
        return Inverse(self.products).matrix

    def estimate(self, values: np.ndarray) -> np.ndarray:
        return self.transposed_times(self._pseudo @ values)

    def solve(self, cells: np.ndarray) -> np.ndarray:
        return self.transposed_times(self._pseudo @ (self._pseudo @ self.answers(cells)))

    def cross_gram(self, term: Term) -> np.ndarray:
        """A M Aᵀ with M = WᵀW."""
        return self._between([f.gram_times for f in term.all_factors(self.shape)])

    def trace(self, term: Term) -> float:
        self._check_products(term)
        return float(((self._pseudo @ self._pseudo) * self.cross_gram(term)).sum())

    def _check_products(self, term: Term) -> None:
        """Raises PlanError where the errors of the answers will not fit in memory."""
        if term.queries * self.size > MAX_PRODUCTS:
            raise PlanError(
                "{queries:,} answers from {size:,} sums do not fit in memory. Use wider bins or fewer ranges, "
                "or a strategy that is not a union.",
                queries=term.queries,
                size=self.size,
            )

    def _products(self, term: Term) -> np.ndarray:
        """W Aᵀ, (q, p)."""
        self._check_products(term)
        factors = term.all_factors(self.shape)
        parts = [
            m * reduce(np.kron, [f.times(a) for f, a in zip(factors, part, strict=True)])
            for m, part in zip(self.multiples, self._transposed, strict=True)
        ]
        return np.concatenate(parts, axis=1)

    def variances(self, term: Term) -> Floats:
        variances: Floats = ((self._products(term) @ self._pseudo) ** 2).sum(axis=1)
        return variances

    @property
    def complete(self) -> bool:
        return False

    def dimensions(self, term: Term) -> tuple[int, int]:
        """What W has outside of the row space of A: nothing, or the rank of W(I - P)Wᵀ; 1 where that is too large."""
        factors = term.all_factors(self.shape)
        needed, length = math.prod(f.rank for f in factors), math.prod(f.squares() for f in factors)
        if float((self._pseudo * self.cross_gram(term)).sum()) >= (1 - 1e-8) * length:
            return needed, needed
        if term.queries > MAX_JOINT:
            return needed - 1, needed
        rows = [f.times(np.eye(f.size)) for f in factors]
        products = self._products(term)
        outside = reduce(np.kron, [r @ r.T for r in rows]) - products @ self._pseudo @ products.T
        return needed - int((np.linalg.eigvalsh(outside) > 1e-8 * length).sum()), needed


def _outer(vectors: Sequence[np.ndarray]) -> np.ndarray:
    return reduce(np.multiply.outer, vectors).ravel()


def plain(shape: tuple[int, ...]) -> Kronecker:
    """Every cell by itself."""
    return Kronecker([IdentityRows(n) for n in shape])
