"""What a release of synthetic microdata costs, held against what it draws, and what one person moves."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2

from mechanisms.accounting import Definition
from mechanisms.domain import Categorical, Domain
from mechanisms.microdata.constraints import Wishes
from mechanisms.microdata.features import FEATURES, ColumnChoice
from mechanisms.microdata.plan import MicrodataPlan
from mechanisms.microdata.scoring import scores
from mechanisms.microdata.spending import pick_rate, score_law, table_shares
from mechanisms.microdata.tables import Grouping
from mechanisms.microdata.tree_of_pairs import CHOICES
from mechanisms.noise import DiscreteGaussian, DiscreteLaplace, Noise, NoiseLaw
from mechanisms.registry import microdata
from mechanisms.selection import ExponentialMechanism
from mechanisms.selection.odds import exponential
from mechanisms.sensitivity import histogram_sensitivity
from tests.mechanisms.microdata.building import DOMAIN, NUMBERS, counted, loss, of_methods, people
from tests.mechanisms.neighbours import UNITS, changes, name

every_method = pytest.mark.parametrize("method", of_methods())
every_unit = pytest.mark.parametrize("unit", UNITS, ids=name)
SMALL = Domain(tuple(Categorical(n, values=("0", "1"), closed=True, misfits_to=0) for n in "abc"))
MAJOR, RUNS, FALSE_ALARM = 50, 200_000, 1e-7


class Ledger(Noise):
    """Noise that writes down every law it draws from, how often, and every rate of coins."""

    def __init__(self) -> None:
        super().__init__()
        self.draws: list[tuple[NoiseLaw, int]] = []
        self.rates: list[Fraction] = []

    def draw(self, law: NoiseLaw, size: int) -> np.ndarray:
        self.draws.append((law, size))
        return super().draw(law, size)

    def bernoulli_exp(self, rate: Fraction, multiples: np.ndarray) -> np.ndarray:
        self.rates.append(rate)
        return super().bernoulli_exp(rate, multiples)


def drawn_cost(ledger: Ledger, plan: MicrodataPlan) -> Fraction:
    """What the noise of all draws costs; scores are known by their law."""
    moved, cost, pairs = histogram_sensitivity(plan.loss.unit), Fraction(0), len(plan.tables.pairs)
    of_scores = [score_law(pairs, plan.step(step)) for step in plan.shares if step.startswith("scores")]
    for law, size in ledger.draws:
        scored = law in of_scores and size == pairs
        if isinstance(law, DiscreteLaplace):
            cost += (pairs if scored else 1) * moved.l1 / law.scale
        else:
            assert isinstance(law, DiscreteGaussian)
            squared = pairs * moved.l1**2 if scored else moved.l2_squared
            cost += squared / (2 * law.variance_parameter)
    return cost


@every_method
def test_the_shares_sum_to_one(method):
    assert sum(method.shares.values()) == 1


@every_method
@pytest.mark.parametrize("amount", ["0.1", "0.000177138", "1.0907857"])
def test_the_steps_cost_the_loss_to_the_last_digit(method, amount):
    for keep in (None, 3):
        plan = method.plan(NUMBERS, Wishes(target="ill"), loss(amount), choice=ColumnChoice(keep))
        steps = [plan.step(name).amount for name in plan.shares]
        assert all(isinstance(step, Fraction) for step in steps) and sum(steps) == Fraction(amount)


@pytest.mark.parametrize("amount", ["2", "0.001"])
@pytest.mark.parametrize("definition", Definition)
@every_unit
def test_latent_classes_draw_noise_that_costs_exactly_the_loss(definition, unit, amount):
    """Whether rounds measure pairs or, as of 500 people at the small cost, every column again."""
    plan = microdata("latent-classes").plan(DOMAIN, Wishes(), loss(amount, definition, unit))
    ledger = Ledger()
    microdata("latent-classes").measure(plan, counted(plan, people(500)), ledger)
    assert drawn_cost(ledger, plan) == plan.loss.amount


@pytest.mark.parametrize("definition", Definition)
@every_unit
def test_a_tree_costs_at_most_the_loss_and_hardly_less(definition, unit):
    plan = microdata("tree-of-pairs").plan(DOMAIN, Wishes(target="ill"), loss("2", definition, unit))
    ledger = Ledger()
    microdata("tree-of-pairs").measure(plan, counted(plan, people(500)), ledger)
    tables = drawn_cost(ledger, plan)
    (rate,) = set(ledger.rates)
    epsilon = rate * 2 * histogram_sensitivity(plan.loss.unit).l1 * 4
    pick = epsilon if definition is Definition.PURE else epsilon**2 / 8
    assert tables == plan.loss.amount * Fraction(2, 3)
    assert pick * 3 <= plan.step(CHOICES).amount
    assert float(pick * 3) == pytest.approx(float(plan.step(CHOICES).amount), rel=1e-6)


@pytest.mark.parametrize("definition", Definition)
@every_unit
def test_choosing_columns_first_costs_its_share_and_all_together_the_loss(definition, unit):
    plan = microdata("latent-classes").plan(
        DOMAIN, Wishes(target="ill"), loss("2", definition, unit), choice=ColumnChoice(3)
    )
    assert sum(plan.shares.values()) == 1
    ledger = Ledger()
    microdata("latent-classes").measure(plan, counted(plan, people(500)), ledger)
    (rate,) = set(ledger.rates)
    epsilon = rate * 2 * histogram_sensitivity(plan.loss.unit).l1
    picks = 2 * (epsilon if definition is Definition.PURE else epsilon**2 / 8)
    assert picks <= plan.step(FEATURES).amount
    assert float(picks) == pytest.approx(float(plan.step(FEATURES).amount), rel=1e-6)
    assert drawn_cost(ledger, plan.of_columns([0, 1, 2])) == plan.loss.amount * Fraction(9, 10)


@pytest.mark.parametrize("definition", Definition)
@pytest.mark.parametrize(
    ("name", "columns", "wishes", "keep", "steps"),
    [
        ("tree-of-pairs", 2, Wishes(), None, {"columns": (1, 2), "tables": (1, 2)}),
        (
            "tree-of-pairs",
            3,
            Wishes(required=(("age", "job"), ("job", "ill"))),
            None,
            {"columns": (1, 2), "tables": (1, 2)},
        ),
        (
            "tree-of-pairs",
            4,
            Wishes(target="ill"),
            4,
            {"columns": (1, 3), "choice of pairs": (1, 3), "tables": (1, 3)},
        ),
        (
            "tree-of-pairs",
            4,
            Wishes(target="ill"),
            2,
            {"choice of columns": (1, 10), "columns": (9, 20), "tables": (9, 20)},
        ),
        (
            "tree-of-pairs",
            4,
            Wishes(target="ill", required=(("age", "ill"),)),
            2,
            {"columns": (1, 2), "tables": (1, 2)},
        ),
        ("latent-classes", 2, Wishes(), None, {"columns": (1, 3), "tables of round 1": (2, 3)}),
    ],
)
def test_where_there_is_no_choice_nothing_is_spent_on_one(definition, name, columns, wishes, keep, steps):
    domain = Domain(DOMAIN.attributes[:columns])
    plan = microdata(name).plan(domain, wishes, loss("2", definition), choice=ColumnChoice(keep))
    assert plan.shares == {step: Fraction(*share) for step, share in steps.items()}
    assert sum(plan.shares.values()) == 1 and all(
        str(plan.shares[step]) in plan.explanation for step in steps
    )
    ledger = Ledger()
    measured = microdata(name).measure(plan, plan.tables.of_rows(people(500)[:, :columns]), ledger)
    made = microdata(name).reconstruct(plan, measured)
    assert len(made.tables) == (keep or columns) - 1 and made.rows.shape[1] == (keep or columns)
    if not {"choice of columns", "choice of pairs"} & plan.shares.keys():
        assert not ledger.rates and drawn_cost(ledger, plan) == plan.loss.amount


@pytest.mark.parametrize("definition", Definition)
def test_tables_share_a_stage_exactly(definition):
    assert sum(table_shares([1, 7, 90, 10_000], definition)) == 1


@pytest.mark.slow
@every_unit
def test_nobody_moves_tables_or_scores_further_than_the_noise_is_for(unit):
    """Brute force over all neighbours of rows over 2 × 2 × 2 cells, with two beliefs."""
    plan = microdata("latent-classes").plan(SMALL, Wishes(), loss(unit=unit))
    cells = np.array([np.unravel_index(i, SMALL.shape) for i in range(SMALL.size)])
    per_row = np.array([plan.tables.of_rows(cell[None, :]) for cell in cells])
    moved = histogram_sensitivity(plan.loss.unit)
    grouping = Grouping(tuple(np.arange(2) for _ in range(3)))
    base = per_row.T @ np.full(SMALL.size, 3)
    for change in changes(unit, SMALL.size):
        after = base + per_row.T @ change
        for pair in plan.tables.pairs:
            difference = plan.tables.table(after, pair) - plan.tables.table(base, pair)
            assert np.abs(difference).sum() <= moved.l1
            assert (difference**2).sum() <= moved.l2_squared
        for level in (2.0, 6.4):
            one, other = (
                scores(plan, c, grouping, lambda pair: np.full((2, 2), level), plan.tables.pairs)  # noqa: B023
                for c in (base, after)
            )
            assert np.abs(one - other).max() <= moved.l1


def test_the_law_of_scores_is_for_all_of_them_at_once():
    law = score_law(6, loss("1/10"))
    assert isinstance(law, DiscreteGaussian)
    assert law.variance_parameter == Fraction(6) / (2 * Fraction(1, 10))


def neighbouring_scores(plan: MicrodataPlan) -> tuple[np.ndarray, np.ndarray]:
    """Scores of a table whose pair (a, b) only one person makes dependent, and without that person; the others tie."""
    cells = np.repeat(np.array([[0, 0, 0], [0, 0, 1]]), MAJOR, axis=0)
    loner = np.vstack([cells, [[1, 1, 0]]])
    grouping = Grouping(tuple(np.arange(2) for _ in range(3)))

    def believed(pair: tuple[int, int]) -> np.ndarray:
        return np.array([[MAJOR, 0.0], [0.0, 0.0]])

    one, other = (
        scores(plan, plan.tables.of_rows(rows), grouping, believed, plan.tables.pairs)
        for rows in (cells, loner)
    )
    return one, other


@pytest.mark.slow
@pytest.mark.parametrize("definition", Definition)
def test_a_pick_keeps_its_promise_for_a_pair_that_one_person_makes(definition):
    """200,000 runs on each of two neighbours follow the exact odds, whose log-ratio never exceeds the pick's ε."""
    plan = microdata("tree-of-pairs").plan(SMALL, Wishes(), loss("3", definition))
    rate = pick_rate(plan.step(CHOICES), 2)
    epsilon = float(2 * rate)
    tables = neighbouring_scores(plan)
    assert 1 <= np.abs(tables[0] - tables[1]).max() <= 1
    odds = [exponential(float(rate), s.max() - s) for s in tables]
    assert np.abs(np.log(odds[0] / odds[1])).max() <= epsilon + 1e-12
    for points, expected in zip(tables, odds, strict=True):
        left = np.ones((RUNS, points.size), dtype=bool)
        found = np.bincount(ExponentialMechanism().choose(rate, points, left, Noise()), minlength=points.size)
        assert ((found - RUNS * expected) ** 2 / (RUNS * expected)).sum() < chi2.isf(
            FALSE_ALARM, points.size - 1
        )


def test_noisy_scores_keep_their_promise_under_pure_epsilon():
    """In 200,000 runs on each of two neighbours no half-space of all scores is likelier by more than e^ε."""
    spent = loss("1/2", Definition.PURE)
    plan = microdata("latent-classes").plan(SMALL, Wishes(), spent)
    law = score_law(3, spent)
    one, other = (s + Noise().draw(law, 3 * RUNS).reshape(RUNS, 3) for s in neighbouring_scores(plan))
    direction = np.sign(neighbouring_scores(plan)[1] - neighbouring_scores(plan)[0])
    for bound in range(-4, 5):
        hits = [
            float((((s - neighbouring_scores(plan)[0]) @ direction) > bound).mean()) for s in (one, other)
        ]
        slack = 6 * np.sqrt(max(hits) / RUNS)
        assert max(hits) <= np.exp(0.5) * min(hits) + 3 * slack
