"""The declared domain: what is publicly known about each column, as a finite list of cells.

A domain is a value. It never sees data: every cell exists because a curator declared it. A value outside
the declaration goes to the nearest bound (ordered columns) or to the "other" cell (categories); a missing
or unreadable value goes to a cell of its own or to the "other" cell. A closed column has no cell for what does
not fit: such a row goes where the curator says, or is left out of the count as if it were not there.
"""

from mechanisms.domain.attribute import MISSING_LABEL, Attribute, DomainError
from mechanisms.domain.categories import OTHER_LABEL, Boolean, Categorical
from mechanisms.domain.ordered import MAX_INTEGER, MAX_SINGLE_VALUES, STEPS, Date, Integer, Ordered, Real
from mechanisms.domain.product import Domain, attribute_from_json

__all__ = [
    "MAX_INTEGER",
    "MAX_SINGLE_VALUES",
    "MISSING_LABEL",
    "OTHER_LABEL",
    "STEPS",
    "Attribute",
    "Boolean",
    "Categorical",
    "Date",
    "Domain",
    "DomainError",
    "Integer",
    "Ordered",
    "Real",
    "attribute_from_json",
]
