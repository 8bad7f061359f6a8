"""Counts made small enough for a chart: neighbouring cells merged, further columns summed over."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from dpportal.charts.cell_names import cell_names
from mechanisms.arrays import RUN, let_go
from mechanisms.domain import Attribute, Domain

LABELLED_CELLS = 100_000
"""Above so many cells a column's labels are not written out; its merged cells are named by their numbers."""

CountSeries = Mapping[str, np.ndarray]


def shaped(domain: Domain, series: Mapping[str, np.ndarray | None]) -> dict[str, np.ndarray]:
    """Each series as an array of the domain's shape; those that are None are left out.

    Raises ValueError if a series has not one count for each cell.
    """
    present = {name: np.asarray(counts) for name, counts in series.items() if counts is not None}
    for name, counts in present.items():
        if counts.size != domain.size:
            raise ValueError(f"{name} must have {domain.size} counts, got {counts.size}")
    return {name: counts.reshape(domain.shape) for name, counts in present.items()}


def merged(counts: np.ndarray, widths: Sequence[int]) -> np.ndarray:
    """Sum runs of neighbouring cells: `widths[i]` cells of axis i become one, the last run may be shorter."""
    for axis, width in enumerate(widths):
        if width > 1 and axis == 0:
            counts = np.stack([slab.sum(axis=0) for slab in _slabs(counts, width)])
        elif width > 1:
            counts = np.add.reduceat(counts, np.arange(0, counts.shape[axis], width), axis=axis)
    return counts


def _slabs(counts: np.ndarray, width: int) -> Iterator[np.ndarray]:
    """So many neighbours of the first axis at a time; of counts in a file only these are in memory."""
    for first in range(0, len(counts), width):
        yield counts[first : first + width]
        let_go(counts)


def merged_labels(attribute: Attribute, width: int, size: int) -> list[str]:
    """Labels of a column's first `size` cells when runs of `width` neighbours are one."""
    runs = [(first, min(first + width, size) - 1) for first in range(0, size, width)]
    if size > LABELLED_CELLS:
        return [f"{first + 1:,}–{last + 1:,}" for first, last in runs]
    labels = cell_names(attribute)
    return [labels[a] if a == b else f"{labels[a]} … {labels[b]}" for a, b in runs]


def widths_within(shape: Sequence[int], limit: int) -> tuple[int, ...]:
    """How many neighbours to merge on each axis so that at most `limit` cells remain.

    The axis with most cells gives way first, by halves.
    """
    widths = [1] * len(shape)
    remain = list(shape)
    while math.prod(remain) > limit:
        axis = remain.index(max(remain))
        widths[axis] *= 2
        remain[axis] = -(-shape[axis] // widths[axis])
    return tuple(widths)


def axes_and_panels(shape: Sequence[int], panels: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Which axes a chart in small multiples is drawn over, and which make its panels.

    The two largest axes are drawn (in declared order); of the others, the smallest first make panels, as long
    as there are at most `panels` of them. What is in neither is summed over.
    """
    by_size = sorted(range(len(shape)), key=lambda axis: shape[axis])
    chosen: list[int] = []
    for axis in by_size[:-2]:
        if math.prod(shape[i] for i in [*chosen, axis]) <= panels:
            chosen.append(axis)
    return tuple(sorted(by_size[-2:])), tuple(sorted(chosen))


def marginal(series: CountSeries, axes: Sequence[int]) -> dict[str, np.ndarray]:
    """Sum each series over all axes but these; the result's axes are in the order given."""
    return {name: _marginal(counts, axes) for name, counts in series.items()}


def _marginal(counts: np.ndarray, axes: Sequence[int]) -> np.ndarray:
    rest = tuple(axis for axis in range(counts.ndim) if axis not in axes)
    remaining = sorted(axes)
    if rest:
        width = max(1, RUN * len(counts) // counts.size)
        sums = [slab.sum(axis=rest) for slab in _slabs(counts, width)]
        counts = np.sum(sums, axis=0) if 0 in rest else np.concatenate(sums)
    return counts.transpose([remaining.index(axis) for axis in axes])
