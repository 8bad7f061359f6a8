"""Strategies that tie all cells of a domain together: least squares by one inverse over all of them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from functools import cached_property, reduce

import numpy as np
from scipy import sparse

from mechanisms.arrays import Floats
from mechanisms.matrix.strategy.pseudo_inverse import Inverse
from mechanisms.matrix.strategy.weights import MatrixRows
from mechanisms.matrix.workload.union import Term
from mechanisms.protocol import PlanError
from mechanisms.sensitivity import Sensitivity

# Cells up to which they are inverted together.
MAX_JOINT = 4096


class Joint(ABC):
    """What such strategies share; a subclass says what is measured (see `strategy.Strategy`)."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """Of the domain."""

    @abstractmethod
    def gram(self) -> np.ndarray:
        """AᵀA, (n, n) floats."""

    @abstractmethod
    def transposed_times(self, values: np.ndarray) -> np.ndarray:
        """Aᵀ y, (p,) to (n,)."""

    @property
    def cells(self) -> int:
        """n."""
        return math.prod(self.shape)

    def estimate(self, values: np.ndarray) -> np.ndarray:
        return self.solve(self.transposed_times(values))

    def check_cells(self) -> None:
        """Raises PlanError if there are too many cells."""
        if self.cells > MAX_JOINT:
            raise PlanError(
                "This strategy ties all {cells:,} cells together, and at most {max_joint:,} fit in memory. "
                "Use fewer columns or wider bins, or a strategy that is a product over the columns.",
                cells=self.cells,
                max_joint=MAX_JOINT,
            )

    @cached_property
    def inverse(self) -> Inverse:
        self.check_cells()
        return Inverse(self.gram())

    def solve(self, cells: Floats) -> Floats:
        return self.inverse.matrix @ cells

    def trace(self, term: Term) -> float:
        grams = [factor.gram() for factor in term.all_factors(self.shape)]
        # Σ G ∘ (AᵀA)⁺ with G = ⊗ G_i, one column's cells after the other.
        rest = self.inverse.matrix
        for gram in grams:
            n, left = len(gram), len(rest) // len(gram)
            rest = np.einsum("ab,aibj->ij", gram, rest.reshape(n, left, n, left))
        return float(rest[0, 0])

    def variances(self, term: Term) -> Floats:
        done, rest = 1, self.inverse.matrix[None]
        for factor in term.all_factors(self.shape):
            n, left = factor.size, rest.shape[1] // factor.size
            paired = np.moveaxis(rest.reshape(done, n, left, n, left), (1, 3), (0, 1))
            by_factor = factor.variances(np.ascontiguousarray(paired).reshape(n, n, -1))
            done *= factor.queries
            rest = np.moveaxis(by_factor.reshape(factor.queries, -1, left, left), 0, 1).reshape(
                done, left, left
            )
        variances: Floats = np.maximum(rest.ravel(), 0.0)
        return variances

    @property
    def complete(self) -> bool:
        return self.inverse.complete

    def dimensions(self, term: Term) -> tuple[int, int]:
        factors = term.all_factors(self.shape)
        dimension = math.prod(f.rank for f in factors)
        return self.inverse.dimensions(reduce(np.kron, [f.gram() for f in factors]), dimension)


class Uploaded(Joint):
    """Rows over all cells of a domain of several columns, in C order."""

    def __init__(self, rows: MatrixRows, shape: tuple[int, ...]) -> None:
        self._rows, self._shape = rows, shape

    @property
    def shape(self) -> tuple[int, ...]:
        return self._shape

    @property
    def size(self) -> int:
        return self._rows.rows

    @property
    def column(self) -> Sensitivity:
        return self._rows.column

    @property
    def replaced(self) -> Sensitivity:
        return self._rows.replaced

    def matrix(self) -> sparse.csr_array:
        return sparse.csr_array(self._rows.matrix())

    def answers(self, counts: np.ndarray) -> np.ndarray:
        return self._rows.times(counts)

    def transposed_times(self, values: np.ndarray) -> np.ndarray:
        return self._rows.transposed_times(values)

    def gram_times(self, cells: np.ndarray) -> np.ndarray:
        return self._rows.gram_times(cells)

    def gram(self) -> np.ndarray:
        return self._rows.gram()
