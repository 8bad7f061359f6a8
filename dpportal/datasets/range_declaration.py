"""A declaration made of a column's range in the data, for a curator who vouches that it is public."""

from __future__ import annotations

from dpportal.platform.json_types import Json
from dpportal.platform.visible_text import hidden_sign
from mechanisms.domain import Attribute, Boolean, Categorical, Date, Integer, Real


def attribute_of_range(column: str, result: Json) -> Attribute:
    """result: as `tables.suggest` gives it."""
    kind = result["kind"]
    if kind == "text":
        # What has a sign that nobody sees can be declared with a label alone.
        shown = (value for value in result["values"] if not hidden_sign(value, has_lines=True))
        return Categorical(column, True, tuple(shown))
    if kind == "boolean":
        return Boolean(column, True)
    if kind == "date":
        return Date(column, True, result["lower"], result["upper"], "month")
    if kind == "integer":
        lower, upper = result["lower"], result["upper"]
        return Integer(column, True, lower, upper, width=max(1, -(-(upper - lower + 1) // 100)))
    return Real(column, True, result["lower"], result["upper"], bins=20)
