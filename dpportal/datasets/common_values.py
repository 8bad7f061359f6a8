"""Values of a column of numbers that may be common, by its declaration alone; the data have no say in it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dpportal.datasets.progressions import ELLIPSIS, number_text
from mechanisms.domain import MAX_SINGLE_VALUES, Attribute, Integer, Real
from mechanisms.number_text import number_written

_TOP_CODE = re.compile(r"9{2,}|10{2,}")
# Beyond so many round numbers their cells' noise would hide more than they show.
MOST_ROUND = 25


def common_values(attribute: Attribute | None) -> list[str]:
    """Values that are often common in such a column, and share a cell as it is declared: 0, and a top code.

    A bound such as 99, 9999 or 100000 may stand for all that is larger.
    """
    if not isinstance(attribute, Integer | Real):
        return []
    ends = [0, attribute.upper] if _TOP_CODE.fullmatch(number_text(attribute.upper)) else [0]
    within = [value for value in ends if attribute.lower <= value <= attribute.upper]
    return [number_text(value) for value in within if _shares_cell(attribute, value)]


def with_own_cells(attribute: Attribute | None, texts: Sequence[str]) -> Attribute | None:
    """The declaration with cells of their own for those values that it can hold; None of a column without numbers."""
    if not isinstance(attribute, Integer | Real):
        return None
    exact = [value for value in map(number_written, texts) if value is not None]
    within = {_typed(attribute, value) for value in exact if attribute.lower <= value <= attribute.upper}
    singles = sorted({*attribute.single_values, *(v for v in within if v in exact)})
    return replace(attribute, single_values=tuple(singles[:MAX_SINGLE_VALUES]))


@dataclass(frozen=True)
class RoundNumbers:
    """Numbers to which people may round. text: as a form takes them. count: how many there are."""

    step: str
    text: str
    count: int


def round_numbers(attribute: Attribute | None) -> RoundNumbers | None:
    """Multiples of the largest of 1, 5, 10, 50 … (of decimals also .5, .1 …) that is no wider than a bin.

    None where every value has a cell, where these would be fewer than three or too many, and where one of them that is
    no bound has a cell already: then somebody has thought of them.
    """
    if not isinstance(attribute, Integer | Real) or attribute.size < 2:
        return None
    step = _round_step(_bin_width(attribute))
    if isinstance(attribute, Integer):
        if attribute.regular_size > attribute.upper - attribute.lower:
            return None
        # Every whole number is round to nobody: of bins of two to four values, multiples of five may be.
        step = max(step, Fraction(5))
    values = _multiples(attribute, step)
    inner = {*values} - {0, attribute.lower, attribute.upper}
    if (
        len(values) < 3
        or inner & {*attribute.single_values}
        or not any(_shares_cell(attribute, v) for v in values)
    ):
        return None
    start, second, end = (number_text(values[place]) for place in (0, 1, -1))
    return RoundNumbers(
        number_text(_typed(attribute, step)), f"{start} {second} {ELLIPSIS} {end}", len(values)
    )


def _multiples(attribute: Integer | Real, step: Fraction) -> list[int | float]:
    """Those within the bounds; none where they are too many."""
    first, last = -(-_exact(attribute.lower) // step), _exact(attribute.upper) // step
    if last - first >= MOST_ROUND:
        return []
    return [_typed(attribute, step * place) for place in range(first, last + 1)]


def _bin_width(attribute: Integer | Real) -> Fraction:
    """Of bins between the curator's own edges the mean one."""
    span = _exact(attribute.upper) - _exact(attribute.lower)
    if attribute.edges:
        return span / (len(attribute.edges) - 1)
    return Fraction(attribute.width) if isinstance(attribute, Integer) else span / attribute.bins


def _round_step(width: Fraction) -> Fraction:
    """The largest of 1, 5, 10, 50 … and .5, .1 … that is no larger; width: above 0."""
    ten = Fraction(1)
    while ten > width:
        ten /= 10
    while ten * 10 <= width:
        ten *= 10
    return 5 * ten if 5 * ten <= width else ten


def _exact(number: float) -> Fraction:
    return Fraction(repr(number))


def _typed(attribute: Integer | Real, value: Fraction) -> int | float:
    return int(value) if isinstance(attribute, Integer) else float(value)


def _shares_cell(attribute: Integer | Real, value: float) -> bool:
    cell = max(0, bisect_right(range(attribute.regular_size), value, key=attribute.start) - 1)
    low, high = attribute.bounds(cell)
    return low < high
