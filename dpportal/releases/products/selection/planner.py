"""What can be asked of a private choice, what it costs, and how sure it is."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from django.utils.translation import gettext as _, gettext_lazy

from dpportal.charts.counted_word import counted_word
from dpportal.datasets.models import DomainVersion
from dpportal.platform.json_types import Json
from dpportal.publications.verdict import Verdict
from dpportal.releases.models import Release
from dpportal.releases.products.selection import verdict
from dpportal.releases.products.selection.form import QuestionForm, score_of
from dpportal.releases.products.shared.draft_form import DraftError
from dpportal.releases.products.shared.planner import ErrorLabel, Planner
from mechanisms import registry
from mechanisms.accounting import Loss
from mechanisms.domain import Attribute, Domain
from mechanisms.selection import MostCommonValue, Quantile, Selection, SelectionPlan

MAX_OPTIONS = 200


class SelectionPlanner(Planner[Selection, SelectionPlan]):
    """The best of the declared candidates, chosen so that no person decides it; no count is released."""

    form = QuestionForm

    @property
    def methods(self) -> Sequence[Selection]:
        return registry.SELECTIONS

    def check(self, domain: Domain) -> None:
        if not 1 <= len(domain.attributes) <= MAX_OPTIONS:
            raise DraftError(_("Choose between one and 200 columns."), "columns")

    def plan(
        self, method: Selection, draft: Release, version: DomainVersion, domain: Domain, loss: Loss
    ) -> SelectionPlan:
        question = draft.parameters.get("question", MostCommonValue.kind)
        score = score_of(question, domain, Fraction(draft.parameters.get("level", "1/2")))
        return method.plan(score, loss, int(draft.parameters.get("picks", 1)))

    def read_plan(self, value: Json) -> SelectionPlan:
        return SelectionPlan.from_json(value)

    def offer(self, plan: SelectionPlan, draft: Release, plans: Sequence[SelectionPlan] = ()) -> Json:
        return {"resolved": plan.resolved}

    def error_label(self, draft: Release) -> ErrorLabel:
        title = gettext_lazy("Finds the better of two 95 % of the time if it leads by")
        if draft.parameters.get("question") == Quantile.kind:
            title = gettext_lazy(
                "Finds the nearer of two values 95 % of the time if the other is farther off by"
            )
        return ErrorLabel(title, counted_word(draft.unit.max_rows), sign="")

    def error_of(self, plan: SelectionPlan, draft: Release) -> float:
        return registry.selection(plan.mechanism).lead(plan, 0.95)

    def verdict(self, plan: SelectionPlan, draft: Release) -> Verdict | None:
        lead = self.error_of(plan, draft)
        if not draft.people:
            return verdict.without_people(lead, counted_word(draft.unit.max_rows))
        return verdict.expected(plan, lead, draft.people, _only_column(draft))

    def rank(self, plan: SelectionPlan) -> tuple[float, ...]:
        """The method that most often tells the better candidate, over the gaps that the page shows."""
        return (-sum(chance for _gap, chance in plan.resolved),)


def _only_column(draft: Release) -> Attribute | None:
    """The one column that is asked of, as it was declared when that was confirmed, or for a draft is now."""
    version = draft.domain_version or draft.dataset.current_domain()
    columns = [a for a in (version.domain().attributes if version else ()) if a.name in draft.columns]
    return columns[0] if len(columns) == 1 else None
