"""Cells of a column as steps of equal width, so that the heights of their shares can be compared."""

from __future__ import annotations

import numpy as np

from mechanisms.arrays import Floats

# As many as a picture has room for, where cells have different widths.
MOST_STEPS = 48
# Cells whose widths differ by no more than this, as months do, are added up as they are.
NEARLY_EQUAL = 1.2


def equal_steps(edges: Floats, most: int) -> tuple[Floats, Floats]:
    """At most so many steps: their edges, (steps + 1,), and how much of each cell lies in each, (steps, cells).

    edges: (cells + 1,) where each cell begins and the last one ends; a single value may have no width. Values are
    spread evenly over a cell that several steps share; a single value lies in the step that it begins. The last step
    is as wide as the others, and may so end beyond the last cell.
    """
    widths = np.diff(edges)
    if widths.max() <= NEARLY_EQUAL * widths.min():
        return _added_up(edges, -(-len(widths) // most))
    steps = np.linspace(edges[0], edges[-1], min(most, MOST_STEPS) + 1)
    begins, ends = np.maximum.outer(steps[:-1], edges[:-1]), np.minimum.outer(steps[1:], edges[1:])
    parts = np.maximum(ends - begins, 0) / np.where(widths > 0, widths, 1)
    single = np.flatnonzero(widths <= 0)
    places = np.clip(np.searchsorted(steps, edges[single], side="right") - 1, 0, len(steps) - 2)
    parts[:, single] = 0
    parts[places, single] = 1
    return steps, parts


def _added_up(edges: Floats, together: int) -> tuple[Floats, Floats]:
    """Neighbours, so many together."""
    cells = len(edges) - 1
    begins = np.arange(0, cells, together)
    last = edges[-1] if cells % together == 0 else edges[begins[-1]] + edges[together] - edges[0]
    parts = np.equal.outer(np.arange(len(begins)), np.arange(cells) // together).astype(np.float64)
    return np.append(edges[begins], last), parts
