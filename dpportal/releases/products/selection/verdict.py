"""Whether a private choice is of any use: by the lead that it tells before, by the chance of a good choice after."""

from __future__ import annotations

import numpy as np
from django.utils.translation import gettext as _

from dpportal.charts.counted_word import counted_word
from dpportal.publications.verdict import Verdict, VerdictLevel, expected_text, level_of, percent, rounded
from mechanisms.domain import Attribute, Date, Integer, Real
from mechanisms.selection import Quantile, SelectionPlan

# A choice is good if it trails the best by at most this share of the best one's count; a quantile, of all ranks.
NEAR, NEAR_RANKS = 0.1, 0.02
# The lead that is told with 95 % chance over the people of an average candidate, up to which a choice is of use, and of
# some use.
LEADS = (0.2, 0.6)
# The chance of a good choice from which it is of use, and of some use.
CHANCES = (0.9, 0.5)


def expected(plan: SelectionPlan, lead: float, people: int, column: Attribute | None = None) -> Verdict:
    """Before anything is spent. lead: of the best in people, which is told with 95 % chance.

    people: the curator's estimate. Candidates of average size stand for all of them.
    column: that of a quantile, in whose unit its error is said too.
    """
    counted = counted_word(plan.loss.unit.max_rows)
    if plan.score.kind == Quantile.kind:
        share, ratio = lead / people, lead / people * LEADS[0] / NEAR_RANKS
        text = _of_ranks(share, column, counted)
    else:
        average = people / len(plan.candidates)
        ratio = lead / average
        text = _(
            "Finds the better of two 95 %% of the time if it leads by %(lead)s %(counted)s; a typical candidate has "
            "%(average)s."
        )
        text = text % {"lead": rounded(lead), "average": rounded(average), "counted": counted}
    level = level_of(ratio, LEADS)
    return Verdict(level, text, 1.0 if level is VerdictLevel.USEFUL else ratio / LEADS[0])


def without_people(lead: float, counted: str) -> Verdict:
    """Before anything is spent, where the curator made no estimate of their number. counted: what is counted."""
    text = _(
        "Without your estimate of the number of %(counted)s, nobody can say how likely a lead of %(lead)s of them is."
    )
    return Verdict(VerdictLevel.DOUBTFUL, text % {"lead": rounded(lead), "counted": counted})


def _of_ranks(share: float, column: Attribute | None, counted: str) -> str:
    """How far off the value of a quantile may be, as a share of all ranks and in the unit of its column."""
    if share >= 1:
        return _("Any value may be chosen, however far off: noise outweighs all ranks.")
    text = _(
        "Finds the nearer of two values 95 %% of the time if the other is farther off by %(share)s of all %(counted)s."
    )
    sentence = text % {"share": expected_text(share), "counted": counted}
    return f"{sentence} {_in_its_unit(share, column, counted)}".strip()


def _in_its_unit(share: float, column: Attribute | None, counted: str) -> str:
    """What a share of all ranks is between the bounds of a column; nothing where it has none."""
    if isinstance(column, Date):
        unit, span = _("%(number)s days"), float((column.upper - column.lower).days + 1)
    elif isinstance(column, Integer | Real):
        step = 1 if isinstance(column, Integer) else 0
        unit, span = "%(number)s", float(column.upper - column.lower + step)
    else:
        return ""
    bin_width = span / column.regular_size
    text = _(
        "If %(counted)s were spread evenly between the limits of %(column)s, that is a distance of %(far)s in "
        "%(column)s."
    )
    if bin_width > 1:
        text += " " + _("The answer is a bin, which is %(width)s wide on average.")
    far, width = (unit % {"number": rounded(number)} for number in (share * span, bin_width))
    return text % {"counted": counted, "column": column.shown_name, "far": far, "width": width}


def good_chance(plan: SelectionPlan, scores: np.ndarray, chances: np.ndarray, rows: int) -> float:
    """The chance, before it was made, that the first choice is the best or nearly so.

    scores, chances: (candidates,), of the truth. rows: how many were counted.
    """
    is_rank = plan.score.kind == Quantile.kind
    if is_rank:
        # Any candidate that holds the quantile is as good, however deep it lies.
        scores = np.minimum(scores, 0)
    best = int(scores.max())
    near = NEAR_RANKS * rows * plan.score.points_per_row if is_rank else NEAR * abs(best)
    return float(chances[best - scores <= near].sum())


def observed(chance: float) -> Verdict:
    """After measuring; for the curator only."""
    text = _("Before it was made, the chance of the best choice, or one nearly as good, was %(chance)s.")
    level = level_of(1 - chance, (1 - CHANCES[0], 1 - CHANCES[1]))
    return Verdict(level, text % {"chance": percent(chance)})
