"""Correlated noise for running counts: what a strategy is, and what one person can change of its answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np

from mechanisms.accounting import Definition, Loss, Neighbours, PrivacyUnit
from mechanisms.arrays import Floats, Integers
from mechanisms.continual.mechanism import StreamRequest
from mechanisms.json_types import JsonObject
from mechanisms.noise import DiscreteGaussian, NoiseLaw
from mechanisms.sensitivity import Sensitivity, unit_sensitivity

# JSON: named exact integers, and lists of them.
StrategyState = JsonObject
# How many strategy answers -> their noise, (answers, k) int64: independent draws of the plan's law.
Draw = Callable[[int], np.ndarray]

# Noise is kept in multiples of 2^-20 of a row, until it is rounded once for publication. The states of open streams
# are in this unit.
FRACTION_BITS = 20
ROUNDING_VARIANCE = 1 / 12
# Shares of weights and of noise are multiples of 2^-30.
SHARE_BITS = 30


class Errors(ABC):
    """What a plan has to know of a strategy: what one increment changes, and how far noise moves the counts.

    column: the largest L1 norm and squared L2 norm of a column of A: what an increment of 1 changes.
    rounds: whether the noise is not whole by itself and is rounded once a period.
    plain: whether a count's noise is a plain sum of answers' noises, as many as its energy.
    aligned: whether no two columns of A have a negative inner product, as where no weight is negative.
    """

    column: Sensitivity
    rounds: bool = True
    plain: bool = False
    aligned: bool = True

    @abstractmethod
    def energies(self, periods: Integers) -> Floats:
        """The variance of a count's noise after each of the periods (1-based), unrounded, for noise z of variance 1."""

    def mean_energy(self, horizon: int) -> float:
        """The mean of the energies over the periods 1..horizon."""
        return float(self.energies(np.arange(1, horizon + 1)).mean())

    def fourth_powers(self, periods: Integers) -> Floats:
        """Σ a⁴ of the coefficients a of z, where energies are Σ a²; an upper bound (here the simplest) will do."""
        return self.energies(periods) ** 2

    @abstractmethod
    def increment_energies(self, periods: Integers) -> Floats:
        """The same variance of what a count's noise changes from the period before: Σ (a_t - a_(t-1))²."""

    def increment_fourth_powers(self, periods: Integers) -> Floats:
        """Σ (a_t - a_(t-1))⁴, or an upper bound."""
        return self.increment_energies(periods) ** 2


class StreamStrategy(Errors):
    """Integer-weighted sums Ax of the increments x, and the noise G(z) that their noise z gives the running counts.

    The counts that are published are s + G(z), s the true running counts. For this to be a function of the noisy
    answers Ax + z alone, G has to satisfy G(z + Ax) = G(z) + Wx for all integer x, W the running sums; mechanisms/
    continual/README.md derives the privacy of a live stream from that, and says which roundings keep it.
    """

    @abstractmethod
    def begin(self, draw: Draw) -> StrategyState:
        """What to remember before the first period."""

    @abstractmethod
    def step(self, period: int, numbers: StrategyState, draw: Draw) -> tuple[np.ndarray, StrategyState]:
        """The noise of the running counts after this period, (k,) int64 rows, and what to remember after it.

        Draws what is not drawn yet, and forgets what no later period needs. Never changes `numbers`.
        """


class Chained(StreamStrategy):
    """A running count is a sum of answers one behind the other; from one count to the next only the end changes.

    The answer that ends with the period takes the place of those that it reaches over; all before it stay. So with E
    the energy of a count and w the weight of that answer, their common part has E_t - w^-2, and the increment's noise
    w^-2 + E_(t-1) - (E_t - w^-2).
    """

    @abstractmethod
    def powers(self, periods: Integers, power: int) -> Floats:
        """Σ weight^-power over the answers that make up each running count."""

    @abstractmethod
    def ending(self, periods: Integers) -> Floats:
        """The weight of the answer that ends with each of the periods."""

    def energies(self, periods: Integers) -> Floats:
        return self.powers(periods, 2)

    def fourth_powers(self, periods: Integers) -> Floats:
        return self.powers(periods, 4)

    def increment_energies(self, periods: Integers) -> Floats:
        return self._changed(periods, 2)

    def increment_fourth_powers(self, periods: Integers) -> Floats:
        return self._changed(periods, 4)

    def _changed(self, periods: Integers, power: int) -> Floats:
        before = np.where(periods > 1, self.powers(np.maximum(periods - 1, 1), power), 0.0)
        return 2 * self.ending(periods) ** -power + before - self.powers(periods, power)


def fixed_point(noise: np.ndarray, weight: int | np.ndarray) -> np.ndarray:
    """noise / weight in multiples of 2^-FRACTION_BITS, rounded down, exactly.

    noise: int64, below 2^42 times the weight in magnitude. weight: >= 1, a number or an array to match.
    Rounding down commutes with adding whole rows: that is all that privacy asks of it.
    """
    integral, rest = np.divmod(noise, weight)
    return (integral << FRACTION_BITS) + (rest << FRACTION_BITS) // weight


def part_of(noise: np.ndarray, share: int) -> np.ndarray:
    """noise · share / 2^SHARE_BITS, rounded down, exactly; share in 0..2^SHARE_BITS. Never leaves int64."""
    low = noise & (1 << SHARE_BITS) - 1
    return (noise >> SHARE_BITS) * share + (low * share >> SHARE_BITS)


def rounded(noise: np.ndarray) -> np.ndarray:
    """Multiples of 2^-FRACTION_BITS to the nearest whole rows; this too commutes with adding whole rows."""
    return (noise + (1 << FRACTION_BITS - 1)) >> FRACTION_BITS


def stream_sensitivity(
    unit: PrivacyUnit, request: StreamRequest, column: Sensitivity, aligned: bool = True
) -> Sensitivity:
    """How far one person moves the strategy's answers, over all periods and series together.

    A row that enters or leaves adds at most `largest` to one series in one period: that many times a column. One that
    changes its series, its period or what it adds moves them by the difference of two such, a and b: ‖a - b‖₁ <=
    2 · largest · column, and where no columns point away from each other ‖a - b‖² <= ‖a‖² + ‖b‖², else at most 4 times
    one of them. That is never less than a row's own, so it does not matter whether the number of rows is public. The
    columns of different series share no answers, so the number of series does not matter.
    """
    row = Sensitivity(request.largest * column.l1, request.largest**2 * column.l2_squared)
    return unit_sensitivity(unit, row, Sensitivity(2 * row.l1, (2 if aligned else 4) * row.l2_squared))


def covers_corrections(loss: Loss) -> bool:
    """Whether a stream's loss covers corrections of what was published, each counted as one of a person's m rows.

    A correction lowers a later period by what was counted too much: it moves the answers by a column, the other way.
    So a person with r rows and c <= r corrections, r + c <= m, moves them by at most m columns in any norm: what
    add-remove is charged, and by twice that where they are replaced, which is what L1 is charged. In L2 replacing is
    charged less, since rows before and after do not add up; before and after corrections they would.
    With one row a person there is nothing left for a correction.
    """
    unit = loss.unit
    adds_up = loss.definition is Definition.PURE or unit.neighbours is Neighbours.ADD_REMOVE
    return unit.max_rows >= 2 and adds_up


def fourth_cumulant(law: NoiseLaw) -> float:
    """E K⁴ - 3 (E K²)², > 0 for Laplace noise; that of a discrete Gaussian is taken as 0, which it hardly exceeds.

    A discrete Laplace is the difference of two geometric variables, whose fourth cumulant is q(1+4q+q²)/(1-q)⁴,
    q = e^(-1/t).
    """
    if isinstance(law, DiscreteGaussian):
        return 0.0
    q = float(np.exp(-1 / float(law.scale)))
    return 2 * q * (1 + 4 * q + q * q) / float(np.expm1(-1 / float(law.scale))) ** 4
