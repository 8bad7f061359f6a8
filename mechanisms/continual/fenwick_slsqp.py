"""Fenwick's tree with weights found by a general solver: the reference that the closed form is held against."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import ClassVar

import numpy as np
from scipy.optimize import minimize

from mechanisms.accounting import Definition
from mechanisms.continual.strategy import Chained, Draw, StrategyState, StreamStrategy, fixed_point, rounded
from mechanisms.continual.stream import LinearStream
from mechanisms.json_types import JsonObject
from mechanisms.protocol import PlanError
from mechanisms.sensitivity import Sensitivity

LONGEST_SOLVED = 64


def rows_of(period: int) -> Iterator[int]:
    """The rows whose sum is the running count: i, i without its lowest binary digit, and so on."""
    while period:
        yield period
        period &= period - 1


@lru_cache(maxsize=64)
def solved(horizon: int, definition: Definition) -> tuple[float, ...]:
    """The weights of the N rows by sequential quadratic programming (SLSQP), 1 <= N <= 64.

    Least Σ_i c_i/λ_i², c_i the number of counts that use row i, over λ > 0 with a sum of at most 1 in every column
    (pure), or a sum of squares (zCDP): convex in λ, or λ², with linear constraints.
    """
    power = 2 if definition is Definition.PURE else 1
    used = np.zeros((horizon, horizon))
    covered = np.zeros((horizon, horizon))
    for period in range(1, horizon + 1):
        for row in rows_of(period):
            used[period - 1, row - 1] = 1
        for row in range(period, horizon + 1):
            covered[period - 1, row - 1] = row - (row & -row) < period
    counts = used.sum(axis=0)
    start = np.full(horizon, 1 / horizon.bit_length())
    scale = float((counts / start**power).sum())
    result = minimize(
        lambda x: float((counts / x**power).sum()) / scale,
        start,
        jac=lambda x: -power * counts / x ** (power + 1) / scale,
        bounds=[(1e-6, 1.0)] * horizon,
        constraints={"type": "ineq", "fun": lambda x: 1 - covered @ x, "jac": lambda x: -covered},
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 1000},
    )
    if not result.success:
        raise PlanError(
            "The solver found no weights for {horizon} periods. Choose another method.", horizon=horizon
        )
    # Its constraints hold up to rounding; a strategy must not exceed them.
    weights = result.x / (covered @ result.x).max()
    return tuple((weights if definition is Definition.PURE else np.sqrt(weights)).tolist())


class WeightedFenwick(Chained):
    """Fenwick's tree with the given whole weights: row i is the sum of the lowbit(i) increments up to i."""

    def __init__(self, weights: tuple[int, ...]) -> None:
        self._weights = weights
        rows = range(1, len(weights) + 1)
        columns = [[weights[i - 1] for i in rows if i - (i & -i) < j <= i] for j in rows]
        self.column = Sensitivity(max(map(sum, columns)), max(sum(w * w for w in c) for c in columns))

    def powers(self, periods: np.ndarray, power: int) -> np.ndarray:
        by_row = [float(weight) ** -power for weight in self._weights]
        return np.array([sum(by_row[i - 1] for i in rows_of(t)) for t in periods.tolist()])

    def ending(self, periods: np.ndarray) -> np.ndarray:
        weights: np.ndarray = np.array(self._weights, dtype=np.float64)[periods - 1]
        return weights

    def begin(self, draw: Draw) -> StrategyState:
        return {"blocks": []}

    def step(self, period: int, numbers: StrategyState, draw: Draw) -> tuple[np.ndarray, StrategyState]:
        """blocks: the noise of each row of the running count, the longest first, (k,) in fixed point."""
        own = fixed_point(draw(1), self._weights[period - 1])
        blocks = numbers["blocks"][: period.bit_count() - 1] + own.tolist()
        return rounded(np.sum(np.array(blocks, dtype=np.int64), axis=0)), {"blocks": blocks}


class SolvedFenwick(LinearStream):
    """Fenwick's tree with weights by SLSQP, for up to 64 periods; `fda` finds the same ones in closed form."""

    name: ClassVar[str] = "fenwick-solved"
    title: ClassVar[str] = "Fenwick tree, weights by a general solver"
    summary: ClassVar[str] = "The weights of FDA by numerical optimisation; shown to compare with."
    reference: ClassVar[bool] = True
    longest: ClassVar[int] = LONGEST_SOLVED

    def design(self, horizon: int | None, definition: Definition, grid: int) -> dict[str, object]:
        return {"weights": [math.floor(grid * w * (1 - 2**-40)) for w in solved(horizon or 0, definition)]}

    def build(self, horizon: int | None, definition: Definition, details: JsonObject) -> StreamStrategy:
        return _fenwick(tuple(details["weights"]))


@lru_cache(maxsize=64)
def _fenwick(weights: tuple[int, ...]) -> WeightedFenwick:
    return WeightedFenwick(weights)
