"""What totals and means cost, and how wide their intervals will be; no record is read."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.translation import gettext as _, gettext_lazy

from dpportal.charts.counted_word import counted_word
from dpportal.datasets.models import DomainVersion
from dpportal.platform.json_types import Json
from dpportal.publications.verdict import Verdict, VerdictLevel, level_of, rounded
from dpportal.releases.models import Release
from dpportal.releases.products.means.form import MeansForm, group_names, measured_columns
from dpportal.releases.products.shared.average_group import average_people
from dpportal.releases.products.shared.draft_form import DraftError
from dpportal.releases.products.shared.numbers import number_text
from dpportal.releases.products.shared.planner import ErrorLabel, Planner
from dpportal.releases.products.shared.public_rows import public_rows
from mechanisms import registry
from mechanisms.accounting import Loss, plainly
from mechanisms.domain import Date, Domain, Integer, Real
from mechanisms.moments.expectation import Expectation, expectation, mean_share
from mechanisms.moments.mechanism import BernsteinSums
from mechanisms.moments.plan import ColumnPlan, MomentsPlan

# Half the interval of a mean as a share of its range, up to which it is of use, and of some use.
RANGES = (0.02, 0.1)


class MeansPlanner(Planner[BernsteinSums, MomentsPlan]):
    """Number, total, mean and deviation of each group, at the cost of one count."""

    form = MeansForm

    @property
    def methods(self) -> Sequence[BernsteinSums]:
        return registry.MOMENTS

    def crossed(self, draft: Release, domain: Domain) -> Domain:
        """The columns of the groups: each may be a coarser one of a column that is measured."""
        return domain.project(group_names(draft))

    def check(self, domain: Domain) -> None:
        if not any(isinstance(a, Integer | Real | Date) for a in domain.attributes):
            raise DraftError(_("Choose at least one column of numbers or dates to measure."), "columns")

    def plan(
        self, method: BernsteinSums, draft: Release, version: DomainVersion, domain: Domain, loss: Loss
    ) -> MomentsPlan:
        groups = domain.project(group_names(draft))
        degree = 2 if draft.parameters.get("deviation", True) else 1
        total = public_rows(draft, loss.for_domain(groups).unit)
        return method.plan(groups, measured_columns(draft, domain), degree, loss, draft.people, total)

    def read_plan(self, value: Json) -> MomentsPlan:
        return MomentsPlan.from_json(value)

    def offer(self, plan: MomentsPlan, draft: Release, plans: Sequence[MomentsPlan] = ()) -> Json:
        people = draft.people or 1
        return {
            "groups": plan.groups.size,
            "group_people_text": rounded(average_people(people, plan.groups)),
            "deviation": plan.degree > 1,
            "foreseen": [_row(own, _expected(plan, own, people)) for own in plan.columns],
        }

    def error_label(self, draft: Release) -> ErrorLabel:
        return ErrorLabel(
            gettext_lazy("Margin of a group's mean (95 %), at most"), unit=gettext_lazy("% of the range")
        )

    def error_of(self, plan: MomentsPlan, draft: Release) -> float | None:
        return None if not draft.people else 100 * _widest(plan, draft.people)

    def verdict(self, plan: MomentsPlan, draft: Release) -> Verdict | None:
        if not draft.people:
            return None
        widest, counted = _widest(plan, draft.people), counted_word(plan.loss.unit.max_rows)
        size = {"number": rounded(average_people(draft.people, plan.groups)), "counted": counted}
        if widest >= 1:
            text = _("A group of average size has %(number)s %(counted)s, too few to tell its mean.")
            return Verdict(VerdictLevel.USELESS, text % size, widest / RANGES[0])
        level = level_of(widest, RANGES)
        text = _(
            "The mean of a group of average size, %(number)s %(counted)s, is told to within ± %(share)s %% of the "
            "range between the limits, or less."
        ) % {**size, "share": f"{100 * widest:.2g}"}
        return Verdict(level, text, 1.0 if level is VerdictLevel.USEFUL else widest / RANGES[0])


def _expected(plan: MomentsPlan, planned: ColumnPlan, people: int) -> Expectation:
    return expectation(plan, planned, average_people(people, plan.groups))


def _widest(plan: MomentsPlan, people: int) -> float:
    """Half the widest interval of a mean as a share of its range, for a group of average size."""
    return max(mean_share(plan, column, average_people(people, plan.groups)) for column in plan.columns)


def _row(planned: ColumnPlan, expected: Expectation) -> Json:
    """A column's line in the table of what to expect."""
    column = planned.column
    lower, upper = column.bound_texts

    def text(half_width: float | None) -> str | None:
        days = _(" days") if column.is_date else ""
        return None if half_width is None else number_text(half_width) + days

    return {
        "name": column.attribute.shown_name,
        "number": number_text(expected.number),
        "total": text(expected.total),
        "mean": text(expected.mean),
        "deviation": text(expected.deviation),
        "most_deviation": text(expected.most_deviation),
        "step": _("1 day") if column.is_date else plainly(column.step),
        "lower": lower,
        "upper": upper,
        # A step that does not divide the range ends below the declared bound.
        "declared": "" if column.top - column.lower == column.range else plainly(column.lower + column.range),
    }
