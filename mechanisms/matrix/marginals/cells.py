"""The cells of a domain from marginal tables: measured marginal tables seen as a strategy over all cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy import sparse

from mechanisms.matrix.marginals.sets import MarginalSets
from mechanisms.matrix.marginals.tables import projected


class MarginalCells:
    """AᵀA = Σ_R κ_R (P on the columns of R) ⊗ (J on the others), applied by way of marginal tables.

    closed, information: the sets whose residuals are measured, with κ_R. estimate: (n,) the least-squares cells.
    measured, weights, rows: what is measured of which tables, for A itself.
    """

    def __init__(
        self,
        closed: MarginalSets,
        information: np.ndarray,
        estimate: np.ndarray,
        measured: MarginalSets,
        weights: Sequence[int],
        rows: Callable[[np.ndarray], np.ndarray],
    ) -> None:
        self._closed, self._information, self._estimate = closed, information, estimate
        self._measured, self._weights, self._rows = measured, weights, rows

    @property
    def complete(self) -> bool:
        """Whether the residuals of every set of columns are measured, so that the cells are determined."""
        return len(self._closed.sets) == 1 << sum(n > 1 for n in self._closed.shape)

    def gram_times(self, cells: np.ndarray) -> np.ndarray:
        """AᵀA x, (n,) to (n,)."""
        shape = self._closed.shape
        tensor, total = cells.reshape(shape), np.zeros(shape)
        for kappa, axes in zip(self._information, self._closed.sets, strict=True):
            others = tuple(i for i in range(len(shape)) if i not in axes)
            table = projected(tensor.sum(axis=others)[None])[0]
            total += kappa * np.expand_dims(table, others)
        return total.ravel()

    def transposed_times(self, values: np.ndarray) -> np.ndarray:
        """Aᵀ y of the measurement, from its least-squares cells: AᵀA x̂ = Aᵀ y."""
        return self.gram_times(self._estimate)

    def matrix(self) -> sparse.csr_array:
        """A itself, (p, n) int64; for a few thousand cells."""
        shape = self._closed.shape
        units = np.eye(self._estimate.size, dtype=np.int64).reshape(-1, *shape)
        blocks = []
        for weight, axes in zip(self._weights, self._measured.sets, strict=True):
            others = tuple(i + 1 for i in range(len(shape)) if i not in axes)
            rows = self._rows(units.sum(axis=others))
            blocks.append(sparse.csr_array(weight * rows.reshape(len(rows), -1).T))
        return sparse.csr_array(sparse.vstack(blocks, format="csr"))
