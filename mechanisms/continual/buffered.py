"""Buffered linear Toeplitz: Gaussian noise whose correlation over any number of periods a few numbers remember.

Answer t is x_t + Σ_j ω_j b_j, where each buffer fades by its θ_j and then takes up x_t: A is lower triangular Toeplitz
with 1, then c_k = Σ_j ω_j θ_j^(k-1). Source: Dvijotham, McMahan, Pillutla, Steinke, Thakurta 2024, "Efficient and
near-optimal noise generation for streaming differential privacy" (arXiv:2404.16706). Where they invert A on the
noise, here the noisy answers themselves are inverted: the answers are whole numbers made of the true increments, and
the same buffers, fed with estimates in place of the truth, take them apart again. That is post-processing of answers
with noise of their own, whatever is rounded on the way, so streams of a million periods need no memory of old noise.

What rounding does to the sensitivity: buffers are cut to multiples of 2^-BUFFER_BITS of a row, so over any time they
are off by at most Σ ω_j/(1 - θ_j) of these, less than a unit of the grid, and an answer is cut to whole units: two
streams whose exact answers differ by d units differ by less than d + 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy.optimize import minimize

from mechanisms.continual.strategy import Errors
from mechanisms.deferred_search import JsonForm, Search
from mechanisms.sensitivity import Sensitivity

BUFFERS = 5
# θ and ω are multiples of 2^-PARAMETER_BITS, buffers and estimates of 2^-BUFFER_BITS rows.
PARAMETER_BITS = 40
BUFFER_BITS = 80
# An answer differs by less than this from c_k units: by less than 2, and 1 for rounding c_k up from a float.
_SLACK = 3
_ITERATIONS = 80
# Periods up to which the search takes a moment.
_QUICK = 128
# The squares of the weights are added up in pieces of so many.
_PIECE = 2**16


@dataclass(frozen=True)
class Buffers:
    """What is remembered of all increments so far.

    decays, weights: θ_j and ω_j, in multiples of 2^-PARAMETER_BITS. values: b_j, in multiples of 2^-BUFFER_BITS rows.
    """

    decays: tuple[int, ...]
    weights: tuple[int, ...]
    values: tuple[int, ...]

    def answer(self, head: int) -> int:
        """⌊head · Σ ω_j b_j⌋, in units of the grid."""
        total = sum(w * b for w, b in zip(self.weights, self.values, strict=True))
        return head * total >> PARAMETER_BITS + BUFFER_BITS

    def after(self, increment: int) -> Buffers:
        """Faded, and with an increment (in multiples of 2^-BUFFER_BITS rows) taken up."""
        pairs = zip(self.decays, self.values, strict=True)
        return Buffers(
            self.decays, self.weights, tuple((k * b >> PARAMETER_BITS) + increment for k, b in pairs)
        )


class BufferedToeplitz(Errors):
    """A_tt = head, A_{t,t-k} = head · Σ_j ω_j θ_j^(k-1), up to rounding."""

    def __init__(self, periods: int, decays: Sequence[int], weights: Sequence[int], head: int) -> None:
        self.periods, self.decays, self.weights, self.head = periods, tuple(decays), tuple(weights), head

    @cached_property
    def column(self) -> Sensitivity:  # type: ignore[override]
        """An upper bound for every increment of 1, in exact integers."""
        l1, l2_squared = self.head, self.head**2
        for start in range(1, self.periods, _PIECE):
            ages = np.arange(start, min(start + _PIECE, self.periods), dtype=np.float64)
            real = self.head * (self._omega @ np.exp(np.multiply.outer(np.log(self._theta), ages - 1)))
            units = np.ceil(real).astype(np.int64) + _SLACK
            l1 += int(units.sum())
            # In parts, so that sums of squares stay inside 64 bits.
            l2_squared += sum(int((part**2).sum()) for part in np.array_split(units, 256))
        return Sensitivity(l1, l2_squared)

    def remembering(self, values: Sequence[int]) -> Buffers:
        """The buffers with these values."""
        return Buffers(self.decays, self.weights, tuple(values))

    @property
    def empty(self) -> Buffers:
        """The buffers before the first period."""
        return self.remembering((0,) * len(self.decays))

    @property
    def _theta(self) -> np.ndarray:
        return np.array(self.decays) / 2.0**PARAMETER_BITS

    @property
    def _omega(self) -> np.ndarray:
        return np.array(self.weights) / 2.0**PARAMETER_BITS

    @cached_property
    def _response(self) -> ImpulseResponse:
        return response(self._theta, self._omega)

    def energies(self, periods: np.ndarray) -> np.ndarray:
        return self._response.sums_of_squares(periods.astype(np.float64)) / self.head**2

    def increment_energies(self, periods: np.ndarray) -> np.ndarray:
        """1 for the period's own noise; that of k periods before moves its estimate by b_k - b_(k-1)."""
        counts = self._response
        changes = ImpulseResponse(counts.rates, counts.factors * (counts.rates - 1))
        return (1 + changes.sums_of_squares(periods - 1.0)) / self.head**2

    def mean_energy(self, horizon: int) -> float:
        return self._response.mean_sum_of_squares(horizon) / self.head**2


@dataclass(frozen=True)
class ImpulseResponse:
    """b_k = Σ_i factors_i · rates_i^k: what noise of k periods ago does to a running count, W A^-1 (head 1)."""

    rates: np.ndarray
    factors: np.ndarray

    def sums_of_squares(self, periods: np.ndarray) -> np.ndarray:
        """Σ_{k<t} b_k² for each t of (m,) floats."""
        sums = np.zeros(periods.shape)
        for i, (factor, rate) in enumerate(zip(self.factors, self.rates, strict=True)):
            sums += factor**2 * _geometric(rate**2, periods)
            for other in range(i):
                sums += 2 * factor * self.factors[other] * _geometric(rate * self.rates[other], periods)
        return sums

    def mean_sum_of_squares(self, horizon: int) -> float:
        """The mean of Σ_{k<t} b_k² over t = 1..N, which is Σ_{k<N} (1 - k/N) b_k²."""
        products, rates = np.outer(self.factors, self.factors), np.outer(self.rates, self.rates)
        gaps = 1 - rates
        level = gaps < 1e-13
        safe = np.where(level, 1.0, gaps)
        fading = 1 / safe - rates * (1 - rates ** float(horizon)) / (safe**2 * horizon)
        return float((products * np.where(level, (horizon + 1) / 2, fading)).sum())


def _geometric(rate: float, terms: np.ndarray) -> np.ndarray:
    """Σ_{k<terms} rate^k."""
    return terms if rate > 1 - 1e-13 else (1 - rate**terms) / (1 - rate)


def response(theta: np.ndarray, omega: np.ndarray) -> ImpulseResponse:
    """The inverse of a buffered Toeplitz matrix is one too: its rates are the eigenvalues of diag(θ) - √ω√ωᵀ."""
    root = np.sqrt(omega)
    rates, vectors = np.linalg.eigh(np.diag(theta) - np.outer(root, root))
    sums = (root @ vectors) ** 2 / (1 - rates)
    # The increments' estimates have 1, then -Σ (√ωᵀv)² λ^(k-1); added up over k that is 1 - Σ sums · (1 - λ^k).
    return ImpulseResponse(np.append(rates, 1.0), np.append(sums, 1 - sums.sum()))


def column_energy(theta: np.ndarray, omega: np.ndarray, periods: int) -> float:
    """Σ_{k<N} c_k²: the squared length of the first column."""
    gaps = 1 - np.outer(theta, theta)
    return float(1 + (np.outer(omega, omega) * -np.expm1((periods - 1) * np.log1p(-gaps)) / gaps).sum())


def _best_buffers(periods: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """θ and ω, in multiples of 2^-PARAMETER_BITS, with about the least error over `periods` periods.

    The start is a quadrature of c_k ≈ 1/√(πk) = ∫ e^(-ks) / (π√s) ds, the square root of the running sums, at rates s
    from one over the horizon to one.
    """
    logs = np.linspace(np.log(0.3 / (periods + 1)), 0.0, BUFFERS)
    rates = np.exp(logs)
    weights = (logs[1] - logs[0]) * np.sqrt(rates) / np.pi * np.exp(-rates)
    start = np.concatenate([np.log(-np.expm1(-rates)), np.log(weights)])
    bounds = [(np.log(0.01 / (periods + 1)), np.log(0.9))] * BUFFERS + [(-20.0, np.log(0.6))] * BUFFERS

    def error(logarithms: np.ndarray) -> float:
        theta, omega = -np.expm1(logarithms[:BUFFERS]), np.exp(logarithms[BUFFERS:])
        spread = response(theta, omega).mean_sum_of_squares(periods)
        return float(np.log(column_energy(theta, omega, periods)) + np.log(max(spread, 1e-9)))

    solution = minimize(error, start, method="L-BFGS-B", bounds=bounds, options={"maxiter": _ITERATIONS}).x
    unit = 2.0**PARAMETER_BITS
    decays = tuple(round(g * unit) for g in (-np.expm1(solution[:BUFFERS])).tolist())
    return decays, tuple(round(w * unit) for w in np.exp(solution[BUFFERS:]).tolist())


best_buffers = Search(
    "running-count-buffers",
    1,
    _best_buffers,
    takes_long=lambda periods: periods > _QUICK,
    form=JsonForm(
        write_arguments=lambda periods: [periods],
        read_arguments=tuple,
        write=lambda solution: [list(part) for part in solution],
        read=lambda solution: (tuple(solution[0]), tuple(solution[1])),
    ),
)


@lru_cache(maxsize=64)
def buffered_toeplitz(
    periods: int, decays: tuple[int, ...], weights: tuple[int, ...], head: int
) -> BufferedToeplitz:
    """The strategy with these buffers: the same object whenever it is asked for."""
    return BufferedToeplitz(periods, decays, weights, head)
