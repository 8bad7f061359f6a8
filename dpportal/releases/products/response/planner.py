"""What can be chosen of randomised answers, what they cost, and how wrong they are."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from django.utils.translation import gettext as _, gettext_lazy

from dpportal.datasets.models import DomainVersion
from dpportal.platform.json_types import Json
from dpportal.publications.verdict import Verdict, of_answers
from dpportal.releases.models import Release
from dpportal.releases.products.response.form import ColumnForm
from dpportal.releases.products.shared.average_group import average_people
from dpportal.releases.products.shared.draft_form import DraftError
from dpportal.releases.products.shared.planner import ErrorLabel, Planner
from mechanisms import registry
from mechanisms.accounting import Loss, PrivacyUnit
from mechanisms.domain import Domain
from mechanisms.protocol import PlanError
from mechanisms.response import Response, ResponsePlan


class ResponsePlanner(Planner[Response, ResponsePlan]):
    """Every row's value is replaced by a noisy report; the reports and the estimated counts are released."""

    form = ColumnForm

    def unavailable(self, unit: PrivacyUnit) -> str:
        if unit.total_public:
            return ""
        return _(
            "One answer for each row shows how many rows there are, and that is private here. It is public only where "
            "each person has one row, one person is replaced by another, and nothing was promised before that hides it."
        )

    @property
    def methods(self) -> Sequence[Response]:
        return registry.RESPONSES

    def check(self, domain: Domain) -> None:
        if len(domain.attributes) != 1:
            raise DraftError(_("Choose exactly one column."), "columns")

    def plan(
        self, method: Response, draft: Release, version: DomainVersion, domain: Domain, loss: Loss
    ) -> ResponsePlan:
        plan, rows = method.plan(domain, loss), draft.dataset.rows
        # The number of rows is public wherever rows may respond; what it rules out is said before any is read.
        if isinstance(rows, int) and (refusal := method.refusal(plan, rows)):
            raise PlanError(refusal)
        return plan

    def read_plan(self, value: Json) -> ResponsePlan:
        return ResponsePlan.from_json(value)

    def offer(self, plan: ResponsePlan, draft: Release, plans: Sequence[ResponsePlan] = ()) -> Json:
        people, half_width = draft.people or 1, _half_width(plan, draft)
        return {
            "half_width": math.ceil(half_width),
            "share": half_width / people,
            "widest": math.ceil(plan.widest(people)),
        }

    def error_label(self, draft: Release) -> ErrorLabel:
        return ErrorLabel(
            gettext_lazy("Margin of an estimated share (95 %)"), unit=gettext_lazy("% of all people")
        )

    def error_of(self, plan: ResponsePlan, draft: Release) -> float | None:
        return 100 * _half_width(plan, draft) / draft.people if draft.people else None

    def verdict(self, plan: ResponsePlan, draft: Release) -> Verdict | None:
        average = _average(draft)
        if not average:
            return None
        half_width = math.ceil(_half_width(plan, draft))
        return of_answers(half_width, average, _("An estimated count of average size"))

    def rank(self, plan: ResponsePlan) -> tuple[float, ...]:
        return (plan.standard_error,)


def _average(draft: Release) -> float:
    """How many people a value of average size has, by the curator's estimate; 0 where that is not known."""
    version = draft.domain_version or draft.dataset.current_domain()
    if not draft.people or not version:
        return 0.0
    return average_people(draft.people, version.domain().project(draft.columns))


def _half_width(plan: ResponsePlan, draft: Release) -> float:
    """Of a count of average size, as it will be published: larger counts have wider margins, smaller ones narrower."""
    return float(plan.half_widths(np.array([_average(draft)]), draft.people or 1)[0])
