"""What pages and charts call the cells of a column: those that the portal names itself in the reader's language.

Files have the labels as they are, in every language the same.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.utils.translation import gettext as _

from mechanisms.domain import MISSING_LABEL, OTHER_LABEL, Attribute, Integer

# Whole numbers between these are years, which have no mark of thousands.
FIRST_YEAR, LAST_YEAR = 1800, 2200


def cell_name(label: str) -> str:
    """A label as a reader sees it."""
    return {OTHER_LABEL: _("Other"), MISSING_LABEL: _("Missing")}.get(label, label)


def named(labels: Iterable[str]) -> list[str]:
    """Labels as a reader sees them."""
    own = {label: cell_name(label) for label in (OTHER_LABEL, MISSING_LABEL)}
    return [own.get(label, label) for label in labels]


def cell_names(attribute: Attribute) -> list[str]:
    """Of all cells of a column, in their order."""
    return named(attribute.labels())


def are_years(attribute: Attribute) -> bool:
    """Whether its numbers are, by its limits."""
    return isinstance(attribute, Integer) and FIRST_YEAR <= attribute.lower <= attribute.upper <= LAST_YEAR
