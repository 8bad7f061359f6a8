"""A coarser column beside a declared one: a second declaration of the same column of the table, whose cells are unions
of the finer one's. Age in years and age groups; sixteen codes of education and three levels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from django.utils.translation import gettext as _

from dpportal.platform.json_types import Json
from mechanisms.domain import Attribute, Categorical, Date, DomainError, Integer, Real

A = TypeVar("A", bound=Attribute)
# Calendar steps that whole periods of each step make up; a month has no whole weeks.
COARSER_STEPS: Mapping[str, tuple[str, ...]] = {
    "day": ("week", "month", "quarter", "year"),
    "month": ("quarter", "year"),
    "quarter": ("year",),
}


def can_be_coarser(attribute: Attribute) -> bool:
    """Whether there is anything to put together."""
    if isinstance(attribute, Date):
        return attribute.step in COARSER_STEPS
    return isinstance(attribute, Categorical | Integer | Real) and attribute.regular_size > 1


def by_groups(finer: Categorical, name: str, groups: Sequence[str]) -> Categorical:
    """groups: what each value of the finer column is called in the coarser one, in its order. Raises DomainError."""
    return _coarser_column(finer, name, words=tuple(groups))


def by_edges(finer: Integer | Real, name: str, edges: Sequence[float]) -> Attribute:
    """edges: those of the finer column that stay, its bounds among them. Raises DomainError."""
    known: set[float]
    if isinstance(finer, Integer):
        known = {*finer.starts, finer.upper}
        divided: Json = {"width": 1}
    else:
        known, divided = set(finer.all_edges), {"bins": 1}
    if not set(edges) <= known:
        raise DomainError(
            _(
                "Every edge must be one of the finer column, %(column)s: there a bin begins, or the last one ends."
            )
            % {"column": finer.name}
        )
    return _coarser_column(finer, name, edges=tuple(edges), single_values=(), **divided)


def by_step(finer: Date, name: str, step: str) -> Attribute:
    """step: a longer calendar step. Raises DomainError."""
    if step not in COARSER_STEPS.get(finer.step, ()):
        raise DomainError(_("Choose a longer step, which holds whole periods of the finer one."))
    return _coarser_column(finer, name, step=step)


def _coarser_column(finer: A, name: str, **changed: Any) -> A:
    """The coarser column; what fits nothing goes where the cell that takes it now is."""
    coarser = replace(finer, name=name, title="", source=finer.column, misfits_to=None, **changed)
    if coarser.regular_size >= finer.regular_size:
        raise DomainError(_("The new column has as many cells as the finer one. Put some of them together."))
    if finer.misfits_to is None:
        return coarser
    return replace(coarser, misfits_to=_place(finer, coarser, finer.misfits_to))


def _place(finer: Attribute, coarser: Attribute, cell: int) -> int:
    """The cell of the coarser column that holds a cell of the finer one."""
    if isinstance(finer, Categorical):
        assert isinstance(coarser, Categorical)
        return coarser.places[finer.places.index(cell)]
    assert isinstance(finer, Integer | Real | Date) and isinstance(coarser, Integer | Real | Date)
    first: Any = finer.start(cell)
    return next(place for place in range(coarser.regular_size - 1, -1, -1) if coarser.start(place) <= first)
