"""Tables of single cells from those of groups: ratios to independence change gradually along an ordered column."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechanisms.arrays import Floats, Integers
from mechanisms.domain import Attribute
from mechanisms.microdata.impossible import Impossible
from mechanisms.microdata.margins import Margins
from mechanisms.microdata.tables import Grouping

_TINY = 1e-12


def refined(
    attributes: Sequence[Attribute],
    grouping: Grouping,
    margins: Margins,
    model: Floats,
    impossible: Impossible,
) -> Floats:
    """Shares of all pairs of cells, (C, C), C cells of all columns, from those of groups, (S, S).

    Each group's mean ratio of the model to independence is placed at its centre of mass and interpolated between
    neighbouring groups of an ordered column; inside the blocks of two groups the sums stay the model's. What cannot
    occur is 0.
    """
    between = [
        _interpolation(a, g, c) for a, g, c in zip(attributes, grouping.groups, margins.counts, strict=True)
    ]
    shares = [margins.shares(j) for j in range(len(between))]
    starts = np.concatenate([[0], np.cumsum([s.size for s in shares])])
    cells = np.zeros((starts[-1], starts[-1]))
    for a in range(len(between)):
        for b in range(a):
            block = model[grouping.place(a), grouping.place(b)]
            own, other = (grouping.vector(shares[j], j) for j in (a, b))
            ratio = block / np.maximum(np.outer(own, other), _TINY)
            fine = between[a] @ ratio @ between[b].T * np.outer(shares[a], shares[b])
            for x, y in impossible.cells.get((b, a), ()):
                fine[y, x] = 0
            sums = grouping.table(fine, (a, b))
            scale = block / np.maximum(sums, _TINY)
            fine *= scale[grouping.groups[a]][:, grouping.groups[b]]
            cells[starts[a] : starts[a + 1], starts[b] : starts[b + 1]] = fine
            cells[starts[b] : starts[b + 1], starts[a] : starts[a + 1]] = fine.T
    return cells


def _interpolation(attribute: Attribute, groups: Integers, counts: Floats) -> Floats:
    """(cells, groups): how much of each group's ratio a cell takes; its own group's alone where there is no order."""
    own = np.zeros((groups.size, int(groups.max()) + 1))
    own[np.arange(groups.size), groups] = 1
    regular = attribute.regular_size
    if not attribute.ordered or groups[:regular].max() == 0:
        return own
    weights = np.maximum(counts[:regular], _TINY)
    mass = np.bincount(groups[:regular], weights)
    centres = np.bincount(groups[:regular], weights * np.arange(regular)) / mass
    place = np.interp(np.arange(regular), centres, np.arange(centres.size))
    lower = np.minimum(place.astype(np.int64), centres.size - 2)
    own[:regular] = 0
    own[np.arange(regular), lower] = 1 - (place - lower)
    own[np.arange(regular), lower + 1] = place - lower
    return own
