"""What every mechanism for running counts keeps: its contract, its errors, its intervals and its refusals."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest

from mechanisms import registry
from mechanisms.accounting import Definition, Loss, Neighbours, PrivacyUnit
from mechanisms.continual.mechanism import StreamMechanism, StreamPlan, StreamRequest, StreamSecrets
from mechanisms.continual.strategy import fixed_point, fourth_cumulant, part_of, rounded, stream_sensitivity
from mechanisms.noise import DiscreteLaplace, NoiseLaw
from mechanisms.protocol import PlanError
from mechanisms.sensitivity import Sensitivity
from tests.mechanisms.continual.lanes import NoNoise, publish, repeatable_noise

PERIODS = 12
# Streams side by side as running counts of one stream; fewer where each is advanced by itself.
LANES, LANES_OF = 100_000, {"buffered-toeplitz": 5_000}
# Means of so many draws stray further than this many standard errors with probability below 1e-10.
DEVIATIONS = 6.5
INCREMENTS = np.array([5, 3, 0, 0, 11, 2, 40, 1, 0, 7, 9, 4])


def planned(mechanism: StreamMechanism, definition: Definition, series: int = 1) -> StreamPlan:
    horizon = None if mechanism.name in ENDLESS else PERIODS
    return mechanism.plan(StreamRequest(horizon, series), Loss(definition, Fraction(1)))


def _refuses_a_horizon_or_none(mechanism: StreamMechanism) -> bool:
    try:
        mechanism.plan(StreamRequest(None), Loss(sorted(mechanism.definitions)[0], Fraction(1)))
    except PlanError:
        return False
    return True


ENDLESS = {m.name for m in registry.STREAMS if _refuses_a_horizon_or_none(m)}
CASES = [(m, d) for m in registry.STREAMS for d in sorted(m.definitions)]
EACH = pytest.mark.parametrize(("mechanism", "definition"), CASES, ids=[f"{m.name} {d}" for m, d in CASES])
NAMED = pytest.mark.parametrize("mechanism", registry.STREAMS, ids=lambda m: str(m.name))


@EACH
def test_without_noise_the_true_counts_come_out(mechanism: StreamMechanism, definition: Definition) -> None:
    increments = np.stack([INCREMENTS, INCREMENTS[::-1], 0 * INCREMENTS], axis=1)
    released = publish(mechanism, planned(mechanism, definition, 3), increments, NoNoise())
    assert released.dtype == np.int64
    assert released.tolist() == np.cumsum(increments, axis=0).tolist()


@EACH
def test_no_true_count_changes_the_length_of_a_state(
    mechanism: StreamMechanism, definition: Definition
) -> None:
    """Beside what it remembers of true counts there is noise, which is the same here, and what anyone could see."""
    plan, lengths = planned(mechanism, definition, 2), []
    for increments in ([0, 1], [9, 10], [10**6, 10**12]):
        noise = repeatable_noise("length")
        state = mechanism.open(plan, noise)
        for _period in range(3):
            _released, state = mechanism.advance(plan, state, np.array(increments), noise)
        secret = {n: v for n, v in state.numbers.items() if n not in ("guess", "estimate")}
        lengths.append(len(StreamSecrets(state.period, secret).to_bytes()))
        assert StreamSecrets.from_bytes(state.to_bytes()) == state
    assert len(set(lengths)) == 1


@EACH
def test_a_stream_is_the_same_whether_or_not_its_state_is_stored_between_periods(
    mechanism: StreamMechanism, definition: Definition
) -> None:
    plan = planned(mechanism, definition, 2)
    increments = np.stack([INCREMENTS, INCREMENTS[::-1]], axis=1)
    kept, stored = (
        publish(mechanism, plan, increments, repeatable_noise("stored"), stored=stored)
        for stored in (False, True)
    )
    assert kept.tolist() == stored.tolist()


@EACH
def test_advancing_leaves_the_state_before_as_it_was(
    mechanism: StreamMechanism, definition: Definition
) -> None:
    plan, noise = planned(mechanism, definition), repeatable_noise("before")
    state = mechanism.open(plan, noise)
    for increment in INCREMENTS:
        before = state.to_bytes()
        _, following = mechanism.advance(plan, state, np.array([increment]), noise)
        assert state.to_bytes() == before
        assert following.period == state.period + 1
        state = following


@EACH
def test_a_plan_survives_its_json(mechanism: StreamMechanism, definition: Definition) -> None:
    plan = planned(mechanism, definition)
    assert StreamPlan.from_json(json.loads(json.dumps(plan.to_json()))) == plan


@EACH
def test_the_expected_error_is_the_mean_of_the_variances(
    mechanism: StreamMechanism, definition: Definition
) -> None:
    plan = planned(mechanism, definition)
    periods = np.arange(1, plan.details.get("periods_shown", PERIODS) + 1)
    assert plan.mean_squared_error == pytest.approx(mechanism.variances(plan, periods).mean(), rel=1e-4)


@pytest.mark.slow
@EACH
def test_published_counts_are_off_by_what_is_stated(
    mechanism: StreamMechanism, definition: Definition
) -> None:
    """Mean, variance and coverage of every period over many lanes, by normal bounds for means of so many draws."""
    lanes = LANES_OF.get(mechanism.name, LANES)
    plan = planned(mechanism, definition, lanes)
    increments = np.repeat(INCREMENTS[:, np.newaxis], lanes, axis=1)
    errors = publish(mechanism, plan, increments, repeatable_noise("lanes")) - np.cumsum(increments, axis=0)
    periods = np.arange(1, PERIODS + 1)
    variances, widths = mechanism.variances(plan, periods), mechanism.half_widths(plan, periods)
    assert np.all(np.abs(errors.mean(axis=1)) <= DEVIATIONS * np.sqrt(variances / lanes))
    # A sum of Laplace noise has E X⁴ <= 6 (E X²)², a single discrete one of this scale at most a little more.
    spread = DEVIATIONS * math.sqrt(5.6 / lanes)
    assert (errors**2).mean(axis=1) == pytest.approx(variances, rel=spread)
    inside = (np.abs(errors) <= widths[:, np.newaxis]).mean(axis=1)
    assert np.all(inside >= 0.95 - DEVIATIONS * math.sqrt(0.95 * 0.05 / lanes))


@NAMED
def test_intervals_are_hardly_wider_than_they_need_be(mechanism: StreamMechanism) -> None:
    definition = sorted(mechanism.definitions)[0]
    plan = planned(mechanism, definition)
    periods = np.arange(1, PERIODS + 1)
    widths = mechanism.half_widths(plan, periods)
    assert np.all(widths <= 2.17 * np.sqrt(mechanism.variances(plan, periods)) + 1)


def test_the_interval_of_a_single_noise_holds_exactly() -> None:
    mechanism = registry.stream("naive-increments")
    for amount in ("1/10", "1", "3", "20"):
        plan = mechanism.plan(StreamRequest(12), Loss(Definition.PURE, Fraction(amount)))
        (width,) = mechanism.half_widths(plan, np.array([1]))
        assert plan.noise.coverage(int(width)) >= 0.95


@NAMED
def test_one_period_is_enough(mechanism: StreamMechanism) -> None:
    loss = Loss(sorted(mechanism.definitions)[0], Fraction(1))
    plan = mechanism.plan(StreamRequest(1), loss)
    assert publish(mechanism, plan, np.array([[7]]), NoNoise()).tolist() == [[7]]


@NAMED
@pytest.mark.parametrize("horizon", [0, -3, 10**7])
def test_a_number_of_periods_out_of_range_is_refused_in_words(
    mechanism: StreamMechanism, horizon: int
) -> None:
    if horizon > 0 and mechanism.name in ENDLESS:
        pytest.skip("serves streams of any length")
    with pytest.raises(PlanError, match="periods"):
        mechanism.plan(StreamRequest(horizon), Loss(sorted(mechanism.definitions)[0], Fraction(1)))


@NAMED
def test_a_loss_that_protects_nobody_or_drowns_the_counts_is_refused(mechanism: StreamMechanism) -> None:
    definition = sorted(mechanism.definitions)[0]
    for amount in (Fraction(1001), Fraction(1, 10**20)):
        with pytest.raises(PlanError):
            mechanism.plan(StreamRequest(PERIODS), Loss(definition, amount))


@NAMED
def test_a_definition_that_does_not_fit_is_refused(mechanism: StreamMechanism) -> None:
    for definition in set(Definition) - mechanism.definitions:
        with pytest.raises(PlanError, match="budget"):
            mechanism.plan(StreamRequest(PERIODS), Loss(definition, Fraction(1)))


@NAMED
@pytest.mark.parametrize(
    ("increments", "message"),
    [
        (np.array([1, 2]), "shape"),
        (np.array([1.0]), "type"),
        (np.array([-1]), "negative"),
    ],
)
def test_increments_that_cannot_be_are_refused_and_draw_nothing(
    mechanism: StreamMechanism, increments: np.ndarray, message: str
) -> None:
    plan = planned(mechanism, sorted(mechanism.definitions)[0])
    state = mechanism.open(plan, NoNoise())

    class Untouched(NoNoise):
        def draw(self, law: NoiseLaw, size: int) -> np.ndarray:
            raise AssertionError("noise was drawn")

    with pytest.raises(ValueError, match=message):
        mechanism.advance(plan, state, increments, Untouched())


@NAMED
def test_beyond_the_horizon_nothing_is_published(mechanism: StreamMechanism) -> None:
    plan = mechanism.plan(StreamRequest(2), Loss(sorted(mechanism.definitions)[0], Fraction(1)))
    state = StreamSecrets(2, mechanism.open(plan, NoNoise()).numbers)
    with pytest.raises(ValueError, match="all 2 periods"):
        mechanism.advance(plan, state, np.array([1]), NoNoise())


@NAMED
def test_large_sums_cost_noise_in_proportion(mechanism: StreamMechanism) -> None:
    loss = Loss(sorted(mechanism.definitions)[0], Fraction(1))
    small, large = (mechanism.plan(StreamRequest(PERIODS, largest=top), loss) for top in (1, 10**5))
    assert large.mean_squared_error == pytest.approx(10**10 * small.mean_squared_error, rel=0.1)


def test_a_state_shows_nothing_of_itself() -> None:
    assert repr(StreamSecrets(3, {"sums": [4711]})) == "State(period=3, …)"


@pytest.mark.parametrize(
    ("neighbours", "rows", "wanted"),
    [
        (Neighbours.ADD_REMOVE, 1, Sensitivity(7, 29)),
        (Neighbours.ADD_REMOVE, 3, Sensitivity(21, 9 * 29)),
        (Neighbours.REPLACE_ONE, 1, Sensitivity(14, 2 * 29)),
        (Neighbours.REPLACE_ONE, 3, Sensitivity(42, 18 * 29)),
    ],
)
def test_a_person_moves_at_most_all_their_rows(
    neighbours: Neighbours, rows: int, wanted: Sensitivity
) -> None:
    """Columns (2, 5, 0) and (5, 0, 2) of norms 7 and 29: every placing of the rows stays within the bound."""
    columns = np.array([[2, 5, 0], [5, 0, 2]])
    unit = PrivacyUnit(neighbours, rows)
    assert stream_sensitivity(unit, StreamRequest(2), Sensitivity(7, 29)) == wanted
    left = np.array([i * columns[0] + (rows - i) * columns[1] for i in range(rows + 1)])
    moves = left if neighbours is Neighbours.ADD_REMOVE else (left[:, np.newaxis] - left).reshape(-1, 3)
    assert np.abs(moves).sum(axis=1).max() <= wanted.l1
    assert (moves**2).sum(axis=1).max() <= wanted.l2_squared


def test_replacing_a_person_may_double_the_norm_where_columns_point_away_from_each_other() -> None:
    unit = PrivacyUnit(Neighbours.REPLACE_ONE)
    assert stream_sensitivity(unit, StreamRequest(2), Sensitivity(1, 1), aligned=False) == Sensitivity(2, 4)


def test_fixed_point_is_exact_and_commutes_with_whole_rows() -> None:
    generator = np.random.default_rng(3)
    noise = generator.integers(-(2**50), 2**50, 1000)
    for weight in (2**9, 2**9 + 1, 2**24 - 1):
        wanted = [(int(z) << 20) // weight for z in noise]
        assert fixed_point(noise, weight).tolist() == wanted
        assert (fixed_point(noise + 9 * weight, weight) - wanted).tolist() == [9 << 20] * 1000


def test_parts_are_exact_far_out() -> None:
    generator = np.random.default_rng(4)
    noise = np.append(generator.integers(-(2**62), 2**62, 1000), [0, 1, -1])
    for share in (0, 1, 2**29 + 12345, 2**30):
        assert part_of(noise, share).tolist() == [int(z) * share >> 30 for z in noise]


def test_rounding_goes_to_the_nearest_row() -> None:
    halves = np.array([-3, -2, -1, 0, 1, 2, 3]) << 19
    assert rounded(halves).tolist() == [-1, -1, 0, 0, 1, 1, 2]
    assert rounded(halves - 1).tolist() == [-2, -1, -1, 0, 0, 1, 1]


def test_the_fourth_cumulant_is_that_of_the_law() -> None:
    for scale in (Fraction(1, 3), Fraction(2), Fraction(30)):
        law = DiscreteLaplace(scale)
        k = np.arange(-3000, 3001)
        p = np.array([law.probability(int(i)) for i in k])
        assert fourth_cumulant(law) == pytest.approx((k**4) @ p - 3 * ((k**2) @ p) ** 2, rel=1e-9)


@NAMED
def test_a_stream_of_nothing_is_refused(mechanism: StreamMechanism) -> None:
    loss = Loss(sorted(mechanism.definitions)[0], Fraction(1))
    for request in (StreamRequest(PERIODS, series=0), StreamRequest(PERIODS, largest=0)):
        with pytest.raises(PlanError, match="at least one running count"):
            mechanism.plan(request, loss)


@pytest.mark.parametrize(
    ("horizon", "largest", "told"),
    [
        (1, 1, "over its only period: 1.36 people."),
        (7, 1, "over all 7 periods: 2.71 people."),
        (7, 1000, "over all 7 periods: 2,828."),
        (None, 1, "over the first 1,023 periods: 30.7 people."),
    ],
)
def test_the_explanation_tells_the_expected_error_in_words(
    horizon: int | None, largest: int, told: str
) -> None:
    """A mean of (N + 1)/2 draws of variance 2p/(1-p)², p = e^(-1/scale): 1.841 for scale 1, 2·10⁶ for 1000."""
    plan = registry.stream("naive-increments").plan(
        StreamRequest(horizon, largest=largest), Loss(Definition.PURE, Fraction(1))
    )
    assert plan.explanation.endswith(told)
