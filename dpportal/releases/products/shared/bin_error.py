"""What the declared bins alone do to means of synthetic rows, in words for pages and files."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.translation import gettext as _, ngettext

from dpportal.publications.verdict import rounded
from mechanisms.arrays import Integers
from mechanisms.domain import Date, Domain, Ordered
from mechanisms.synthesis.bin_error import most_mean_error

MOST_NAMED = 8


def in_words(domain: Domain, people: Sequence[Integers] | None = None) -> list[str]:
    """By how much a mean can be off in each column with bins, largest share of its range first: “4,998 in income”.

    people: in each cell of each column, as released; None before anything is. Of many columns the rest is left out.
    """
    known: Sequence[Integers | None] = people or [None] * len(domain.attributes)
    errors = [
        (most_mean_error(a, None if counts is None else counts[: a.regular_size]), a)
        for a, counts in zip(domain.attributes, known, strict=True)
        if isinstance(a, Ordered)
    ]
    return listed(errors)


def listed(errors: Sequence[tuple[float, Ordered]]) -> list[str]:
    """Errors of columns, largest share of its range first; without those that are 0, and of many the first."""
    wrong = sorted(((error / _span(a), error, a) for error, a in errors if error), key=lambda each: -each[0])
    lines = [
        _("%(error)s in %(column)s") % {"error": amount(error, a), "column": a.shown_name}
        for _s, error, a in wrong
    ]
    return lines[:MOST_NAMED] + ["…"] * (len(lines) > MOST_NAMED)


def _span(attribute: Ordered) -> float:
    if isinstance(attribute, Date):
        return float((attribute.upper - attribute.lower).days) or 1.0
    return float(attribute.upper - attribute.lower) or 1.0


def amount(error: float, attribute: Ordered) -> str:
    """An error in the column's unit; of dates in days."""
    if not isinstance(attribute, Date):
        return rounded(error)
    return ngettext("%(number)s day", "%(number)s days", 1 if error == 1 else 2) % {"number": rounded(error)}
