"""Every interval that a product promises holds the truth in at least 95 of 100 cases, by exact probabilities.

What a product publishes is linear in its noise: the coefficients are read off one noise at a time, and their sum's law
is convolved on a fine grid, for noise from a million rows down to nearly none. Answers of randomised response have an
interval that depends on the rows: see `test_response`.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from mechanisms import registry
from mechanisms.accounting import Definition, Loss
from mechanisms.continual.mechanism import StreamMechanism, StreamPlan, StreamRequest
from mechanisms.domain import Domain, Integer
from mechanisms.histogram.strategy import StrategyHistogram
from mechanisms.matrix.answering import MatrixMechanism, strategy_of
from mechanisms.matrix.combined import combined_error
from mechanisms.matrix.mechanism import Optimised, QueryMechanism, QueryPlan
from mechanisms.matrix.workload.text import read_workload
from mechanisms.microdata.constraints import Wishes
from mechanisms.microdata.limits import RowCount
from mechanisms.microdata.mechanism import Microdata
from mechanisms.noise import Noise, NoiseLaw
from mechanisms.noise.sum_quantiles import PlainSum, characteristic
from mechanisms.protocol import Measurement, Mechanism, PlanError
from tests.mechanisms.microdata.building import DOMAIN, FITTED, counted, of_methods, people

AMOUNTS = {
    Definition.PURE: ["0.000001", "0.001", "0.1", "1", "2.3", "3.7", "5.2", "7", "20", "1000"],
    Definition.ZCDP: ["0.000001", "0.001", "0.1", "0.5", "1.3", "2.4", "4.1", "6", "20", "1000"],
}
LOSSES = [Loss(definition, Fraction(amount)) for definition in Definition for amount in AMOUNTS[definition]]
each_loss = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: f"{loss.symbol}={float(loss.amount):g}")
_POINTS = 2**15


def coverage(law: NoiseLaw, coefficients: np.ndarray, h: float) -> float:
    """P(|Σ b_i K_i| <= h), by Fourier sums over a circle of fine steps; right to about 3e-4."""
    sizes, counts = np.unique(np.round(np.abs(coefficients[coefficients != 0]), 12), return_counts=True)
    if sizes.size == 0:
        return 1.0
    if sizes.size == 1:
        return PlainSum(law, int(counts[0])).coverage(math.floor(h / sizes[0] * (1 + 1e-9)))
    error = law.standard_error * math.sqrt(float((sizes**2 * counts).sum()))
    if law.standard_error > 3:
        # As good as continuous: the sum's density on a circle, from its Fourier coefficients.
        turns = 2 * np.pi / (60 * error) * np.arange(1, _POINTS)
        phi = np.prod(
            [characteristic(law, turns * a) ** m for a, m in zip(sizes, counts, strict=True)], axis=0
        )
        return float(
            2 * h / (60 * error) + 4 / (60 * error) * (phi * np.sin(turns * (h + 2e-3 * error)) / turns).sum()
        )
    # Nothing lies beyond the circle: as far as every noise goes, at most.
    around = min(
        60 * error + 8 * sizes.max(), float((sizes * counts).sum()) * (law.half_width(1 - 1e-13) + 1)
    )
    step = 2 * max(around, 2 * h, 1e-300) / _POINTS
    angles = 2 * np.pi * np.arange(_POINTS) / _POINTS
    phi = np.ones(_POINTS)
    for size, count in zip(np.rint(sizes / step), counts, strict=True):
        phi *= characteristic(law, angles * size) ** count
    exact = np.fft.ifft(phi).real
    # Rounding the sizes moves an atom by a few steps.
    reach = min(_POINTS // 2 - 1, math.floor(h / step * (1 + 1e-9)) + 12)
    return float(exact[: reach + 1].sum() + exact[_POINTS - reach :].sum())


def check(law: NoiseLaw, coefficients: np.ndarray, widths: np.ndarray, rounding: float = 0.0) -> None:
    """For every row of coefficients."""
    for row, width in zip(coefficients, widths.tolist(), strict=True):
        assert coverage(law, row, width + rounding) >= 0.95 - 3e-4, (row, width)
        error = law.standard_error * math.sqrt(float((row**2).sum()))
        assert width <= max(math.sqrt(20) * error, 1.0) + 1, "an interval is never absurd"


def box(*widths: int) -> Domain:
    return Domain(tuple(Integer(f"x{i}", lower=1, upper=w) for i, w in enumerate(widths)))


PROMISING = [m for m in registry.HISTOGRAMS if "histogram" in m.name or isinstance(m, StrategyHistogram)]


@pytest.mark.sampled
@each_loss
@pytest.mark.parametrize("mechanism", PROMISING, ids=lambda m: m.name)
def test_the_intervals_of_histograms(mechanism: Mechanism, loss: Loss) -> None:
    for purpose in ("cells", "ranges", "totals"):
        try:
            plan = mechanism.plan(box(13), {"purpose": purpose}, loss)
        except PlanError:
            continue
        if plan.half_width is None:
            continue
        cell = np.ones((1, 1))
        if isinstance(mechanism, StrategyHistogram):
            strategy = mechanism.strategy(plan)
            cell = np.array([[strategy.estimate(unit)[0] for unit in np.eye(strategy.size)]])
        check(plan.noise, cell, np.array([plan.half_width]))
        assert plan.coverage is not None
        assert plan.coverage >= 0.95


WORKLOADS = [
    (box(6), 'prefix("x0")'),
    (box(9), 'ranges("x0")'),
    (box(3, 4), "marginals(<=2)"),
    (box(3, 2), 'prefix("x0") x identity("x1") + total'),
]
OWN = np.random.default_rng(4).integers(0, 3, size=(4, 12)) + 0.3 * np.eye(4, 12)


@cache
def found(mechanism: QueryMechanism, place: int, definition: Definition) -> Optimised | None:
    domain, text = WORKLOADS[place]
    if mechanism.name == "uploaded-strategy":
        return Optimised({"strategy": np.vstack([OWN[:, : domain.size], np.eye(domain.size)])})
    if not mechanism.optimises:
        return None
    return mechanism.optimise(domain, read_workload(text, domain), definition, lambda _done, _all: None)


def answered(mechanism: QueryMechanism, plan: QueryPlan) -> np.ndarray:
    """(q, p): how much of every noise is in every answer."""
    if isinstance(mechanism, MatrixMechanism):
        strategy = strategy_of(mechanism, plan)
        cells = np.array([strategy.estimate(unit) for unit in np.eye(strategy.size)])
        return np.array([plan.workload.answers(cell) for cell in cells]).T
    counts = np.zeros(
        sum(
            math.prod(plan.domain.shape[plan.domain.names.index(n)] for n in names) for names in plan.counted
        ),
        dtype=np.int64,
    )
    size = mechanism.measure(plan, counts, Silent()).values.size
    units = 10**9 * np.eye(size, dtype=np.int64)
    return np.array([mechanism.reconstruct(plan, Measurement(unit)).answers for unit in units]).T / 1e9


class Silent(Noise):
    """Zeros for all noise."""

    def draw(self, law: NoiseLaw, size: int) -> np.ndarray:
        return np.zeros(size, dtype=np.int64)


@pytest.mark.sampled
@pytest.mark.slow
@each_loss
@pytest.mark.parametrize("mechanism", registry.QUERIES, ids=lambda m: m.name)
def test_the_intervals_of_answers_and_of_their_differences(mechanism: QueryMechanism, loss: Loss) -> None:
    for place, (domain, text) in enumerate(WORKLOADS):
        workload = read_workload(text, domain)
        if mechanism.refusal(domain, workload, loss.definition):
            continue
        try:
            plan = mechanism.plan(domain, workload, loss, found(mechanism, place, loss.definition))
        except PlanError:
            continue
        coefficients = answered(mechanism, plan)
        zeros = np.zeros(len(coefficients[0]), dtype=np.int64)
        widths = mechanism.reconstruct(plan, Measurement(zeros)).half_widths
        check(plan.noise, coefficients[::5], widths[::5])
        weights = np.zeros(len(coefficients))
        weights[[0, 2, -1]] = 1, -1, 2
        _, width = combined_error(mechanism, plan, weights)
        check(plan.noise, np.array([weights @ coefficients]), np.array([width]))


class Impulse(Noise):
    """One large number at one place of all that is drawn, zeros else."""

    def __init__(self, place: int) -> None:
        self.place, self.drawn = place, 0

    def draw(self, law: NoiseLaw, size: int) -> np.ndarray:
        values = np.zeros(size, dtype=np.int64)
        if 0 <= self.place - self.drawn < size:
            values[self.place - self.drawn] = 2**40
        self.drawn += size
        return values


def published(mechanism: StreamMechanism, plan: StreamPlan, periods: int) -> np.ndarray:
    """(T, draws): how much of every noise is in every running count."""

    def counts(noise: Impulse) -> np.ndarray:
        state, outputs = mechanism.open(plan, noise), []
        for _ in range(periods):
            output, state = mechanism.advance(plan, state, np.zeros(1, dtype=np.int64), noise)
            outputs.append(output[0])
        return np.array(outputs, dtype=np.float64)

    silent = Impulse(-1)
    counts(silent)
    return np.array([counts(Impulse(place)) for place in range(silent.drawn)]).T / 2**40


PERIODS = 11


@pytest.mark.sampled
@pytest.mark.slow
@each_loss
@pytest.mark.parametrize("mechanism", registry.STREAMS, ids=lambda m: m.name)
def test_the_intervals_of_running_counts(mechanism: StreamMechanism, loss: Loss) -> None:
    try:
        plan = mechanism.plan(StreamRequest(PERIODS), loss)
    except PlanError:
        return
    coefficients = published(mechanism, plan, PERIODS)
    whole = np.abs(coefficients - np.rint(coefficients)).max() < 1e-9
    widths = mechanism.half_widths(plan, np.arange(1, PERIODS + 1))
    # What is not whole is rounded to whole rows.
    check(plan.noise, coefficients, widths, 0.0 if whole else 0.5)


class Numbered(Noise):
    """Numbers that are all different, 0, 1, 2, …, and the law of each; choices at random."""

    def __init__(self) -> None:
        super().__init__()
        self.laws: list[NoiseLaw] = []

    def draw(self, law: NoiseLaw, size: int) -> np.ndarray:
        first = len(self.laws)
        self.laws += [law] * size
        return np.arange(first, first + size)


@pytest.mark.sampled
@pytest.mark.parametrize("loss", LOSSES[::2], ids=lambda loss: f"{loss.symbol}={float(loss.amount):g}")
@pytest.mark.parametrize("mechanism", of_methods(slow=FITTED))
def test_the_intervals_of_the_tables_of_synthetic_rows(mechanism: Microdata, loss: Loss) -> None:
    """Every published count is the true one and one number of noise, which no other count has."""
    try:
        plan = mechanism.plan(DOMAIN, Wishes(), loss, rows=RowCount(10))
    except PlanError:
        return
    noise, rows = Numbered(), people(500)
    result = mechanism.reconstruct(plan, mechanism.measure(plan, counted(plan, rows), noise))
    used: list[int] = []

    def check_counts(noisy: np.ndarray, true: np.ndarray, half_width: int) -> None:
        numbers = (noisy - true).ravel().tolist()
        used.extend(numbers)
        for law in {noise.laws[number] for number in numbers}:
            check(law, np.ones((1, 1)), np.array([half_width]))

    for column, size in enumerate(DOMAIN.shape):
        true = np.bincount(rows[:, column], minlength=size)
        check_counts(result.margins[column], true, result.half_widths[column])
    for table in result.tables:
        assert result.grouping is not None
        true = np.zeros([DOMAIN.shape[column] for column in table.pair], dtype=np.int64)
        np.add.at(true, tuple(rows[:, column] for column in table.pair), 1)
        check_counts(table.values, result.grouping.table(true, table.pair), table.half_width)
    assert len(used) == len(set(used))


def test_one_period_at_a_large_loss_has_no_absurd_interval() -> None:
    """It was ± 1,070 rows at ε = 20, and ± 3.5 billion at ε = 50."""
    for mechanism in registry.STREAMS:
        for amount in (20, 50, 300):
            if Definition.PURE in mechanism.definitions:
                plan = mechanism.plan(StreamRequest(1), Loss(Definition.PURE, Fraction(amount)))
                assert mechanism.half_widths(plan, np.array([1])).tolist() == [0]
