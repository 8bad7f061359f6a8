"""The method that a wizard begins with is the best by the figure that it shows."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpportal.releases.models import Release
from dpportal.releases.products.histogram.planner import HistogramPlanner
from dpportal.releases.products.selection.planner import SelectionPlanner
from mechanisms import registry
from mechanisms.accounting import Definition, Loss, Neighbours, PrivacyUnit
from mechanisms.domain import Domain, Integer
from mechanisms.protocol import PlanError
from mechanisms.selection import MostCommonValue

LINE = Domain((Integer("x", lower=1, upper=6),))


@pytest.mark.parametrize("amount", ["0.01", "0.5", "3"])
def test_a_histogram_begins_with_the_narrowest_interval(amount: str) -> None:
    """Under ρ it began with Laplace noise, ± 5, beside Gaussian noise of ± 3."""
    for definition in Definition:
        plans = {}
        for mechanism in registry.HISTOGRAMS:
            try:
                plans[mechanism.name] = mechanism.plan(LINE, {}, Loss(definition, Fraction(amount)))
            except PlanError:
                continue
        best = HistogramPlanner().best_method(Release(), plans)
        widths = [plan.half_width for plan in plans.values() if plan.half_width is not None]
        assert plans[best].half_width == min(widths)
        assert best == ("laplace-histogram" if definition is Definition.PURE else "gaussian-histogram")


@pytest.mark.parametrize("unit", [PrivacyUnit(), PrivacyUnit(Neighbours.REPLACE_ONE)], ids=str)
@pytest.mark.parametrize("amount", ["0.1", "1"])
def test_a_private_choice_begins_with_the_best_odds(unit: PrivacyUnit, amount: str) -> None:
    score = MostCommonValue.of(LINE.attributes[0])
    for definition in Definition:
        plans = {
            m.name: m.plan(score, Loss(definition, Fraction(amount), unit), 1) for m in registry.SELECTIONS
        }
        best = plans[SelectionPlanner().best_method(Release(), plans)]
        odds = [sum(chance for _gap, chance in plan.resolved) for plan in plans.values()]
        assert sum(chance for _gap, chance in best.resolved) == max(odds)
