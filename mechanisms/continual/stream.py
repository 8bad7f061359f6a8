"""What all mechanisms for running counts share; a subclass says by which strategy the noise is correlated."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import ClassVar, Generic, TypeVar

import numpy as np
from scipy.special import ndtri

from mechanisms.accounting import SYMBOL, Definition, Loss, Neighbours
from mechanisms.arrays import Floats, Integers
from mechanisms.calibration import MAX_SCALE, law_for, scale_squared, too_small
from mechanisms.continual.mechanism import StreamPlan, StreamRequest, StreamSecrets
from mechanisms.continual.strategy import (
    ROUNDING_VARIANCE,
    Draw,
    Errors,
    StreamStrategy,
    fourth_cumulant,
    stream_sensitivity,
)
from mechanisms.json_types import JsonObject
from mechanisms.noise import WIDEST, Noise, NoiseLaw
from mechanisms.noise.sum_quantiles import LEVEL, STEP, half_widths, integer_half_widths
from mechanisms.protocol import PlanError
from mechanisms.sensitivity import Sensitivity
from mechanisms.validation import check_amount

LONGEST = 2**20
# Over so many periods the error of a stream without an end is averaged.
PERIODS_SHOWN = 1023
# What fixed point may add to the noise of a count, in rows.
_FIXED_POINT = 2.0**-6
# Weights are multiples of 2^-bits of the sensitivity: of the finest of these for which the noise is not too wide.
_FINEST, _COARSEST = 24, 14


S = TypeVar("S", bound=Errors)


class PlannedStream(ABC, Generic[S]):
    """The data-free verbs of `mechanism.StreamMechanism`, for a strategy of whatever kind publishes the counts."""

    name: ClassVar[str]
    title: ClassVar[str]
    summary: ClassVar[str]
    definitions: ClassVar[frozenset[Definition]] = frozenset({Definition.PURE, Definition.ZCDP})
    reference: ClassVar[bool] = False
    whole_orders: ClassVar[bool] = False
    longest: ClassVar[int] = LONGEST
    endless: ClassVar[bool] = False

    def design(self, horizon: int | None, definition: Definition, grid: int) -> dict[str, object]:
        """What a plan lays down, as JSON, for `build` to make the same strategy for ever.

        grid: the whole number that weights may add up to in a column (in squares: whose square).
        """
        return {}

    @abstractmethod
    def build(self, horizon: int | None, definition: Definition, details: JsonObject) -> S:
        """The strategy that `design` has laid down. Called once a period: fast, or cached."""

    def plan(self, request: StreamRequest, loss: Loss) -> StreamPlan:
        """Decide everything without data.

        Raises PlanError if the loss, the horizon, the number of series or the bound of a row does not fit.
        """
        self._check(request, loss)
        details = self.design(request.horizon, loss.definition, 2 ** _grid_bits(request, loss))
        strategy = self.build(request.horizon, loss.definition, details)
        sensitivity = stream_sensitivity(loss.unit, request, strategy.column, strategy.aligned)
        law = law_for(loss, sensitivity)
        if math.sqrt(scale_squared(law)) > min(WIDEST, MAX_SCALE * _narrowing(strategy)):
            raise too_small(loss)
        horizon = request.horizon or PERIODS_SHOWN
        if request.horizon is None:
            details["periods_shown"] = horizon
        error = float(law.variance * strategy.mean_energy(horizon) + _rounding(strategy))
        return StreamPlan(
            mechanism=self.name,
            request=request,
            loss=loss,
            sensitivity=sensitivity,
            noise=law,
            mean_squared_error=error,
            explanation=_explanation(request, loss, horizon, error),
            details=details,
        )

    def strategy(self, plan: StreamPlan) -> S:
        """The strategy that a plan has laid down."""
        return self.build(plan.request.horizon, plan.loss.definition, plan.details)

    def variances(self, plan: StreamPlan, periods: np.ndarray) -> np.ndarray:
        """The variance of a published running count after each of the periods (1-based), in rows².

        Exact but for the rounding, which counts as 1/12: right to many digits for noise wider than a row.
        """
        strategy = self.strategy(plan)
        return plan.noise.variance * strategy.energies(periods) + _rounding(strategy)

    def half_widths(self, plan: StreamPlan, periods: Integers, counts: int = 1) -> Integers:
        """Whole numbers h so that published ± h holds the true running count with probability >= 0.95.

        counts: of how many running counts the sum is taken, each of which has noise of its own.
        Exact for plain sums. Else the normal quantile, widened for the excess kurtosis κ of the noise by (z³ - 3z)κ/24
        (Cornish and Fisher 1938), which errs upwards, as the next term is negative where κ > 0; but no more than any
        sum of such noise reaches, with its step on the integers (`noise.sums`). A count that is rounded to whole rows
        is off by 1/2 of one at most: a sum of m of them is off by h where its noise is below h + 1 - m/2.
        """
        strategy = self.strategy(plan)
        energies, powers = strategy.energies(periods), strategy.fourth_powers(periods)
        return _half_widths(plan.noise, strategy, counts * energies, counts * powers, 1 - counts / 2)

    def increment_variances(self, plan: StreamPlan, periods: Integers) -> Floats:
        """The variance of a published running count less the one before, exact as `variances` is.

        Neighbouring counts share most of their noise: it is that of the difference of their rows of B, where the sum
        of both variances would be many times too much.
        """
        strategy = self.strategy(plan)
        roundings = np.where(periods > 1, 2, 1) * _rounding(strategy)
        return plan.noise.variance * strategy.increment_energies(periods) + roundings

    def increment_half_widths(self, plan: StreamPlan, periods: Integers, counts: int = 1) -> Integers:
        """Whole numbers h so that a count less the one before ± h holds the true increment with probability >= 0.95.

        As `half_widths`, which it is of the first period; after it both counts are rounded, so that the difference of
        one is off by h + 1 or more only where its noise is above h.
        """
        strategy = self.strategy(plan)
        energies, powers = strategy.increment_energies(periods), strategy.increment_fourth_powers(periods)
        rounded_away = 1 - counts * np.where(periods > 1, 1.0, 0.5)
        return _half_widths(plan.noise, strategy, counts * energies, counts * powers, rounded_away)

    def _check(self, request: StreamRequest, loss: Loss) -> None:
        check_amount(loss)
        if loss.definition not in self.definitions:
            needed = " or ".join(sorted(SYMBOL[d] for d in self.definitions))
            raise PlanError(
                "{title} needs a budget in {needed}; this one is in {symbol}. Choose another method.",
                title=self.title,
                needed=needed,
                symbol=loss.symbol,
            )
        if request.series < 1 or request.largest < 1:
            raise PlanError(
                "A stream needs at least one running count, and rows that may add at least 1 to it."
            )
        if request.horizon is None:
            if not self.endless:
                raise PlanError(
                    "{title} needs to know the number of periods. Choose it, or another method.",
                    title=self.title,
                )
        elif not 1 <= request.horizon <= self.longest:
            raise PlanError(
                "{title} serves 1 to {longest:,} periods, not {horizon:,}. Choose a number in that range, "
                "longer periods, or another method.",
                title=self.title,
                longest=self.longest,
                horizon=request.horizon,
            )


def _half_widths(
    law: NoiseLaw, strategy: Errors, energies: Floats, fourth_powers: Floats, rounded_away: float | Floats
) -> Integers:
    """Of sums of noises with coefficients of these squares and fourth powers, see `PlannedStream.half_widths`.

    rounded_away: by how much the noise of what is off by h + 1 exceeds h at least.
    """
    if strategy.plain:
        return integer_half_widths(law, np.rint(energies).astype(np.int64))
    errors = np.sqrt(law.variance * energies)
    largest = np.minimum(fourth_powers, energies**2) ** 0.25
    cumulant = fourth_cumulant(law) * fourth_powers
    z = float(ndtri((1 + LEVEL) / 2))
    quantile = z + (z**3 - 3 * z) / 24 * cumulant / np.maximum(errors, 1e-75) ** 4
    normal = quantile * errors + STEP * largest
    reached = np.minimum(normal, half_widths(law, errors, largest))
    widths = np.ceil(reached + _FIXED_POINT - rounded_away).astype(np.int64)
    at_least_0: Integers = np.maximum(widths, 0)
    return at_least_0


class LinearStream(PlannedStream[StreamStrategy]):
    """Running counts with noise that a strategy correlates over time: `mechanism.StreamMechanism`, but for `build`.

    A state's numbers are the true running "sums", (k,), and what the strategy remembers of its "noise", which
    depends on no data. Published is their sum, so every public number is one true sum plus noise.
    """

    def open(self, plan: StreamPlan, noise: Noise) -> StreamSecrets:
        """The state before the first period, with whatever noise is drawn in advance."""
        begun = self.strategy(plan).begin(drawing(plan, noise))
        return StreamSecrets(0, {"sums": [0] * plan.request.series, "noise": begun})

    def advance(
        self, plan: StreamPlan, state: StreamSecrets, increments: np.ndarray, noise: Noise
    ) -> tuple[np.ndarray, StreamSecrets]:
        """Publish the next period: the true running counts plus the strategy's noise; see `StreamMechanism`."""
        check_increments(plan.request, state, increments)
        period = state.period + 1
        part, remembered = self.strategy(plan).step(period, state.numbers["noise"], drawing(plan, noise))
        sums = np.array(state.numbers["sums"], dtype=np.int64) + increments
        return sums + part, StreamSecrets(period, {"sums": sums.tolist(), "noise": remembered})


def _grid_bits(request: StreamRequest, loss: Loss) -> int:
    """How fine weights may be without making the noise too wide to be drawn."""
    unit_law = law_for(loss, stream_sensitivity(loss.unit, request, Sensitivity(1, 1)))
    widest = WIDEST / math.sqrt(scale_squared(unit_law))
    return max(_COARSEST, min(_FINEST, math.floor(math.log2(max(1.0, widest)))))


def _narrowing(strategy: Errors) -> float:
    """By how much the noise of the first running count is narrower than that of the strategy's answers."""
    return 1 / math.sqrt(float(strategy.energies(np.array([1]))[0]))


def _rounding(strategy: Errors) -> float:
    return ROUNDING_VARIANCE if strategy.rounds else 0.0


def drawing(plan: StreamPlan, noise: Noise) -> Draw:
    """Draws noise for so many sums of each series: (answers, series) int64."""
    series = plan.request.series
    return lambda answers: noise.draw(plan.noise, answers * series).reshape(answers, series)


def check_increments(request: StreamRequest, state: StreamSecrets, increments: np.ndarray) -> None:
    """Raises ValueError unless a period is left and increments are (k,) int64 >= 0; no message holds one."""
    if request.horizon is not None and state.period >= request.horizon:
        raise ValueError(f"all {request.horizon} periods of the stream are published")
    if increments.shape != (request.series,):
        raise ValueError(f"increments must have shape {(request.series,)}, got {increments.shape}")
    if increments.dtype != np.int64:
        raise ValueError(f"increments must have type int64, got {increments.dtype}")
    if increments.min() < 0:
        raise ValueError("increments must not be negative")


def _explanation(request: StreamRequest, loss: Loss, horizon: int, error: float) -> str:
    change = "Adding or removing" if loss.unit.neighbours is Neighbours.ADD_REMOVE else "Replacing"
    rows = "1 row" if loss.unit.max_rows == 1 else f"at most {loss.unit.max_rows} rows"
    if request.largest > 1:
        rows = f"{rows}, each adding at most {request.largest:,},"
    over = (
        "its only period"
        if horizon == 1
        else f"all {horizon:,} periods"
        if request.horizon
        else f"the first {horizon:,} periods"
    )
    span = "the whole stream" if request.horizon else "the stream, however long"
    root = math.sqrt(error)
    size = f"{root:,.0f}" if root >= 1000 else f"{root:.3g}"
    if request.largest == 1:
        size = _in_people(size) if loss.unit.max_rows == 1 else _in_rows(size)
    return (
        f"{change} one person, with {rows} in {span}, costs {loss} once. "
        f"Expected error of a running count, over {over}: {size}."
    )


def _in_people(size: str) -> str:
    return "1 person" if size == "1" else f"{size} people"


def _in_rows(size: str) -> str:
    return "1 row" if size == "1" else f"{size} rows"
