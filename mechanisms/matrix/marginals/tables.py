"""From marginal tables to residuals and back: vectorised over sets of columns of equal shape."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from mechanisms.arrays import Integers
from mechanisms.matrix.marginals.sets import Axes, MarginalSets

# The estimated residuals of some sets of equal shape, by their places among the closed sets: (k, *shape).
Residuals = Callable[[np.ndarray], np.ndarray]


def integer_residuals(tables: np.ndarray) -> np.ndarray:
    """(k, n_1, ..., n_r) int64 to the same shape: n_j I - J along each axis, which is n_j times the projection P."""
    for axis in range(1, tables.ndim):
        tables = tables.shape[axis] * tables - tables.sum(axis=axis, keepdims=True)
    return tables


def projected(tables: np.ndarray) -> np.ndarray:
    """(k, n_1, ..., n_r) floats less their means along each axis in turn: P ⊗ ... ⊗ P."""
    for axis in range(1, tables.ndim):
        tables = tables - tables.mean(axis=axis, keepdims=True)
    return tables


def gathered(values: np.ndarray, sets: MarginalSets, places: Integers) -> np.ndarray:
    """The tables of sets of equal shape, (k, *shape), out of all tables one after the other."""
    shape = sets.table_shape(sets.sets[places[0]])
    return values[sets.starts[places][:, None] + np.arange(math.prod(shape))].reshape(-1, *shape)


def assembled(tables: MarginalSets, closed: MarginalSets, residuals: Residuals) -> Iterator[np.ndarray]:
    """The tables' cells from residuals, consistent with each other: (k, cells) for each batch of `tables`."""
    for batch in tables.batches():
        total = np.zeros((batch.count, *batch.shape))
        for own_axes, places in tables.places(batch, closed):
            total += spread(residuals(places), own_axes, batch.shape)
        yield total.reshape(batch.count, -1)


def spread(residuals: np.ndarray, own_axes: Axes, shape: tuple[int, ...]) -> np.ndarray:
    """Residuals over some axes shared out evenly along the others: (k, *kept shape), to be broadcast to (k, *shape)."""
    others = math.prod(n for j, n in enumerate(shape) if j not in own_axes)
    wide = tuple(n if j in own_axes else 1 for j, n in enumerate(shape))
    return residuals.reshape(len(residuals), *wide) / others


def least_squares_cells(closed: MarginalSets, residuals: Residuals) -> np.ndarray:
    """(n,) cells whose residuals are the given ones, and zero where none was measured."""
    cells = np.zeros((1, *closed.shape))
    for place, axes in enumerate(closed.sets):
        cells += spread(residuals(np.array([place])), axes, closed.shape)
    return cells.ravel()
