"""The least error that Gaussian noise allows for running counts, with a certificate.

Which X = AᵀA is best for the running totals is `matrix.optimise.gaussian`'s to say; any A with that X has the same
error, and a lower triangle can be solved forwards, period by period.
"""

from __future__ import annotations

import math
from base64 import b64decode, b64encode
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import qr, solve_triangular

from mechanisms.accounting import Definition
from mechanisms.arrays import Floats, Integers
from mechanisms.continual.strategy import StreamStrategy
from mechanisms.continual.stream import LinearStream
from mechanisms.continual.triangular import Triangular
from mechanisms.deferred_search import JsonForm, Search
from mechanisms.json_types import JsonObject
from mechanisms.matrix.optimise.gaussian import TOLERANCE, GaussianOptimum, gaussian_optimum
from mechanisms.matrix.workload.factor import Prefix
from mechanisms.sensitivity import Sensitivity

# Of the square of the number of periods, the relative gap at which the search ends: an iteration takes time in
# proportion to that square, so few periods can have more of them.
_TOLERANCE_BY_SQUARE = 1e-10
# Periods up to which the search takes a moment.
_QUICK = 200
# Entries are made smaller by this before they are rounded down, so that float errors cannot make a column longer.
_SHRINK = 1 - 2.0**-40


def _triangular_optimum(periods: int) -> GaussianOptimum:
    """The optimum for the running totals of `periods` periods; its strategy is (n, n) and lower triangular.

    The relative gap that its lower bound proves is at most 1e-4, and at most 1e-10 times the squared number of
    periods, which is less up to 1,000.
    """
    solution = gaussian_optimum(Prefix(periods), tolerance=min(TOLERANCE, _TOLERANCE_BY_SQUARE * periods**2))
    return replace(solution, strategy=_lower_triangle(solution.strategy))


def _written(optimum: GaussianOptimum) -> list[object]:
    """The triangle's rows one after the other, as bytes, and the numbers beside it."""
    rows = optimum.strategy[np.tril_indices(len(optimum.strategy))].astype("<f8").tobytes()
    return [b64encode(rows).decode(), optimum.loss, optimum.lower_bound, optimum.iterations]


def _read(written: list[Any]) -> GaussianOptimum:
    rows = np.frombuffer(b64decode(written[0]), dtype="<f8")
    periods = (math.isqrt(8 * rows.size + 1) - 1) // 2
    strategy = np.zeros((periods, periods))
    strategy[np.tril_indices(periods)] = rows
    return GaussianOptimum(strategy, *written[1:])


triangular_optimum = Search(
    "running-count-optimum",
    1,
    _triangular_optimum,
    takes_long=lambda periods: periods > _QUICK,
    form=JsonForm(
        write_arguments=lambda periods: [periods],
        read_arguments=tuple,
        write=_written,
        read=_read,
    ),
)


def _lower_triangle(strategy: np.ndarray) -> np.ndarray:
    """L with LᵀL = AᵀA and a diagonal that is not negative: the triangle of a QR decomposition from the other end."""
    (reverse,) = qr(strategy[:, ::-1], mode="r")
    triangle: np.ndarray = reverse[::-1, ::-1]
    return triangle * np.where(np.diag(triangle) < 0, -1.0, 1.0)[:, None]


class OptimalTriangle(Triangular):
    """The optimum's lower triangle on the grid, rounded down: no column is longer than `grid`."""

    def __init__(self, periods: int, grid: int) -> None:
        self.periods = periods
        optimum = triangular_optimum(periods)
        self._weights: Integers = np.floor(np.maximum(optimum.strategy, 0) * (grid * _SHRINK)).astype(
            np.int64
        )
        squares = (self._weights**2).sum(axis=0)
        if squares.max() > grid**2:
            raise ArithmeticError("a column of the optimum is longer than its grid")
        # A bound that does not depend on the last bits of a matrix decomposition, so a plan holds for ever.
        self.column = Sensitivity(int(self._weights.sum(axis=0).max()), grid**2)

    def row(self, period: int) -> Integers:
        return self._weights[period - 1, :period]

    @cached_property
    def _estimates(self) -> Floats:
        """W A^-1."""
        inverse = solve_triangular(self._weights.astype(np.float64), np.eye(self.periods), lower=True)
        return np.cumsum(inverse, axis=0)

    @cached_property
    def _energies(self) -> Floats:
        energies: Floats = (self._estimates**2).sum(axis=1)
        return energies

    @cached_property
    def _increment_energies(self) -> Floats:
        energies: Floats = (np.diff(self._estimates, axis=0, prepend=0.0) ** 2).sum(axis=1)
        return energies

    def fourth_powers(self, periods: Integers) -> Floats:
        powers: Floats = (self._estimates**4).sum(axis=1)[periods - 1]
        return powers


@lru_cache(maxsize=4)
def _strategy(periods: int, grid: int) -> OptimalTriangle:
    return OptimalTriangle(periods, grid)


class GaussianOptimumStream(LinearStream):
    """Gaussian noise correlated as well as any strategy can, which a dual bound proves."""

    name: ClassVar[str] = "gaussian-optimum"
    title: ClassVar[str] = "Optimal Gaussian noise"
    summary: ClassVar[str] = (
        "Gaussian noise, correlated between periods so that no other strategy does noticeably better; with proof."
    )
    definitions: ClassVar[frozenset[Definition]] = frozenset({Definition.ZCDP})
    # One to two seconds here, and eight times as long for twice the periods.
    longest: ClassVar[int] = 1024

    def design(self, horizon: int | None, definition: Definition, grid: int) -> dict[str, object]:
        assert horizon is not None  # `endless` is False
        return {"grid": grid, "lower_bound": triangular_optimum(horizon).lower_bound / horizon}

    def build(self, horizon: int | None, definition: Definition, details: JsonObject) -> StreamStrategy:
        assert horizon is not None
        return _strategy(horizon, details["grid"])
