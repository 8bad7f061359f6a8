"""What the page of strategies shows at a cost: which to take, what the others do, the dial."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal
from functools import partial

import numpy as np
from django.utils.translation import gettext as _

from dpportal.budgets import cost_dial
from dpportal.budgets.cost_dial import DialError
from dpportal.charts.series import expectation_periods
from dpportal.platform.json_types import Json
from dpportal.platform.listed_names import in_a_row
from dpportal.publications import cost, cost_search
from dpportal.publications.verdict import MARGINS, Verdict, VerdictLevel, of_answers, rounded
from dpportal.streams import drafts
from dpportal.streams.measure import StreamDraftError
from dpportal.streams.models import Stream
from dpportal.streams.series import unit_of
from mechanisms import registry
from mechanisms.accounting import Definition
from mechanisms.continual import compare
from mechanisms.continual.compare import StreamOffer
from mechanisms.continual.mechanism import StreamPlan

# A second strategy is recommended if its error is at most so many times the least.
HARDLY_WORSE = 1.5


def strategies(stream: Stream, offers: list[StreamOffer], chosen: str, amount: Decimal) -> Json:
    """The strategies in three heaps: to take, to compare with, and those that cannot be had, with why.

    offers: of all strategies at that cost, the most accurate first.
    """
    suggested = compare.suggested(offers)
    usable = [offer for offer in offers if offer.plan and not offer.mechanism.reference]
    taken = next((o for o in offers if o.plan and o.mechanism.name == chosen), suggested)
    return {
        "offers": usable,
        "compared": [offer for offer in offers if offer.plan and offer.mechanism.reference],
        "refused": [offer for offer in offers if not offer.plan],
        "suggested": suggested,
        "recommended": _recommended(suggested, usable) if suggested else [],
        "chosen": taken.mechanism.name if taken else "",
        "chosen_offer": taken,
        "chosen_error": cost_search.shown(typical_margin(taken)) if taken else None,
        **(expected_verdict(stream, taken.plan, amount) if taken and taken.plan else {}),
        "unit": unit_of(stream, stream.dataset.current_domain()),
        "end": _("at the end") if stream.horizon else _("after the periods foreseen"),
        "figure": drafts.expectations(stream, offers),
    }


def _recommended(suggested: StreamOffer, usable: list[StreamOffer]) -> list[Json]:
    """The most accurate, and the next one if it is hardly worse, each with the margin that says so, and at the end."""
    least = suggested.standard_error or 0.0
    others = [o for o in usable if o is not suggested and (o.standard_error or 0.0) <= HARDLY_WORSE * least]
    return [
        {
            "offer": offer,
            "margin": math.ceil(typical_margin(offer)),
            "half_width": at_the_end(offer),
            "ratio": (offer.standard_error or least) / least,
        }
        for offer in [suggested, *others[:1]]
    ]


def typical_margin(offer: StreamOffer) -> float:
    """Half a 95 % interval of a running count over all periods: of the least one the strategy is the suggested one.

    At the end another may be ahead, where a block of periods happens to end with the last.
    """
    assert offer.standard_error is not None
    return 1.96 * offer.standard_error


def at_the_end(offer: StreamOffer) -> float:
    """Half the 95 % interval of the last running count; without an end, of the last one that is foreseen."""
    assert offer.plan is not None
    return half_width(offer.plan)


def half_width(plan: StreamPlan) -> float:
    """The same of a plan."""
    last = np.array([last_period(plan)])
    return float(registry.stream(plan.mechanism).half_widths(plan, last)[0])


def last_period(plan: StreamPlan) -> int:
    """Of a stream without an end the last one that is foreseen."""
    return plan.request.horizon or int(plan.details["periods_shown"])


def expected_verdict(stream: Stream, plan: StreamPlan, amount: Decimal) -> Json:
    """Whether the last running count will be of use, and from which cost on where the curator made an estimate."""
    verdict = _over_time(stream, plan, _expected(stream, plan))
    return {"verdict": verdict, "better_amount": verdict.amount(amount, plan.loss.definition)}


def expected_of(stream: Stream) -> Verdict:
    """The same of a stream that was confirmed, for which nothing can be changed any more."""
    return _over_time(stream, stream.plan, _expected(stream, stream.plan))


def _expected(stream: Stream, plan: StreamPlan) -> Verdict:
    if not stream.expected:
        text = _(
            "Without your estimate of it, nobody can say whether a running count ± %(half)s is of any use."
        )
        return Verdict(VerdictLevel.DOUBTFUL, text % {"half": rounded(half_width(plan))})
    name = _("The running sum at the end") if stream.summed else _("The running count at the end")
    unit = "" if stream.summed else unit_of(stream, stream.dataset.current_domain())
    inside = _("the running sum at the end") if stream.summed else _("the running count at the end")
    return of_answers(half_width(plan), float(stream.expected), name, unit or _("in all"), inside)


def _over_time(stream: Stream, plan: StreamPlan, verdict: Verdict) -> Verdict:
    """The same, and from which period on a count can be read: its margin is a third of it at most, as `MARGINS` has it.

    Decided by the plan and the curator's estimate, as if equally many came in each period.
    """
    if not stream.expected or not verdict.is_at_least(VerdictLevel.COARSE):
        return verdict
    end, mechanism = last_period(plan), registry.stream(plan.mechanism)
    periods = expectation_periods(end)
    # At the end the very ratio of the verdict, which found that it can be read.
    readable = mechanism.half_widths(plan, periods) / (stream.expected * periods / end) <= MARGINS[1]
    first = int(periods[np.flatnonzero(~readable)[-1] + 1]) if not readable.all() else 1
    sentences = [verdict.text, _read_from(first)]
    added = int(np.median(mechanism.increment_half_widths(plan, periods)))
    if added > MARGINS[1] * stream.expected / end:
        text = _("What is new in a single period cannot be read: about %(new)s, ± %(half)s.")
        sentences.append(text % {"new": rounded(stream.expected / end), "half": rounded(added)})
    return replace(verdict, text=in_a_row(sentences))


def _read_from(first: int) -> str:
    if first == 1:
        return _("If it grows evenly, it can be read from the first period on.")
    text = _("If it grows evenly, it can be read from period %(period)s on; before, noise hides it.")
    return text % {"period": f"{first:,}"}


def turned(stream: Stream, turn: dict[str, str]) -> Json:
    """One position of the dial: the cost, what it means, and the margin of a typical running count.

    turn: "epsilon" (the cost) or "half_width", and "mechanism". Raises ValidationError or DraftError.
    """
    mechanism, definition = turn.get("mechanism", ""), Definition(drafts.budget_of(stream).definition)

    def error_of(amount: Decimal) -> float:
        return typical_margin(_offer(drafts.offers(stream, amount, only=mechanism), mechanism))

    typical = DialError(error_of, lambda error: cost_search.amount_for(error, definition, error_of))
    return cost_dial.position(
        turn,
        errors={"half_width": typical},
        meaning_of=partial(_meaning, stream),
        worth_of=partial(worth_of, stream, mechanism),
    )


def usual_amount(stream: Stream) -> Decimal:
    """The cost that a draft begins with, by the strategy that is best at the one it has, or at a tenth of the rest."""
    budget = drafts.budget_of(stream)
    amount = cost_dial.saved_proposal(stream, budget) or cost_dial.most_proposed(budget)
    try:
        offered = drafts.offers(stream, amount, only=stream.mechanism)
        mechanism = _offer(offered, stream.mechanism).mechanism.name
    except StreamDraftError:
        mechanism = ""
    return cost_dial.usual(stream, budget, partial(_is_at_least, stream, mechanism))


def worth_of(stream: Stream, mechanism: str, amount: Decimal) -> str:
    """How large the margin is beside the last running count, and which cost would do; empty where nobody can tell."""
    try:
        plan = _plan(stream, mechanism, amount)
    except StreamDraftError:
        return ""
    is_useful = partial(_is_at_least, stream, plan.mechanism, VerdictLevel.USEFUL)
    least = cost_search.least_useful(amount, is_useful)
    return cost_dial.worth(_expected(stream, plan), amount, plan.loss.definition, least)


def _is_at_least(stream: Stream, mechanism: str, level: VerdictLevel, amount: Decimal) -> bool:
    try:
        return _expected(stream, _plan(stream, mechanism, amount)).is_at_least(level)
    except StreamDraftError:
        return False


def _plan(stream: Stream, mechanism: str, amount: Decimal) -> StreamPlan:
    """Raises StreamDraftError."""
    plan = _offer(drafts.offers(stream, amount, only=mechanism), mechanism).plan
    assert plan is not None
    return plan


def _offer(offers: list[StreamOffer], mechanism: str) -> StreamOffer:
    """The checked strategy's; the suggested one's if none is. Raises StreamDraftError if it has no plan."""
    offer = next((o for o in offers if o.mechanism.name == mechanism), None) or compare.suggested(offers)
    if offer is None or offer.plan is None:
        raise StreamDraftError(offer.refusal if offer else offers[0].refusal)
    return offer


def _meaning(stream: Stream, amount: Decimal) -> str:
    """What a cost means in words."""
    version, _counted = drafts.counted_of(stream)
    return cost.meaning(drafts.loss_of(stream, version, amount), drafts.budget_of(stream).delta)


def dial_shown(stream: Stream, chosen: str, amount: Decimal) -> Json:
    """The dial's ends, what the cost means and is worth by the chosen strategy, and what others have chosen."""
    return {
        "worth": worth_of(stream, chosen, amount),
        **cost_search.ends(drafts.budget_of(stream).total),
        "meaning": _meaning(stream, amount),
        "published_choices": cost.CHOICES,
    }
