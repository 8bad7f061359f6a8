"""What can be chosen of a histogram, what it costs, and how wrong it is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import partial

from django.utils.translation import gettext_lazy

from dpportal.charts.counted_word import counted_word
from dpportal.charts.counts import noise_figure
from dpportal.charts.style import Figure
from dpportal.datasets.models import DomainVersion
from dpportal.platform.json_types import Json
from dpportal.publications.verdict import Verdict
from dpportal.releases.models import Release
from dpportal.releases.products.histogram import advice as advising, cost_estimate, neighbours, usefulness
from dpportal.releases.products.histogram.form import CellsForm, check_columns
from dpportal.releases.products.shared import bin_error
from dpportal.releases.products.shared.average_group import declared_cells
from dpportal.releases.products.shared.job_cost import JobCost
from dpportal.releases.products.shared.planner import ErrorLabel, Planner
from dpportal.releases.products.shared.public_rows import public_rows
from dpportal.releases.products.shared.recommendation import Recommendations
from mechanisms import registry
from mechanisms.accounting import Loss
from mechanisms.domain import Domain
from mechanisms.error import expectation
from mechanisms.protocol import Mechanism, Plan, PlanError


class HistogramPlanner(Planner[Mechanism, Plan]):
    """Noisy counts of every combination of one to four columns."""

    form = CellsForm

    @property
    def methods(self) -> Sequence[Mechanism]:
        return registry.HISTOGRAMS

    def check(self, domain: Domain) -> None:
        check_columns(domain)

    def plan(
        self, method: Mechanism, draft: Release, version: DomainVersion, domain: Domain, loss: Loss
    ) -> Plan:
        # What the release is for is the draft's, whatever was said of it with a method chosen before.
        parameters = {**draft.parameters, "purpose": draft.purpose}
        total = public_rows(draft, loss.for_domain(domain).unit)
        plan = method.plan(domain, parameters if total is None else {**parameters, "total": total}, loss)
        if obstacle := self.job_cost(plan, draft.people).obstacle():
            raise PlanError(obstacle)
        return plan

    def read_plan(self, value: Json) -> Plan:
        return Plan.from_json(value)

    def offer(self, plan: Plan, draft: Release, plans: Sequence[Plan] = ()) -> Json:
        version = draft.dataset.current_domain()
        hides_total = bool(version and version.unit_column) or draft.dataset.total_stays_private
        # The other relation is planned only where a page shows it.
        relations = partial(neighbours.relations, plan, hides_total)
        return {
            "expected": expectation(plan, draft.people),
            "relations": relations,
            "effort": self.job_cost(plan, draft.people),
            "bin_errors": partial(bin_error.in_words, plan.domain),
            "unsuited": registry.mechanism(plan.mechanism).unsuited(plan),
            "noise_figure": partial(_noise_figure, plan, draft.people),
        }

    def job_cost(self, plan: Plan, people: int | None) -> JobCost:
        return cost_estimate.job_cost(plan, people)

    def rank(self, plan: Plan) -> tuple[float, ...]:
        """The narrowest interval of those that have one; of equals the least standard error."""
        return _figure(plan.half_width), _figure(plan.standard_error)

    def recommend(self, draft: Release, plans: Mapping[str, Plan]) -> Recommendations:
        advice = _advice(draft, plans)
        advised = advising.recommendations(advice, plans) if advice else []
        return Recommendations(advised or super().recommend(draft, plans).methods, advice)

    def error_label(self, draft: Release) -> ErrorLabel:
        return ErrorLabel(gettext_lazy("Margin of a count (95 %)"), counted_word(draft.unit.max_rows))

    def error_of(self, plan: Plan, draft: Release) -> float | None:
        return plan.half_width

    def least_amount(self, mechanism: str, loss: Loss, error: float) -> Decimal | None:
        method = next((m for m in self.methods if m.name == mechanism), None)
        least = method and method.loss_for(math.floor(error), loss.definition, loss.unit)
        return Decimal(least.amount.numerator) / Decimal(least.amount.denominator) if least else None

    def verdict(self, plan: Plan, draft: Release) -> Verdict | None:
        return usefulness.expected(plan, draft.people, draft.purpose) if draft.people else None


def _advice(draft: Release, plans: Mapping[str, Plan]) -> advising.Advice | None:
    if not draft.people:
        return None
    try:
        return advising.advice(plans, draft.purpose, draft.people)
    except PlanError:  # a loss beyond those of the simulated tables
        return None


def _figure(value: float | None) -> float:
    """A figure that a page shows; none is the worst."""
    return math.inf if value is None else value


def _noise_figure(plan: Plan, people: int | None) -> Figure | None:
    """A picture of the plan's noise on made-up counts, or None."""
    # Where cells share noise, the plan's law is that of the shared measurements, not of a cell.
    if plan.standard_error != plan.noise.standard_error:
        return None
    unit = counted_word(plan.loss.unit.max_rows)
    return noise_figure(plan.noise, (declared_cells(plan.domain),), people=people, unit=unit)
