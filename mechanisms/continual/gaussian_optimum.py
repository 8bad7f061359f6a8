"""The least error that Gaussian noise allows for running counts, with a certificate.

Minimise tr(W X^-1 Wᵀ) over X = AᵀA with a diagonal of at most 1. For v > 0 and S = (V^½ G V^½)^½, V = diag(v),
G = WᵀW, the dual bound is 2 tr S - Σv, and it is tight where v = diag S, at X = V^-½ S V^-½ (Yuan, Yang, Zhang, Hao
2016; McKenna, Miklau, Hay, Machanavajjhala 2018 for the same programme). For running sums G^-1 is tridiagonal, so S
comes from the eigenvectors of a tridiagonal matrix; and the best v for few periods, stretched, is near the best for
many. Any A with X = AᵀA has the same error; a lower triangle can be solved forwards, period by period.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import cholesky, eigh_tridiagonal, solve_triangular

from mechanisms.accounting import Definition
from mechanisms.continual.strategy import Strategy
from mechanisms.continual.stream import Stream
from mechanisms.continual.triangular import Triangular
from mechanisms.counting import Sensitivity

LONGEST = 1024
# Up to so many periods v is found directly; above, it is stretched from half of them and improved once.
_DIRECT = 256
_ITERATIONS = 10
# Entries are made smaller by this before they are rounded down, so that float errors cannot make a column longer.
_SHRINK = 1 - 2.0**-40


@dataclass(frozen=True)
class Optimum:
    """strategy: (n, n) lower triangular A with columns of norm 1. lower_bound: of ‖W A^-1‖²_F over all such A."""

    strategy: np.ndarray
    lower_bound: float


@lru_cache(maxsize=16)
def gaussian_optimum(periods: int) -> Optimum:
    """The optimum for the running sums of `periods` periods, to a relative gap that `lower_bound` proves.

    periods: 1..LONGEST. The gap is below 1e-3 up to 256 periods and below 4e-3 above.
    """
    if not 1 <= periods <= LONGEST:
        raise ValueError(f"the optimum is worked out for 1 to {LONGEST} periods, not {periods}")
    v = _best_scaling(periods)
    middle = _middle(v)
    diagonal = np.diag(middle)
    root = np.sqrt(diagonal)
    gram = middle / root[:, None] / root
    # X = AᵀA with A lower triangular: the Cholesky factor of X read from its other end.
    strategy = np.tril(cholesky(gram[::-1, ::-1])[::-1, ::-1])
    return Optimum(strategy, float(2 * diagonal.sum() - v.sum()))


def _best_scaling(periods: int) -> np.ndarray:
    if periods <= _DIRECT:
        return _improved(np.full(periods, np.sqrt(periods)), _ITERATIONS)
    coarse = _best_scaling(periods // 2)
    places, coarse_places = _log_odds(periods), _log_odds(periods // 2)
    return _improved(np.exp(np.interp(places, coarse_places, np.log(coarse))), 1)


def _log_odds(periods: int) -> np.ndarray:
    """Where each period lies between the two ends, at which v changes fast."""
    middles = np.arange(periods) + 0.5
    return np.log(middles / (periods - middles))


def _improved(v: np.ndarray, iterations: int) -> np.ndarray:
    """v ← diag S, over-relaxed by half a step on the logarithm."""
    for _ in range(iterations):
        diagonal = np.diag(_middle(v))
        v = diagonal * np.sqrt(diagonal / v)
    return v


def _middle(v: np.ndarray) -> np.ndarray:
    """S = (V^½ G V^½)^½ from S^-2 = V^-½ G^-1 V^-½; G^-1 has 2 (but first 1) on its diagonal and -1 beside it."""
    root = 1 / np.sqrt(v)
    diagonal = np.full(len(v), 2.0)
    diagonal[0] = 1.0
    values, vectors = eigh_tridiagonal(diagonal * root**2, -root[1:] * root[:-1])
    return (vectors / np.sqrt(values)) @ vectors.T


class GaussianOptimum(Triangular):
    """The optimum's lower triangle on the grid, rounded down: no column is longer than `grid`."""

    def __init__(self, periods: int, grid: int) -> None:
        self.periods = periods
        optimum = gaussian_optimum(periods)
        self._weights = np.floor(np.maximum(optimum.strategy, 0) * (grid * _SHRINK)).astype(np.int64)
        squares = (self._weights**2).sum(axis=0)
        if squares.max() > grid**2:
            raise ArithmeticError("a column of the optimum is longer than its grid")
        # A bound that does not depend on the last bits of a matrix decomposition, so a plan holds for ever.
        self.column = Sensitivity(int(self._weights.sum(axis=0).max()), grid**2)

    def row(self, period: int) -> np.ndarray:
        return self._weights[period - 1, :period]

    @cached_property
    def _estimates(self) -> np.ndarray:
        """W A^-1."""
        inverse = solve_triangular(self._weights.astype(np.float64), np.eye(self.periods), lower=True)
        return np.cumsum(inverse, axis=0)

    @cached_property
    def _energies(self) -> np.ndarray:
        return (self._estimates**2).sum(axis=1)

    def energies(self, periods: np.ndarray) -> np.ndarray:
        return self._energies[periods - 1]

    def mean_energy(self, horizon: int) -> float:
        return float(self._energies[:horizon].mean())

    def fourth_powers(self, periods: np.ndarray) -> np.ndarray:
        return (self._estimates**4).sum(axis=1)[periods - 1]


@lru_cache(maxsize=4)
def _strategy(periods: int, grid: int) -> GaussianOptimum:
    return GaussianOptimum(periods, grid)


class GaussianOptimumStream(Stream):
    """Gaussian noise correlated as well as any strategy can, which a dual bound proves."""

    name: ClassVar[str] = "gaussian-optimum"
    title: ClassVar[str] = "Optimal Gaussian noise"
    summary: ClassVar[str] = (
        "Gaussian noise, correlated between periods so that no other strategy does noticeably better; with proof."
    )
    definitions: ClassVar[frozenset[Definition]] = frozenset({Definition.ZCDP})
    longest: ClassVar[int] = LONGEST

    def design(self, horizon: int | None, definition: Definition, grid: int) -> dict[str, Any]:
        assert horizon is not None  # `endless` is False
        return {"grid": grid, "lower_bound": gaussian_optimum(horizon).lower_bound / horizon}

    def build(self, horizon: int | None, definition: Definition, details: Mapping[str, Any]) -> Strategy:
        assert horizon is not None
        return _strategy(horizon, details["grid"])
