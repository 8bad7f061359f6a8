"""A summary that tells nothing names the cost at which it would be of use."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest

from dpportal.datasets import services
from dpportal.publications.verdict import Verdict, VerdictLevel
from dpportal.releases.models import Release
from dpportal.releases.products import planner_of
from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Categorical, Domain, Integer
from mechanisms.summary.mechanism import ColumnTables

GROUP = Categorical("department", values=tuple("abcde"), closed=True)
COLUMNS = (
    Integer("age", lower=0, upper=99),
    Categorical("sex", values=("f", "m"), closed=True),
    Categorical("kind", values=tuple("uvwxyz"), closed=True),
)


@pytest.fixture
def draft(dataset) -> Release:
    services.declare_all(dataset, [Integer("age", lower=0, upper=99)])
    return Release.objects.create(
        dataset=dataset, created_by=dataset.owner, product="summary", columns=["age"], people=150
    )


@pytest.mark.parametrize("definition", Definition, ids=lambda d: d.value)
def test_where_nothing_is_told_the_cost_is_the_obstacle_and_is_named(draft, definition) -> None:
    """Thirty people in each of five departments."""

    def expected(amount: Decimal) -> Verdict:
        loss = Loss(definition, Fraction(amount))
        plan = ColumnTables().plan(Domain((GROUP,)), COLUMNS, (), loss, 150)
        verdict = planner_of(draft).verdict(plan, draft)
        assert verdict is not None
        return verdict

    least = Decimal("0.01") if definition is Definition.PURE else Decimal("0.0001")
    verdict = expected(least)
    assert verdict.level is VerdictLevel.USELESS
    assert verdict.text.startswith("At this cost nothing is told of any column in a group of average size")
    enough = verdict.amount(least, definition)
    assert enough is not None and enough > 10 * least
    assert expected(enough).is_useful and not expected(enough / 10).is_useful
