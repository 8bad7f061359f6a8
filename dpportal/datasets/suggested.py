"""The declaration that a look at a column suggests: not private, and only for who vouches that values are public."""

from __future__ import annotations

from dpportal.platform.json_types import Json
from mechanisms.domain import Attribute, Boolean, Categorical, Date, Integer, Real


def attribute(column: str, result: Json) -> Attribute:
    """result: what `tables.suggest` found."""
    kind = result["kind"]
    if kind == "text":
        return Categorical(column, True, tuple(result["values"]))
    if kind == "boolean":
        return Boolean(column, True)
    if kind == "date":
        return Date(column, True, result["lower"], result["upper"], "month")
    if kind == "integer":
        lower, upper = result["lower"], result["upper"]
        return Integer(column, True, lower, upper, width=max(1, -(-(upper - lower + 1) // 100)))
    return Real(column, True, result["lower"], result["upper"], bins=20)
