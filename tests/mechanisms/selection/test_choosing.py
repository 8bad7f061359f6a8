"""Each statistical test errs with probability 1e-7."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import chi2

from mechanisms.accounting import Definition, Loss, Neighbours, PrivacyUnit
from mechanisms.domain import Integer
from mechanisms.noise import Noise
from mechanisms.protocol import PlanError
from mechanisms.registry import SELECTIONS, selection
from mechanisms.selection import (
    ExponentialMechanism,
    MostCommonValue,
    PermuteAndFlip,
    Quantile,
    ReportNoisyMax,
    Selection,
    SelectionPlan,
)
from mechanisms.selection.odds import noisy_max

FALSE_ALARM = 1e-7
KNOWN = json.loads((Path(__file__).parents[2] / "data" / "known_answers.json").read_text())
REPLACE_ONE = PrivacyUnit(Neighbours.REPLACE_ONE)
THREE = MostCommonValue(("a", "b", "c"))
DOWN_BY_ONE = np.array([0, -1, -2])
every_mechanism = pytest.mark.parametrize("m", SELECTIONS, ids=lambda m: m.name)


def pure(epsilon: str, unit: PrivacyUnit = REPLACE_ONE) -> Loss:
    return Loss(Definition.PURE, Fraction(epsilon), unit)


def zcdp(rho: str) -> Loss:
    return Loss(Definition.ZCDP, Fraction(rho), REPLACE_ONE)


@pytest.mark.parametrize(
    ("m", "name"), [(ExponentialMechanism(), "exponential"), (PermuteAndFlip(), "permute_and_flip")]
)
def test_the_known_chances_at_epsilon_two(m: Selection, name: str) -> None:
    chances = m.probabilities(m.plan(THREE, pure("2")), DOWN_BY_ONE)
    assert chances == pytest.approx(KNOWN["selection_scores_0_-1_-2_eps2"][name], abs=5e-6)


def test_marital_status_of_adult() -> None:
    # The leader is ahead by 4,293 rows. At ε = 1/1000, monotone, the next value's odds are e^-4.293 of the leader's.
    counts = np.array(list(KNOWN["adult_marital_status"].values()))
    score = MostCommonValue(tuple(KNOWN["adult_marital_status"]))
    m = ExponentialMechanism()
    chances = m.probabilities(m.plan(score, pure("1/1000", PrivacyUnit())), score.scores(counts))
    assert chances[1] / chances[0] == pytest.approx(math.exp(-4.293))


@every_mechanism
def test_marital_status_of_adult_is_certain_at_epsilon_a_tenth(m: Selection) -> None:
    # The chance of another answer is below 2 · e^-429.
    counts = np.array(list(KNOWN["adult_marital_status"].values()))
    score = MostCommonValue(tuple(KNOWN["adult_marital_status"]))
    plan = m.plan(score, pure("1/10", PrivacyUnit()))
    assert score.candidates[m.measure(plan, score.scores(counts), Noise()).values[0]] == "Married-civ-spouse"


def p_value(observed: np.ndarray, chances: np.ndarray) -> float:
    expected = chances * observed.sum()
    return float(chi2.sf(((observed - expected) ** 2 / expected).sum(), observed.size - 1))


@pytest.mark.slow
@every_mechanism
@pytest.mark.parametrize("scores", [[0, -1, -2], [3, 3, 3], [0, 0, -4]])
def test_choices_have_their_chances(m: Selection, scores: list[int]) -> None:
    plan = m.plan(THREE, pure("2"))
    chosen = m.sample(plan, np.array(scores), 10**6, Noise())[:, 0]
    assert p_value(np.bincount(chosen, minlength=3), m.probabilities(plan, np.array(scores))) > FALSE_ALARM


@pytest.mark.slow
@every_mechanism
def test_the_second_pick_has_the_chances_among_those_left(m: Selection) -> None:
    plan = m.plan(THREE, pure("3"), picks=2)
    runs = m.sample(plan, DOWN_BY_ONE, 10**6, Noise())
    second = runs[runs[:, 0] == 0, 1]
    chances = m.probabilities(plan, DOWN_BY_ONE, taken=(0,))
    assert chances[0] == 0
    assert p_value(np.bincount(second, minlength=3)[1:], chances[1:]) > FALSE_ALARM


@every_mechanism
def test_picking_all_candidates_picks_each_once(m: Selection) -> None:
    picked = m.measure(m.plan(THREE, pure("1"), picks=3), DOWN_BY_ONE, Noise()).values
    assert sorted(picked.tolist()) == [0, 1, 2]


@every_mechanism
def test_a_measurement_is_a_vector_of_integers(m: Selection) -> None:
    values = m.measure(m.plan(THREE, pure("1"), picks=2), DOWN_BY_ONE, Noise()).values
    assert (values.shape, values.dtype) == ((2,), np.int64)


def _largest_log_ratio(m: Selection, plan: SelectionPlan, *, monotone: bool) -> float:
    """Over scores of 0..12 and all their neighbours, changed by at most 1 each."""
    steps = np.array(list(itertools.product((0, 1) if monotone else (-1, 0, 1), repeat=3)))
    worst = 0.0
    for trailing in itertools.product(range(0, 13, 4), repeat=2):
        scores = np.array([0, *(-t for t in trailing)])
        before = m.probabilities(plan, scores)
        for step in steps:
            worst = max(worst, np.abs(np.log(m.probabilities(plan, scores + step) / before)).max())
    return worst


@every_mechanism
@pytest.mark.parametrize("monotone", [True, False], ids=["monotone", "general"])
def test_no_neighbour_changes_a_chance_by_more_than_epsilon(m: Selection, monotone: bool) -> None:
    plan = m.plan(THREE, pure("1", PrivacyUnit() if monotone else REPLACE_ONE))
    assert plan.rate == (1 if monotone else Fraction(1, 2))
    assert 0.8 < _largest_log_ratio(m, plan, monotone=monotone) < 1 + 1e-9


def _largest_renyi(m: Selection, plan: SelectionPlan, order: float) -> float:
    """The largest Rényi divergence of that order over the same neighbours, per unit of order."""
    worst = 0.0
    for trailing in itertools.product(range(0, 13, 2), repeat=2):
        scores = np.array([0, *(-t for t in trailing)])
        before = m.probabilities(plan, scores)
        for step in itertools.product((-1, 0, 1), repeat=3):
            after = m.probabilities(plan, scores + np.array(step))
            divergence = logsumexp(order * np.log(before) + (1 - order) * np.log(after)) / (order - 1)
            worst = max(worst, float(divergence) / order)
    return worst


@pytest.mark.slow
@pytest.mark.parametrize("m", [ExponentialMechanism(), PermuteAndFlip()], ids=lambda m: m.name)
@pytest.mark.parametrize("order", [1.001, 1.5, 3, 10, 100])
def test_no_neighbour_costs_more_than_the_zcdp_loss(m: Selection, order: float) -> None:
    assert _largest_renyi(m, m.plan(THREE, zcdp("1/2")), order) < 0.5


@pytest.mark.slow
def test_the_zcdp_loss_of_the_exponential_mechanism_is_nearly_reached() -> None:
    m = ExponentialMechanism()
    assert _largest_renyi(m, m.plan(THREE, zcdp("1/2")), 1.001) > 0.4


@pytest.mark.slow
def test_permute_and_flip_does_not_have_the_smaller_constant() -> None:
    # At ε = 2 the exponential mechanism is ½-zCDP; permute-and-flip is not.
    m = PermuteAndFlip()
    assert _largest_renyi(m, m.plan(THREE, pure("2")), 1.5) > 0.5


def test_noise_for_monotone_scores_would_break_the_promise_for_others() -> None:
    # Laplace of scale Δ/ε, ε = 1: the trailing score falls by 1 while the leading one rises by 1.
    near, far = (noisy_max(1.0, np.array([0, gap]))[1] for gap in (20, 22))
    assert math.log(near / far) > 1.9


def test_the_chance_to_resolve_a_gap_of_two_rows_by_permute_and_flip() -> None:
    # Two candidates: the worse wins with probability e^-γ/2, γ = 2·½.
    plan = PermuteAndFlip().plan(THREE, pure("1"))
    assert dict(plan.resolved)[2] == pytest.approx(1 - math.exp(-1) / 2)


def test_the_gaps_of_a_quantile_are_in_rows() -> None:
    # Level 1/4 counts 4 points a row with sensitivity 3, so 5 rows are an exponent of 20/6.
    score = Quantile.of(Integer("x", lower=0, upper=3), Fraction(1, 4))
    plan = ExponentialMechanism().plan(score, pure("1", PrivacyUnit()))
    assert dict(plan.resolved)[5] == pytest.approx(1 / (1 + math.exp(-20 / 6)))


@every_mechanism
def test_a_plan_survives_json(m: Selection) -> None:
    plan = m.plan(THREE, zcdp("1/8"), picks=2)
    assert SelectionPlan.from_json(json.loads(json.dumps(plan.to_json()))) == plan


def test_picks_share_a_pure_loss() -> None:
    assert PermuteAndFlip().plan(THREE, pure("0.3"), picks=3).round_epsilon == Fraction(1, 10)


@pytest.mark.parametrize(
    ("m", "epsilon"), [(ExponentialMechanism(), 2), (PermuteAndFlip(), 1), (ReportNoisyMax(), 1)]
)
def test_what_a_zcdp_loss_buys(m: Selection, epsilon: int) -> None:
    # Bounded range: ε²/8 = 1/2 at ε = 2. Any pure mechanism: ε²/2 = 1/2 at ε = 1.
    assert m.plan(THREE, zcdp("1/2")).round_epsilon == epsilon


def test_a_sensitivity_of_a_thousandth_buys_the_same_chances() -> None:
    # Scores in thousandths of a row with sensitivity 1/1000 are the same question: only u/Δ matters.
    per_row = PermuteAndFlip().plan(THREE, pure("1"))
    assert per_row.rate == Fraction(1, 2) and per_row.scale == 2 * per_row.sensitivity


@every_mechanism
def test_constant_scores_are_fine(m: Selection) -> None:
    plan = m.plan(THREE, pure("1"))
    assert m.probabilities(plan, np.zeros(3, dtype=np.int64)) == pytest.approx([1 / 3] * 3)


@every_mechanism
def test_scores_at_the_ends_of_64_bits_do_not_overflow(m: Selection) -> None:
    ends = np.array([np.iinfo(np.int64).min, 0, np.iinfo(np.int64).max])
    assert m.measure(m.plan(THREE, pure("1")), ends, Noise()).values.tolist() == [2]


@pytest.mark.parametrize("picks", [0, 4])
def test_more_picks_than_candidates_are_refused(picks: int) -> None:
    with pytest.raises(PlanError, match="Choose between 1 and 3"):
        PermuteAndFlip().plan(THREE, pure("1"), picks=picks)


def test_scores_with_nan_are_refused_without_being_shown() -> None:
    m = PermuteAndFlip()
    with pytest.raises(ValueError, match="scores must be integers, none of them missing; got float64"):
        m.measure(m.plan(THREE, pure("1")), np.array([1.0, np.nan, 2.0]), Noise())


def test_scores_of_another_shape_are_refused() -> None:
    m = PermuteAndFlip()
    with pytest.raises(ValueError, match=r"scores must have shape \(3,\), got \(2,\)"):
        m.measure(m.plan(THREE, pure("1")), np.array([1, 2]), Noise())


def test_no_chances_are_left_when_all_are_taken() -> None:
    m = PermuteAndFlip()
    with pytest.raises(ValueError, match="every candidate is taken"):
        m.probabilities(m.plan(THREE, pure("1")), DOWN_BY_ONE, taken=(0, 1, 2))


@pytest.mark.parametrize(("loss", "message"), [("1001", "protects nobody"), ("1e-10", "too small")])
def test_an_absurd_epsilon_is_refused(loss: str, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        PermuteAndFlip().plan(THREE, pure(loss))


@every_mechanism
@pytest.mark.parametrize("behind", [(0,), (1,), (0, 1, 5)])
def test_what_trails_by_the_shortfall_is_rarely_chosen_among_many(
    m: Selection, behind: tuple[int, ...]
) -> None:
    """Of sixteen candidates some are close to the best; the others trail it by the shortfall at least."""
    plan = m.plan(MostCommonValue(tuple("abcdefghijklmnop")), pure("1/10"))
    shortfall = m.shortfall(plan, 0.95)
    far = [shortfall] * (15 - len(behind))
    scores = 10_000 - np.array([0, *behind, *far])
    assert m.probabilities(plan, scores)[1 + len(behind) :].sum() <= 0.05 + 1e-4
    assert shortfall > m.lead(plan, 0.95)


def test_against_a_single_other_the_shortfall_is_the_lead() -> None:
    m = PermuteAndFlip()
    plan = m.plan(MostCommonValue(("a", "b")), pure("1/10"))
    assert m.shortfall(plan, 0.95) == m.lead(plan, 0.95)


def test_a_selection_is_found_by_its_name() -> None:
    assert [selection(m.name) for m in SELECTIONS] == list(SELECTIONS)


def test_the_default_selection_comes_first() -> None:
    assert SELECTIONS[0].name == "permute-and-flip"
