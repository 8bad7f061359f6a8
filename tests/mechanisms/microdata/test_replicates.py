"""Tables for standard errors: how often intervals hold the truth, and what is asked of a plan."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mechanisms.accounting import Definition
from mechanisms.domain import Boolean, Domain, Integer
from mechanisms.microdata.constraints import Wishes
from mechanisms.microdata.latent_classes import LatentClasses
from mechanisms.microdata.mechanism import Microdata
from mechanisms.microdata.plan import MicrodataPlan
from mechanisms.microdata.replicates import TABLES, every_pair, most_rows, replicates, with_replicates
from mechanisms.microdata.tree_of_pairs import TreeOfPairs
from mechanisms.noise import Noise
from mechanisms.protocol import Measurement, PlanError
from mechanisms.registry import MICRODATA
from tests.mechanisms.microdata.building import DOMAIN, counted, loss, of_methods, people, skip_unless_offered

TWO = Domain((Integer("age", lower=0, upper=4), Boolean("ill")))


def planned(
    domain: Domain = DOMAIN, method: Microdata | None = None, amount: str = "1", **wishes
) -> MicrodataPlan:
    wished = Wishes(required=every_pair(domain), **wishes)
    return with_replicates((method or LatentClasses()).plan(domain, wished, loss(amount)))


def measured(plan: MicrodataPlan, rows: np.ndarray, seed: int = 1) -> Measurement:
    method = next(m for m in MICRODATA if m.name == plan.mechanism)
    return method.measure(plan, counted(plan, rows), Noise(np.random.default_rng(seed).bytes))


@pytest.mark.slow
def test_tables_differ_and_come_out_again() -> None:
    plan = planned()
    measurement = measured(plan, people())
    one, other = (replicates(LatentClasses(), plan, measurement) for _ in range(2))
    assert len(one) == TABLES + 1 and {len(rows) for rows in one} == {len(one[0])}
    assert all((a == b).all() for a, b in zip(one, other, strict=True))
    assert len({rows.tobytes() for rows in one}) == len(one)
    assert len(one[0]) == pytest.approx(4000, abs=60)


def test_a_plan_that_does_not_ask_has_none() -> None:
    plan = TreeOfPairs().plan(TWO, Wishes(), loss())
    assert replicates(TreeOfPairs(), plan, measured(plan, np.zeros((9, 2), dtype=int))) == ()


@pytest.mark.slow
def test_no_row_holds_what_cannot_occur() -> None:
    plan = planned(zeros=(("job", "a", "ill", DOMAIN.attributes[2].labels()[1]),))
    for rows in replicates(LatentClasses(), plan, measured(plan, people())):
        assert not ((rows[:, 1] == 0) & (rows[:, 2] == 1)).any()


@pytest.mark.slow
def test_the_number_of_rows_is_the_one_that_was_asked_for_or_as_many_as_fit(monkeypatch) -> None:
    plan = replace(planned(TWO, TreeOfPairs()), rows=50)
    measurement = measured(plan, np.zeros((99, 2), dtype=int))
    assert {len(rows) for rows in replicates(TreeOfPairs(), plan, measurement)} == {50}
    monkeypatch.setattr("mechanisms.microdata.replicates.MOST_VALUES", 21 * 2 * 30)
    assert most_rows(2) == 30
    assert {len(rows) for rows in replicates(TreeOfPairs(), plan, measurement)} == {30}


class TestIntervals:
    """200 releases of 1,500 people of two columns at ρ = 1/500: the noise of a count is as large as 22 people."""

    RELEASES, PEOPLE = 200, 1500

    @staticmethod
    def estimates(rows: np.ndarray) -> np.ndarray:
        """Means, and the slopes of a linear and of a logistic regression of illness on age, by Newton's steps."""
        age, ill = rows.T.astype(float)
        regressors, found = np.column_stack([np.ones(len(age)), age]), np.zeros(2)
        for _ in range(8):
            chance = 1 / (1 + np.exp(-regressors @ found))
            weighted = regressors * (chance * (1 - chance))[:, None]
            found = found + np.linalg.solve(weighted.T @ regressors, regressors.T @ (ill - chance))
        return np.array([age.mean(), ill.mean(), np.cov(age, ill)[0, 1] / age.var(ddof=1), found[1]])

    @pytest.mark.slow
    def test_they_hold_the_truth_as_often_as_is_said(self) -> None:
        """At a coverage of 93 % more than 26 of 200 are missed with a chance of .1 %."""
        plan = planned(TWO, TreeOfPairs(), "1/500")
        cells = np.indices(TWO.shape).reshape(2, -1).T
        law = np.exp(-((cells[:, 0] - 2) ** 2) / 4) / (
            1 + np.exp(-(2 * cells[:, 1] - 1) * (cells[:, 0] * 0.4 - 1))
        )
        law /= law.sum()
        truth = self.estimates(np.repeat(cells, np.rint(law * 10**6).astype(int), axis=0))
        random, missed, as_people = np.random.default_rng(93), np.zeros(4), np.zeros(4)
        for number in range(self.RELEASES):
            rows = cells[random.choice(len(law), self.PEOPLE, p=law)]
            tables = replicates(TreeOfPairs(), plan, measured(plan, rows, number))
            each = np.array([self.estimates(table) for table in tables])
            first, again = each[0], each[1:]
            half_width = 2.1 * (((again - first) ** 2).sum(axis=0) / (TABLES - 1)) ** 0.5
            missed += np.abs(first - truth) > half_width
            sampled = [self.estimates(rows[random.integers(0, len(rows), len(rows))]) for _ in range(TABLES)]
            as_people += np.abs(first - truth) > 2.1 * np.std(sampled, axis=0, ddof=1)
        assert (missed <= 26).all(), missed
        assert (as_people[2:] > 26).all(), "without the noise intervals are too short"


class TestRefusals:
    def test_other_plans_are_refused(self) -> None:
        with pytest.raises(PlanError, match="every pair"):
            with_replicates(LatentClasses().plan(DOMAIN, Wishes(required=every_pair(DOMAIN)[:3]), loss()))

    def test_columns_that_are_chosen_first_are_refused(self) -> None:
        with pytest.raises(PlanError, match="keep all"):
            with_replicates(replace(planned(), keep=3))

    @pytest.mark.parametrize("sizes", [(60, 60), (9,) * 6, (2,) * 18])
    def test_what_would_take_too_long_is_refused(self, sizes) -> None:
        domain = Domain(tuple(Integer(f"c{j}", lower=0, upper=size - 1) for j, size in enumerate(sizes)))
        with pytest.raises(PlanError, match="combinations of values"):
            planned(domain)

    @pytest.mark.slow
    @pytest.mark.parametrize("method", of_methods())
    def test_a_method_measures_every_pair_or_refuses(self, method) -> None:
        skip_unless_offered(method, Definition.ZCDP)
        try:
            plan = planned(TWO, method)
        except PlanError:
            return
        assert len(replicates(method, plan, measured(plan, np.zeros((50, 2), dtype=int)))) == TABLES + 1
