"""Shares of the cells of a column as those of steps of equal width, so that heights can be compared."""

from __future__ import annotations

import numpy as np

from mechanisms.arrays import Floats

MOST_STEPS = 48
# Cells whose widths differ by no more than this, as months do, are steps as they are.
NEARLY_EQUAL = 1.2


def steps_of_equal_width(edges: Floats, shares: Floats) -> tuple[Floats, Floats]:
    """At most MOST_STEPS steps: their edges, and the share of each.

    edges: (cells + 1,) where each cell begins and the last one ends; a single value may have no width.
    """
    widths = np.diff(edges)
    if widths.max() <= NEARLY_EQUAL * widths.min():
        begins = np.arange(0, len(shares), -(-len(shares) // MOST_STEPS))
        return np.append(edges[begins], edges[-1]), np.add.reduceat(shares, begins)
    steps = np.linspace(edges[0], edges[-1], MOST_STEPS + 1)
    # Values are evenly spread over a cell; a single value lies in the step that it begins.
    single = widths <= 0
    wide = np.append(0.0, np.cumsum(np.where(single, 0.0, shares)))
    heights = np.diff(np.interp(steps, edges, wide))
    places = np.clip(np.searchsorted(steps, edges[:-1][single], side="right") - 1, 0, MOST_STEPS - 1)
    np.add.at(heights, places, shares[single])
    return steps, heights
