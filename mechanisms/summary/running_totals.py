"""Whole-weighted sums of a line of cells from which running totals are best told."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mechanisms.accounting import Definition
from mechanisms.arrays import Floats, Integers
from mechanisms.continual.gaussian_optimum import triangular_optimum
from mechanisms.continual.p_identity import NestedWindows
from mechanisms.continual.windows import best_layers
from mechanisms.json_types import JsonObject
from mechanisms.sensitivity import Sensitivity

# What a row adds in all (pure), or the length of what it adds (zCDP), at most.
GRID = 2**20
# Strategies are searched for whole multiples of so many cells; a line of fewer leaves the last cells out.
ROUND = 16


@dataclass(frozen=True)
class RunningTotals:
    """An integer strategy A over a line of cells, one row of which is beside the line: that of missing values.

    rows: (answers, cells) whole weights. A row without a value adds `missing` to an answer of its own.
    """

    rows: tuple[tuple[int, ...], ...]
    missing: int

    @cached_property
    def matrix(self) -> Integers:
        """(answers, cells)."""
        return np.array(self.rows, dtype=np.int64)

    @property
    def cells(self) -> int:
        return len(self.rows[0])

    @property
    def answers(self) -> int:
        """Numbers that are measured, that of missing values included."""
        return len(self.rows) + 1

    @cached_property
    def column(self) -> Sensitivity:
        """The largest norms of what a row adds."""
        A = self.matrix
        l1, l2 = int(np.abs(A).sum(axis=0).max()), int((A * A).sum(axis=0).max())
        return Sensitivity(max(l1, self.missing), max(l2, self.missing**2))

    @cached_property
    def replaced(self) -> Sensitivity:
        """The largest distances between what two rows add, of one group or of two.

        Rows of two groups, or one with a value and one without, share no answer: their distances add up.
        """
        apart = self.matrix[:, :, None] - self.matrix[:, None, :]
        own = self.column
        return Sensitivity(
            max(2 * own.l1, int(np.abs(apart).sum(axis=0).max())),
            max(2 * own.l2_squared, int((apart * apart).sum(axis=0).max())),
        )

    def measured(self, counts: Integers) -> Integers:
        """Exact answers. counts: (groups, cells + 1), those without a value last. Returns (groups, answers)."""
        answers = counts[:, :-1] @ self.matrix.T
        return np.concatenate([answers, self.missing * counts[:, -1:]], axis=1)

    @cached_property
    def inverse(self) -> Floats:
        """(cells + 1, answers) from answers to the least-squares estimates of the cells and of those missing."""
        inverse = np.zeros((self.cells + 1, self.answers))
        inverse[:-1, :-1] = np.linalg.pinv(self.matrix.astype(np.float64))
        inverse[-1, -1] = 1 / self.missing
        return inverse

    @cached_property
    def covariance(self) -> Floats:
        """(cells + 1, cells + 1) of those estimates, for noise of variance 1."""
        covariance: Floats = self.inverse @ self.inverse.T
        return covariance

    @cached_property
    def total_variance(self) -> float:
        """The mean variance of the running totals, for noise of variance 1."""
        sums = np.cumsum(self.inverse[:-1], axis=0)
        return float((sums**2).sum(axis=1).mean())

    def to_json(self) -> dict[str, object]:
        return {"rows": [list(row) for row in self.rows], "missing": self.missing}

    @classmethod
    def from_json(cls, value: JsonObject) -> RunningTotals:
        """Build a strategy from what `to_json` wrote."""
        return cls(tuple(map(tuple, value["rows"])), value["missing"])


def best_running_totals(cells: int, definition: Definition) -> RunningTotals:
    """The strategy of least mean variance of the running totals of so many cells.

    Under ρ the optimum for Gaussian noise, under ε sums over smooth windows (p-Identity). Weights are rounded towards
    0, and sensitivities are worked out from the whole ones.
    """
    wide = cells if cells <= ROUND else -(-cells // ROUND) * ROUND
    if definition is Definition.PURE:
        windows = NestedWindows(wide, best_layers(wide, within_block=False), GRID)
        rows = np.concatenate([np.diag(windows.own), windows.unit * windows.multiples])
    else:
        found = triangular_optimum(wide).strategy
        rows = np.trunc(GRID * found / np.sqrt((found**2).sum(axis=0).max())).astype(np.int64)
    kept = rows[:, :cells]
    kept = kept[np.any(kept != 0, axis=1)]
    return RunningTotals(tuple(tuple(map(int, row)) for row in kept), GRID)
