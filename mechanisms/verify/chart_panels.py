"""Counts of three columns and more, in the orders in which small charts of them may show them.

Along one column, for each value of a second one a panel, for each of a third one a line or bars; what further columns
say is added up. A chart leaves out cells that the portal added and that perhaps hold nobody.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations

import numpy as np

from mechanisms.domain import Attribute, Categorical, Domain
from mechanisms.verify.chart_orders import MOST_SIDE_BY_SIDE, largest_places

# Panels of a page, groups in each, cells along a chart, and of a table.
_PANELS, _GROUPS, _ALONG, _CELLS = 14, 12, 400, 2**17


def shown_numbers(domain: Domain, noisy: np.ndarray) -> Iterator[np.ndarray]:
    """noisy: (domain.size,) estimates. One array for each line or bars that a chart may have."""
    if len(domain.shape) < 3 or noisy.size != domain.size or domain.size > _CELLS:
        return
    box = noisy.reshape(domain.shape)
    for axes in permutations(range(len(domain.shape)), 3):
        if domain.shape[axes[0]] <= _ALONG:
            others = tuple(axis for axis in range(box.ndim) if axis not in axes)
            table = np.round(box.sum(axis=others)).transpose([sorted(axes).index(axis) for axis in axes])
            yield from lines([domain.attributes[axis] for axis in axes], table)


def lines(attributes: Sequence[Attribute], table: np.ndarray) -> Iterator[np.ndarray]:
    """table: (cells along, groups, panels), of three columns."""
    along, by, apart = map(without_own, attributes)
    chosen = np.argsort(-table.sum(axis=(0, 2)), kind="stable")[:_GROUPS]
    for panel in range(min(_PANELS, table.shape[2])):
        for group in chosen:
            yield from (table[places, group, panel] for places in along)
    if attributes[0].ordered:
        return
    for places in along:
        for groups in by:
            for panels in apart:
                cells_shown = table[np.ix_(places, groups, panels)]
                orders = {
                    tuple(largest_places(cells_shown.sum(axis=(1, 2)), few))
                    for few in range(1, MOST_SIDE_BY_SIDE + 1)
                }
                for order in orders:
                    own = table[places[list(order)]]
                    yield from (own[:, group, panel] for group in chosen for panel in panels[:_PANELS])


def without_own(attribute: Attribute) -> list[np.ndarray]:
    """The places of the cells that are drawn: all, or without one or both of those that the portal added."""
    undeclared = attribute.undeclared if isinstance(attribute, Categorical) else None
    missing = attribute.regular_size if attribute.missing_cell else None
    own = [cell for cell in (undeclared, missing) if cell is not None]
    every = np.arange(attribute.size)
    left_out = [[], *([cell] for cell in own), *([own] if len(own) > 1 else [])]
    return [remaining for cells in left_out if (remaining := np.setdiff1d(every, cells)).size]
