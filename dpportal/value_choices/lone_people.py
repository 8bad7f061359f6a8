"""What a δ means for values that one person alone has: some are kept by chance."""

from __future__ import annotations

from fractions import Fraction

from django.utils.translation import gettext as _

from mechanisms.partition_selection.choosing import ValueChoicePlan

# Above it a large table may well lose a value that one person alone has, whatever its ε.
LARGE = Fraction(1, 100_000)
SMALL_TEXT = "0.000000001"


def keeping_odds(plan: ValueChoicePlan) -> str:
    """How often such a value is kept; a person's values share δ, so it is rarer where each may have several."""
    text = _(
        "By chance, one in %(number)s values that only one person has is published: that is what δ means."
    )
    return text % {"number": f"{_one_in(plan):,}"}


def warning(plan: ValueChoicePlan, people: int | None) -> str:
    """Why this δ is too large; empty if it is not. people: the curator's last estimate of their number."""
    if people and plan.loss.delta > Fraction(1, people):
        text = _(
            "This δ is too large. If each of about %(people)s people had a value of their own, about %(number)s of "
            "these values would be published. Choose a smaller one, such as %(small)s."
        )
        expected = max(1, people // _one_in(plan))
        return text % {"people": f"{people:,}", "number": f"{expected:,}", "small": SMALL_TEXT}
    if plan.loss.delta > LARGE:
        text = _(
            "This δ is large. Where many people have a value of their own, some of these values would be published. "
            "Choose a smaller one, such as %(small)s."
        )
        return text % {"small": SMALL_TEXT}
    return ""


def _one_in(plan: ValueChoicePlan) -> int:
    """One of so many is kept: the chance of the first person is δ of one coin, whatever ε is."""
    return plan.delta.denominator // plan.delta.numerator
