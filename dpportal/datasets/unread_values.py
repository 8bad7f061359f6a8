"""Columns of which what is missing or unreadable has no cell of its own, and counts unseen in a declared one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.utils.translation import gettext as _, ngettext

from dpportal.platform.listed_names import listed
from mechanisms.domain import Attribute

# Columns that are named where each has something said of it.
MOST_NAMED = 12


def unread_cells(attributes: Iterable[Attribute]) -> tuple[tuple[str, str], ...]:
    """Each such column as readers see it, with the cell in which such values count."""
    return tuple((a.shown_name, a.labels()[a.takes_unread]) for a in attributes if a.takes_unread is not None)


def unread_text(cells: Sequence[tuple[str, str]]) -> str:
    """Age in “0–4”, income in “0 to 100”: where such values count, of the first columns."""
    places = [_("%(column)s in “%(cell)s”") % {"column": name, "cell": cell} for name, cell in cells]
    more = len(places) - MOST_NAMED
    if more > 0:
        places[MOST_NAMED:] = [
            ngettext("%(count)s more column", "%(count)s more columns", more) % {"count": more}
        ]
    return listed(places)
