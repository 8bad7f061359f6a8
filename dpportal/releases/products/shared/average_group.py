"""How many people a cell or a group has, before any record is read."""

from __future__ import annotations

import math

from mechanisms.domain import Attribute, Categorical, Domain

# Declared cells of which none can be left out or joined with another without telling nothing.
FEWEST = 2


def is_smallest(plan: object) -> bool:
    """Whether a plan's columns cannot be made fewer cells: one column of two declared values."""
    domain: Domain | None = getattr(plan, "domain", None)
    return domain is not None and len(domain.attributes) == 1 and declared_cells(domain) <= FEWEST


def average_people(people: float, groups: Domain) -> float:
    """Of a cell of average size: declared values share all people, and those for others and for none have nobody."""
    return people / declared_cells(groups)


def declared_cells(domain: Domain) -> int:
    """How many cells are combinations of declared values, none of them for other or missing ones; at least 1."""
    return math.prod(max(1, _declared(attribute)) for attribute in domain.attributes)


def _declared(attribute: Attribute) -> int:
    """How many cells are declared; those for other and missing values are not."""
    if isinstance(attribute, Categorical) and not attribute.closed:
        return len(set(attribute.words or attribute.values))
    return attribute.regular_size
