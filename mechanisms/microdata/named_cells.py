"""Cells by the names that people write: the labels of a column's cells."""

from __future__ import annotations

from collections.abc import Mapping

from mechanisms.domain import Attribute
from mechanisms.protocol import PlanError


def cells_named(attribute: Attribute) -> dict[str, int | None]:
    """The cells by their labels, and by these with the hyphen that a keyboard has; None where two have one label."""
    labels = attribute.labels()
    result: dict[str, int | None] = {}
    for cell, label in enumerate(labels):
        result[label] = None if label in result else cell
    for cell, label in enumerate(labels):
        result.setdefault(label.replace("–", "-"), cell)
    return result


def named_cell(named: Mapping[str, int | None], column: str, label: str) -> int:
    """The cell of a label. Raises PlanError if there is none, or more than one."""
    if label not in named:
        raise PlanError(
            "{column} has no declared value of that name: {label}. Write it as the column's page shows it.",
            column=column,
            label=label,
        )
    cell = named[label]
    if cell is None:
        raise PlanError(
            "{column} has two cells that are called {label}, so nobody can tell which one is meant. Give "
            "the declared value another name on the column's page.",
            column=column,
            label=label,
        )
    return cell
