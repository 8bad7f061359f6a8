"""What a summary costs, and how wide its margins will be; no record is read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from django.utils.translation import gettext as _, gettext_lazy

from dpportal.charts.counted_word import counted_word
from dpportal.datasets.models import DomainVersion
from dpportal.platform.json_types import Json
from dpportal.platform.listed_names import listed
from dpportal.publications.verdict import Verdict, VerdictLevel, level_of, rounded
from dpportal.releases.models import Release
from dpportal.releases.products.shared.average_group import average_people
from dpportal.releases.products.shared.draft_form import DraftError
from dpportal.releases.products.shared.numbers import number_text
from dpportal.releases.products.shared.planner import ErrorLabel, Planner
from dpportal.releases.products.shared.public_rows import public_rows
from dpportal.releases.products.summary.form import SummaryForm, group_name
from mechanisms import registry
from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Attribute, Date, Domain
from mechanisms.protocol import PlanError
from mechanisms.summary.expectation import ColumnExpectation, expectations, number_half_width, typical
from mechanisms.summary.line import is_line
from mechanisms.summary.mechanism import ColumnTables
from mechanisms.summary.plan import SummaryPlan

# Half the interval of a typical share, or of a typical mean over its range, up to which it is of use, and of some use.
SHARES = (0.02, 0.1)
# Where nothing is told, so many times dearer costs are tried, one after the other.
DEARER, DEARER_TRIES = 4, 6


class SummaryPlanner(Planner[ColumnTables, SummaryPlan]):
    """All columns of a table at one cost."""

    form = SummaryForm

    @property
    def methods(self) -> Sequence[ColumnTables]:
        return registry.SUMMARIES

    def check(self, domain: Domain) -> None:
        if not domain.attributes:
            raise DraftError(_("Choose at least one column."), "columns")

    def plan(
        self, method: ColumnTables, draft: Release, version: DomainVersion, domain: Domain, loss: Loss
    ) -> SummaryPlan:
        group = group_name(draft)
        groups = domain.project([group] if group else [])
        columns = [a for a in domain.attributes if a.name != group]
        total = public_rows(draft, loss.for_domain(groups).unit)
        return method.plan(groups, columns, draft.parameters.get("twice", []), loss, draft.people or 1, total)

    def read_plan(self, value: Json) -> SummaryPlan:
        return SummaryPlan.from_json(value)

    def offer(self, plan: SummaryPlan, draft: Release, plans: Sequence[SummaryPlan] = ()) -> Json:
        """The table that the page shows, filled with what to expect of a group of average size."""
        people = _group_people(plan)
        rows = [
            _row(plan, attribute, own)
            for attribute, own in zip(plan.columns, expectations(plan, people), strict=True)
        ]
        share, mean = typical(plan, people)
        return {
            "foreseen": rows,
            "group_name": listed(plan.groups.shown_names),
            "group_people_text": rounded(people),
            "number_text": number_text(number_half_width(plan)),
            "share_text": None if share is None else number_text(100 * share),
            "mean_text": None if mean is None else number_text(100 * mean),
            "silent": [row["name"] for row in rows if row["says_nothing"]],
        }

    def error_label(self, draft: Release) -> ErrorLabel:
        return _labels(draft)[0]

    def error_of(self, plan: SummaryPlan, draft: Release) -> float | None:
        """Of a share; of a mean where no column has shares."""
        errors = _typical_errors(plan)
        return _percent(errors[0], draft)

    def further_error_label(self, draft: Release) -> ErrorLabel | None:
        labels = _labels(draft)
        return labels[1] if len(labels) > 1 else None

    def further_error_of(self, plan: SummaryPlan, draft: Release) -> float | None:
        errors = _typical_errors(plan)
        return _percent(errors[1], draft) if len(errors) > 1 else None

    def verdict(self, plan: SummaryPlan, draft: Release) -> Verdict | None:
        if not draft.people:
            return None
        error, counted = _typical_errors(plan)[0], counted_word(plan.loss.unit.max_rows)
        size = {"number": rounded(_group_people(plan)), "counted": counted}
        silent = sum(own.says_nothing for own in expectations(plan, _group_people(plan)))
        if error is None or silent == len(plan.columns):
            text = _(
                "At this cost nothing is told of any column in a group of average size, which has %(number)s "
                "%(counted)s."
            )
            return Verdict(VerdictLevel.USELESS, text % size, _calmer(plan))
        level = level_of(error, SHARES)
        text = _("In a group of %(number)s %(counted)s a typical share is told to within ± %(share)s points.")
        if len(plan.lines) == len(plan.columns):
            text = _(
                "In a group of %(number)s %(counted)s a typical mean is told to within ± %(share)s %% of its range."
            )
        text %= {**size, "share": f"{100 * error:.2g}"}
        if silent:
            further = _("%(silent)s of %(columns)s columns would say nothing.")
            text += " " + further % {"silent": silent, "columns": len(plan.columns)}
        return Verdict(level, text, 1.0 if level is VerdictLevel.USEFUL else error / SHARES[0])


def _calmer(plan: SummaryPlan) -> float:
    """By what noise must be divided for the release to be of use, where it tells nothing; 1 where that is not known.

    At the first cost that tells something its error says how much is left to do.
    """
    method = next(m for m in registry.SUMMARIES if m.name == plan.mechanism)
    step = DEARER if plan.loss.definition is Definition.PURE else math.sqrt(DEARER)
    for attempt in range(1, DEARER_TRIES + 1):
        loss = replace(plan.loss, amount=plan.loss.amount * DEARER**attempt)
        try:
            dearer = method.plan(plan.groups, plan.columns, plan.twice, loss, plan.people, plan.total)
        except PlanError:
            return 1.0
        error = _typical_errors(dearer)[0]
        if error is not None and not all(e.says_nothing for e in expectations(dearer, _group_people(dearer))):
            return step**attempt * max(1.0, error / SHARES[0])
    return 1.0


def _group_people(plan: SummaryPlan) -> float:
    return average_people(plan.people, plan.groups)


def _labels(draft: Release) -> list[ErrorLabel]:
    """Of a typical share and of a typical mean, as far as the draft's columns have them; as `_typical_errors`."""
    version, group = draft.dataset.current_domain(), group_name(draft)
    assert version is not None
    own = [a for a in version.domain().attributes if a.name in draft.columns and a.name != group]
    numbers = [is_line(a) for a in own]
    share = ErrorLabel(gettext_lazy("Margin of a typical share"), unit=gettext_lazy("percentage points"))
    mean = ErrorLabel(gettext_lazy("Margin of a typical mean"), unit=gettext_lazy("% of the range"))
    return [*([] if all(numbers) else [share]), *([mean] if any(numbers) else [])]


def _typical_errors(plan: SummaryPlan) -> list[float | None]:
    """Half the interval of a typical share, and of a typical mean over its range; None where it is not told."""
    share, mean = typical(plan, _group_people(plan))
    return [*([] if len(plan.lines) == len(plan.columns) else [share]), *([mean] if plan.lines else [])]


def _percent(error: float | None, draft: Release) -> float | None:
    return 100 * error if error is not None and draft.people else None


def _row(plan: SummaryPlan, attribute: Attribute, own: ColumnExpectation) -> Json:
    """A column's line in the table of what to expect."""
    days = _(" days") if isinstance(attribute, Date) else ""

    def text(half_width: float | None) -> str | None:
        return None if half_width is None else number_text(half_width) + days

    return {
        "name": attribute.shown_name,
        "share": None if own.share is None else number_text(100 * own.share),
        "mean": text(own.mean),
        "deviation": text(own.deviation),
        "most_deviation": text(own.most_deviation),
        "quantile": text(own.quantile),
        "is_number": attribute.name in plan.lines,
        "says_nothing": own.says_nothing,
        "twice": attribute.name in plan.twice,
    }
