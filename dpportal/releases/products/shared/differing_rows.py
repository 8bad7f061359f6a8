"""Columns in which the rows of one person differ by their nature. The declaration tells; no data is read."""

from __future__ import annotations

from collections.abc import Collection

from dpportal.releases.titles import spoken
from dpportal.tables.meaning.periods import are_periods, names_a_birth, names_a_period
from mechanisms.domain import Attribute, Categorical, Date, Domain


def of_periods(domain: Domain, names: Collection[str]) -> list[str]:
    """Those of the named columns that say when something happened, as readers call them."""
    pairs = zip(domain.attributes, spoken(domain).shown_names, strict=True)
    return [shown for attribute, shown in pairs if attribute.name in names and _says_when(attribute)]


def _says_when(attribute: Attribute) -> bool:
    """Whether it is one of dates, or its name or declared values say when; but not that of a birth, which stays."""
    names = (attribute.name, attribute.shown_name)
    if any(map(names_a_birth, names)):
        return False
    if isinstance(attribute, Categorical) and are_periods(attribute.values):
        return True
    return isinstance(attribute, Date) or any(map(names_a_period, names))
