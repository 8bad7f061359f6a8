"""People of a made-up table, whose columns are as uneven and as dependent as those of public tables.

Columns' counts come first, then a copula: a column leans on one of a few hidden themes or on an earlier column, weakly
most of the time and now and then so much that one nearly tells the other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from mechanisms.arrays import Floats, Integers
from mechanisms.domain import Attribute, Domain

# Hidden themes, and their correlation with what all of them have in common.
THEMES, COMMON = 3, 0.8
# Of a column: the chance that it leans on an earlier one, and that what it leans on enters folded, both ends alike.
OF_BEFORE, FOLDED = 0.35, 0.15
# Beta laws of how strongly it leans: on a theme, on an earlier column.
ON_THEME, ON_BEFORE = (2.4, 1.2), (1.6, 0.4)
# Of an ordered column: the chances that counts fall from the first cell on, and that one cell has a large part.
FALLING, SPIKE = 0.5, 0.35
# How uneven neighbouring cells of an ordered column are, and the cells of another: standard deviations of logarithms.
ROUGH, UNEVEN = 0.5, (0.2, 1.8)


@dataclass(frozen=True)
class _SimulatedColumn:
    """before: the earlier column that it leans on; None: a theme. lean: how strongly. folded: both ends are alike.

    shares: how people are spread over it.
    """

    before: int | None
    theme: int
    lean: float
    folded: bool
    shares: Floats

    @classmethod
    def simulated_rows(
        cls, place: int, attribute: Attribute, random: np.random.Generator
    ) -> _SimulatedColumn:
        leans_on_column = place > 0 and random.random() < OF_BEFORE
        return cls(
            before=int(random.integers(0, place)) if leans_on_column else None,
            theme=int(random.integers(0, THEMES)),
            lean=random.beta(*(ON_BEFORE if leans_on_column else ON_THEME)),
            folded=random.random() < FOLDED,
            shares=_shares(attribute, random),
        )


def simulated_rows(domain: Domain, people: int, random: np.random.Generator) -> Integers:
    """(people, d) cells. However many people there are, they come from the same population."""
    columns = [
        _SimulatedColumn.simulated_rows(place, attribute, random)
        for place, attribute in enumerate(domain.attributes)
    ]
    common = random.standard_normal(people)
    themes = COMMON * common + np.sqrt(1 - COMMON**2) * random.standard_normal((THEMES, people))
    hidden: list[Floats] = []
    rows = np.empty((people, len(columns)), dtype=np.int64)
    for place, column in enumerate(columns):
        source = themes[column.theme] if column.before is None else hidden[column.before]
        if column.folded:
            source = ndtri(np.abs(2 * ndtr(source) - 1))
        own = np.sqrt(1 - column.lean**2) * random.standard_normal(people)
        hidden.append(column.lean * source + own)
        rows[:, place] = _cells(hidden[place], column.shares)
    return rows


def _cells(hidden: Floats, of_cells: Floats) -> Integers:
    """The cells of hidden normal numbers: the lowest part of them in the first cell."""
    ends = of_cells.cumsum() / of_cells.sum()
    position = np.searchsorted(ends, ndtr(hidden), side="right")
    cells: Integers = np.minimum(position, of_cells.size - 1)
    return cells


def _shares(attribute: Attribute, random: np.random.Generator) -> Floats:
    """How people are spread over a column."""
    regular = attribute.regular_size
    of_values = _in_order(regular, random) if attribute.ordered else _in_none(regular, random)
    absent = random.beta(0.5, 4, attribute.size - regular)
    return np.concatenate([of_values / of_values.sum() * (1 - absent.sum()), absent])


def _in_order(size: int, random: np.random.Generator) -> Floats:
    places = (np.arange(size) + 0.5) / size
    if random.random() < FALLING:
        heights = np.exp(-places / np.exp(random.uniform(np.log(0.05), np.log(0.6))))
    else:
        heights = np.exp(-(((places - random.uniform(0.1, 0.9)) / random.uniform(0.1, 0.5)) ** 2) / 2)
    heights = heights * np.exp(ROUGH * random.standard_normal(size))
    if random.random() < SPIKE:
        cell = 0 if random.random() < 0.7 else int(random.integers(0, size))
        heights[cell] += heights.sum() * random.uniform(0.3, 5)
    shares: Floats = heights / heights.sum()
    return shares


def _in_none(size: int, random: np.random.Generator) -> Floats:
    heights = np.exp(random.uniform(*UNEVEN) * random.standard_normal(size))
    shares: Floats = heights / heights.sum()
    return shares
