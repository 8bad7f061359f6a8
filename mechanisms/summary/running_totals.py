"""Whole-weighted sums of a line of cells from which running totals are best told."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from mechanisms.accounting import Definition
from mechanisms.arrays import Floats, Integers
from mechanisms.continual.gaussian_optimum import triangular_optimum
from mechanisms.continual.p_identity import NestedWindows
from mechanisms.continual.windows import best_layers
from mechanisms.json_types import JsonObject
from mechanisms.matrix.optimise.gaussian import GaussianOptimum, gaussian_optimum
from mechanisms.matrix.workload.factor import Explicit
from mechanisms.sensitivity import Sensitivity
from mechanisms.summary.split import MEAN_WEIGHT, QUANTILE_WEIGHT

# What a row adds in all (pure), or the length of what it adds (zCDP), at most.
GRID = 2**20
# Strategies are searched for whole multiples of so many cells; a line of fewer leaves the last cells out.
ROUND = 16


@dataclass(frozen=True)
class RunningTotals:
    """An integer strategy A over a line of cells and one more, that of missing values.

    rows: (answers, cells) whole weights, and a row without a value adds `missing` to an answer of its own; or, where
    that is 0, (answers, cells + 1), the last weight that of missing values, and each row adds up to 0: such a strategy
    is centred, and says nothing of how many people there are.
    """

    rows: tuple[tuple[int, ...], ...]
    missing: int

    @property
    def is_centred(self) -> bool:
        return self.missing == 0

    @cached_property
    def matrix(self) -> Integers:
        """(answers, cells + 1), with the answer for missing values where there is one."""
        own = np.array(self.rows, dtype=np.int64)
        if self.is_centred:
            return own
        matrix = np.zeros((len(own) + 1, self.cells + 1), dtype=np.int64)
        matrix[:-1, :-1], matrix[-1, -1] = own, self.missing
        return matrix

    @property
    def cells(self) -> int:
        return len(self.rows[0]) - self.is_centred

    @property
    def answers(self) -> int:
        """Numbers that are measured."""
        return len(self.matrix)

    @cached_property
    def column(self) -> Sensitivity:
        """The largest norms of what a row adds."""
        A = self.matrix
        return Sensitivity(int(np.abs(A).sum(axis=0).max()), int((A * A).sum(axis=0).max()))

    @cached_property
    def replaced(self) -> Sensitivity:
        """The largest distances between what two rows add, of one group or of two.

        Rows of two groups share no answer: their distances add up.
        """
        apart = self.matrix[:, :, None] - self.matrix[:, None, :]
        own = self.column
        return Sensitivity(
            max(2 * own.l1, int(np.abs(apart).sum(axis=0).max())),
            max(2 * own.l2_squared, int((apart * apart).sum(axis=0).max())),
        )

    def measured(self, counts: Integers) -> Integers:
        """Exact answers. counts: (groups, cells + 1), those without a value last. Returns (groups, answers)."""
        answers: Integers = counts @ self.matrix.T
        return answers

    @cached_property
    def inverse(self) -> Floats:
        """(cells + 1, answers) from answers to the least-squares estimates of the cells and of those missing.

        Of a centred strategy they are of how far these depart from an even spread, and add up to 0.
        """
        if self.is_centred:
            return np.linalg.pinv(self.matrix.astype(np.float64))
        inverse = np.zeros((self.cells + 1, self.answers))
        inverse[:-1, :-1] = np.linalg.pinv(self.matrix[:-1, :-1].astype(np.float64))
        inverse[-1, -1] = 1 / self.missing
        return inverse

    @cached_property
    def covariance(self) -> Floats:
        """(cells + 1, cells + 1) of those estimates, for noise of variance 1."""
        covariance: Floats = self.inverse @ self.inverse.T
        return covariance

    @cached_property
    def total_variance(self) -> float:
        """The mean variance of the running totals, for noise of variance 1; of a centred one where n is known."""
        sums = np.cumsum(self.inverse[:-1], axis=0)
        return float((sums**2).sum(axis=1).mean())

    def to_json(self) -> dict[str, object]:
        return {"rows": [list(row) for row in self.rows], "missing": self.missing}

    @classmethod
    def from_json(cls, value: JsonObject) -> RunningTotals:
        """Build a strategy from what `to_json` wrote."""
        return _shared(tuple(map(tuple, value["rows"])), value["missing"])


@lru_cache(maxsize=128)
def _shared(rows: tuple[tuple[int, ...], ...], missing: int) -> RunningTotals:
    """One object of equal strategies: what is worked out of it waits for whoever reads the same plan next."""
    return RunningTotals(rows, missing)


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
        optimum = triangular_optimum(wide).strategy
        rows = np.trunc(GRID * optimum / np.sqrt((optimum**2).sum(axis=0).max())).astype(np.int64)
    strategy = rows[:, :cells]
    strategy = strategy[np.any(strategy != 0, axis=1)]
    return RunningTotals(tuple(tuple(map(int, row)) for row in strategy), GRID)


@lru_cache(maxsize=256)
def centred_running_totals(cells: int) -> RunningTotals:
    """The centred strategy of least mean variance of the running totals of so many cells, given the number of people.

    For Gaussian noise. The cell of missing values is the line's last. Weights are rounded so that each row adds up to
    exactly 0, and sensitivities are worked out from the whole ones.
    """
    integers = np.rint(GRID * centred_optimum(cells).strategy).astype(np.int64)
    # What rounding left, at most half of one a cell: as many of the row's first weights are moved by one each.
    left = integers.sum(axis=1)
    integers -= np.sign(left)[:, None] * (np.arange(cells + 1) < np.abs(left)[:, None])
    return RunningTotals(tuple(tuple(map(int, row)) for row in integers), 0)


def centred_optimum(cells: int) -> GaussianOptimum:
    """The optimum for C_j - j/(cells + 1) n, j = 1 … cells, times cells + 1: of running totals what n does not tell.

    The last one, people with a value, has the weight of a mean's error, too, which has their number below it. The
    optimal strategy's rows are in the space of these queries, each of which adds up to 0 over all cells.
    """
    number = np.arange(1, cells + 1)[:, None]
    totals = (cells + 1.0) * (np.arange(cells + 1) < number) - number
    totals[-1] *= np.sqrt(1 + cells * MEAN_WEIGHT / (4 * QUANTILE_WEIGHT))
    return gaussian_optimum(Explicit(totals))
