"""A log-linear model of a few columns and their measured pairs, whose estimates have next to no bias.

Rows that are to look like the table are drawn towards independence by as much as noise may explain, and a slope with
them. This model leaves free what regressions rest on: the association of every two columns' grades.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import block_diag, solve

from mechanisms.arrays import Floats, Integers
from mechanisms.domain import Attribute
from mechanisms.microdata.impossible import Impossible
from mechanisms.microdata.margins import Margins
from mechanisms.microdata.tables import Grouping, Pair

# Standard deviations of parameters before anything is measured: of a single cell beside its column's own estimate, of
# two columns' association by grades, and of a pair of groups beside that.
OF_CELLS, OF_GRADES, OF_PAIRS = 3.0, 3.0, 0.3
MOST_STEPS, LONGEST_STEP, LAST_STEP = 30, 1.5, 0.01
# Standard deviations from the mean, at most: where noisy counts say that nearly everybody is in one cell, the others
# would be millions away, and no precision would be left to solve with.
FURTHEST_GRADE = 30.0
_TINY = 1e-9


@dataclass(frozen=True)
class Evidence:
    """Noisy counts of every column's cells and of every pair's groups, (P,); the variance of each; the people."""

    counts: Floats
    variances: Floats
    total: float


@dataclass(frozen=True)
class _MeasuredTable:
    """A table that is measured: for each cell of the product which of its `size` counts it belongs to."""

    places: Integers
    size: int


class LogLinear:
    """Shares p ∝ q · exp(Fθ) of all cells of the product: q of independent columns, F in which counts each cell is.

    A quasi-likelihood of the noisy counts, normal with the covariance of a sample and of the noise: n(Fᵀpp̃F) + D.
    Source: Goodman 1979 for associations by grades; Räisä, Jälkö, Kaski, Honkela 2023 for a likelihood that knows the
    noise, with its posterior by Monte Carlo, which is too flat here where a cell is nearly empty.
    """

    def __init__(
        self,
        attributes: Sequence[Attribute],
        grouping: Grouping,
        margins: Margins,
        pairs: Sequence[Pair],
        impossible: Impossible,
    ) -> None:
        shape = tuple(attribute.size for attribute in attributes)
        self.cells = np.indices(shape).reshape(len(shape), -1)
        own = [_MeasuredTable(cells, size) for cells, size in zip(self.cells, shape, strict=True)]
        self._blocks = [*own, *(self._pair(grouping, pair) for pair in pairs)]
        floor = 0.2 / margins.total
        logs = [np.log(np.maximum(margins.shares(j), floor))[cells] for j, cells in enumerate(self.cells)]
        self._start = np.where(impossible.broken(self.cells.T), -np.inf, np.sum(logs, axis=0))
        grades = [
            _grades(a, g, c) for a, g, c in zip(attributes, grouping.groups, margins.counts, strict=True)
        ]
        single = np.eye(sum(shape)) / OF_CELLS**2
        self._precision = block_diag(single, *(_precision(grades[a], grades[b]) for a, b in pairs))

    def _pair(self, grouping: Grouping, pair: Pair) -> _MeasuredTable:
        first, second = (grouping.groups[j][self.cells[j]] for j in pair)
        return _MeasuredTable(first * grouping.sizes[pair[1]] + second, grouping.cells(pair))

    def shares(self, parameters: Floats) -> Floats:
        """(cells of the product,) shares, which sum to 1."""
        logs, begin = self._start.copy(), 0
        for block in self._blocks:
            logs += parameters[begin : begin + block.size][block.places]
            begin += block.size
        shares = np.exp(logs - logs.max())
        normal: Floats = shares / shares.sum()
        return normal

    def counts(self, weights: np.ndarray) -> list[Floats]:
        """The counts of every column, then of every pair, of (cells of the product,) people."""
        return [_counts(block.places, weights, block.size) for block in self._blocks]

    def fitted(self, evidence: Evidence, start: Floats | None = None) -> Floats:
        """(P,) parameters: of the largest posterior, by Fisher's scoring."""
        parameters = np.zeros(evidence.counts.size) if start is None else start
        for _ in range(MOST_STEPS):
            step = self._step(evidence, parameters)
            longest = float(np.abs(step).max())
            parameters = parameters + step * min(1.0, LONGEST_STEP / max(longest, _TINY))
            if longest < LAST_STEP:
                break
        return parameters

    def _step(self, evidence: Evidence, parameters: Floats) -> Floats:
        shares, n = self.shares(parameters), evidence.total
        means = np.concatenate(self.counts(shares))
        covariance = n * (self._joint(shares) - np.outer(means, means))
        weighted = solve(covariance + np.diag(evidence.variances), covariance, assume_a="pos").T
        pull = weighted @ (evidence.counts - n * means) - self._precision @ parameters
        step: Floats = solve(weighted @ covariance + self._precision, pull, assume_a="pos")
        return step

    def _joint(self, shares: Floats) -> Floats:
        """(P, P): the share of people who are in both of two counts."""
        rows = [[self._both(a, b, shares) for b in self._blocks[: i + 1]] for i, a in enumerate(self._blocks)]
        size = self._precision.shape[0]
        joint, begin = np.zeros((size, size)), 0
        for block, row in zip(self._blocks, rows, strict=True):
            lower = np.hstack(row)
            joint[begin : begin + block.size, : lower.shape[1]] = lower
            joint[: lower.shape[1], begin : begin + block.size] = lower.T
            begin += block.size
        return joint

    @staticmethod
    def _both(one: _MeasuredTable, other: _MeasuredTable, shares: Floats) -> Floats:
        places = one.places * other.size + other.places
        return _counts(places, shares, one.size * other.size).reshape(one.size, other.size)


def _counts(places: Integers, weights: np.ndarray, size: int) -> Floats:
    counts: Floats = np.bincount(places, weights, size).astype(np.float64)
    return counts


def _grades(attribute: Attribute, groups: Integers, counts: Floats) -> Floats:
    """(groups, grades): an ordered column's place in standard deviations, 0 of missing values, which are told apart; of
    any other column each group."""
    size, regular = int(groups.max()) + 1, attribute.regular_size
    if not attribute.ordered:
        return np.eye(size)
    weights = counts[:regular] + _TINY
    declared = _counts(groups[:regular], weights, size)
    present = declared > 0
    centres = _counts(groups[:regular], weights * np.arange(regular), size) / np.where(present, declared, 1)
    mean = float(declared @ centres / declared.sum())
    spread = math.sqrt(float(declared @ (centres - mean) ** 2 / declared.sum()))
    away = np.clip((centres - mean) / max(spread, _TINY), -FURTHEST_GRADE, FURTHEST_GRADE)
    grades: Floats = np.where(present, away, 0.0)
    return np.column_stack([grades, *np.eye(size)[~present]])


def _precision(first: Floats, second: Floats) -> Floats:
    """The inverse covariance of a pair's parameters before anything is measured.

    By Woodbury's identity: to invert the covariance itself would lose what little is left along far grades.
    """
    grades = np.kron(first, second)
    inner = (OF_PAIRS / OF_GRADES) ** 2 * np.eye(grades.shape[1]) + grades.T @ grades
    explained = grades @ solve(inner, grades.T, assume_a="pos")
    precision: Floats = (np.eye(grades.shape[0]) - explained) / OF_PAIRS**2
    return precision
