"""Which method the wizard advises, from public statements alone: nothing is simulated, and no data is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.translation import gettext as _

from dpportal.platform.listed_names import in_a_row
from dpportal.platform.stored_texts import translated
from dpportal.publications.verdict import percent
from dpportal.releases.products.shared.recommendation import Recommendation
from mechanisms import registry
from mechanisms.advice import ranking, table
from mechanisms.advice.ranking import Ranked, Ranking
from mechanisms.advice.table import Checked
from mechanisms.protocol import Plan

# The most that are recommended, and how much worse than the first one may be, times.
AT_MOST = 3
HARDLY_WORSE = 1.5
# How much better, times, a method has to be whose margin nobody knows beforehand than one whose margin is known.
MUCH_BETTER = 1.15


@dataclass(frozen=True)
class Advice:
    """The ranking of methods that have a plan, and how good such advice was on tables drawn afterwards.

    titles: of the methods, by name. columns: 1 or 2, of the drawn tables.
    """

    ranking: Ranking
    checked: Checked
    titles: dict[str, str]
    columns: int


def advice(plans: Mapping[str, Plan], purpose: str, people: int) -> Advice:
    """The advice for a purpose on methods with plans for the same columns and loss; there is at least one.

    Raises PlanError if the loss is absurd.
    """
    plan = next(iter(plans.values()))
    methods = [registry.mechanism(name) for name in plans]
    ranked = ranking.rank(methods, plan.domain, plan.loss, purpose, people)
    columns = table.columns_of(plan.domain)
    checked = table.checked(columns, plan.loss.definition, purpose)
    return Advice(ranked, checked, {m.name: m.title for m in methods}, columns)


def recommendations(advice: Advice, plans: Mapping[str, Plan]) -> list[Recommendation]:
    """The first ones of the ranking and each cell by itself, the simplest, in the ranking's order.

    Those with a known margin come before others that are hardly better. None where none of the methods that may be
    advised was measured.
    """
    advised = _known_margins_first([line for line in advice.ranking.methods if line.advised], plans)
    plain = [line for line in advised if registry.mechanism(line.mechanism).is_plain][:1]
    least = min((line.ratio for line in advised), default=1.0)
    others = [line for line in advised if line not in plain and line.ratio <= HARDLY_WORSE * least]
    others = others[: AT_MOST - len(plain)]
    return [
        _worded(line, advice, plans[line.mechanism]) for line in advised if line in plain or line in others
    ]


def _known_margins_first(advised: list[Ranked], plans: Mapping[str, Plan]) -> list[Ranked]:
    """Readers of a count with a margin know what it is worth; that is given up for much better counts alone."""
    least = min((line.ratio for line in advised), default=1.0)
    return sorted(
        advised,
        key=lambda line: plans[line.mechanism].half_width is None or line.ratio > MUCH_BETTER * least,
    )


def _worded(line: Ranked, advice: Advice, plan: Plan) -> Recommendation:
    width = plan.half_width
    figure = _("± depends on the data") if width is None else _("a count ± %(n)s") % {"n": f"{width:,}"}
    return Recommendation(
        line.mechanism,
        translated(advice.titles[line.mechanism]),
        _reason_text(line, advice.ranking, margin_known=width is not None),
        figure,
    )


def _reason_text(line: Ranked, ranked: Ranking, *, margin_known: bool) -> str:
    if ranked.few:
        return _("So few cells are best counted each by itself.")
    reasons = []
    if registry.mechanism(line.mechanism).is_plain:
        reasons.append(_("Each cell is counted by itself, the simplest to explain."))
    if line is ranked.methods[0]:
        text = _(
            "In tests on similar tables, no method did better on average: its error was %(percent)s above that of "
            "whichever was best on each table."
        )
        return in_a_row([*reasons, text]) % {"percent": percent(line.ratio - 1)}
    if margin_known and line.ratio <= MUCH_BETTER * ranked.methods[0].ratio:
        reasons.append(_("Its margin is known beforehand, and none is expected to be much better."))
    elif line.as_good:
        reasons.append(_("In tests, it did as well as the first."))
    reasons.append(
        _(
            "In tests on similar tables, its error was on average %(percent)s above that of whichever was best on "
            "each table."
        )
    )
    return in_a_row(reasons) % {"percent": percent(line.ratio - 1)}
