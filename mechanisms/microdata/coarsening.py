"""Coarser cells for tables of two columns: as many as the noise lets tell apart. Made from noisy counts alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from mechanisms.arrays import Floats, Integers
from mechanisms.domain import Attribute
from mechanisms.microdata.margins import Margins
from mechanisms.microdata.tables import Grouping

FEWEST, MOST = 4, 100


def most_groups_of(cells: int) -> int:
    """How many groups a column of so many cells can have, with one for missing values."""
    return min(MOST + 1, cells)


def groups_for(people: float, deviation: float, coarseness: float) -> int:
    """How many groups of about equally many people a column has; see `group`."""
    return min(MOST, max(FEWEST, round(math.sqrt(coarseness * people / (0.4 * deviation)))))


def group(
    attributes: Sequence[Attribute],
    margins: Margins,
    deviation: float,
    coarseness: float,
    kinds: Mapping[int, Integers] | None = None,
) -> Grouping:
    """Groups for every column: of neighbours where it is ordered, of rare values where it is not.

    deviation: standard error of a count in a table of two columns. coarseness: κ, larger for more groups. kinds: for
    some columns without order (c,) numbers >= 0; rare values of one kind are together.
    """
    groups = groups_for(margins.total, deviation, coarseness)
    return Grouping(
        tuple(
            _grouped(a, c, margins.total / groups, (kinds or {}).get(j, np.zeros(c.size, dtype=np.int64)))
            for j, (a, c) in enumerate(zip(attributes, margins.counts, strict=True))
        )
    )


def _grouped(attribute: Attribute, counts: Floats, mass: float, kinds: Integers) -> Integers:
    regular = attribute.regular_size
    declared = counts[:regular]
    groups = (
        _neighbours(declared, mass)
        if attribute.ordered
        else _rare_together(declared, mass / 4, kinds[:regular])
    )
    missing = np.full(attribute.size - regular, groups.max() + 1)
    return np.concatenate([groups, missing]).astype(np.int64)


def _neighbours(counts: Floats, mass: float) -> Integers:
    """Neighbours merged up to `mass`; a value that alone has as much stands alone."""
    groups, group_, filled = np.zeros(counts.size, dtype=np.int64), 0, 0.0
    for cell, count in enumerate(counts):
        full = filled + count > mass
        if cell and filled and full:
            group_, filled = group_ + 1, 0.0
        filled += count
        groups[cell] = group_
    return groups


def _rare_together(counts: Floats, mass: float, kinds: Integers) -> Integers:
    """Every value of at least `mass` for itself, the others of a kind together."""
    rare = counts < mass
    groups = np.cumsum(~rare) - 1
    groups[rare] = (~rare).sum() + kinds[rare]
    _, numbered = np.unique(groups, return_inverse=True)
    ordered: Integers = numbered.astype(np.int64)
    return ordered
