"""Matrices whose rows are zero outside a window of neighbouring columns, a few rows sharing a window."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mechanisms.arrays import Integers


@dataclass(frozen=True)
class Window:
    """Rows `top`..`bottom`-1 are free in the columns `left`..`right`-1."""

    top: int
    bottom: int
    left: int
    right: int

    @property
    def shape(self) -> tuple[int, int]:
        return self.bottom - self.top, self.right - self.left

    def below(self, rows: int) -> Window:
        """The same window under so many further rows."""
        return Window(self.top + rows, self.bottom + rows, self.left, self.right)


@dataclass(frozen=True)
class Windows:
    """The windows of a (p, n) matrix Θ, from its first row to its last. Its values are kept window after window."""

    columns: int
    windows: tuple[Window, ...]

    @property
    def rows(self) -> int:
        return self.windows[-1].bottom

    @cached_property
    def _places(self) -> list[tuple[Window, slice[int, int, None]]]:
        places: list[tuple[Window, slice[int, int, None]]] = []
        start = 0
        for window in self.windows:
            stop = start + window.shape[0] * window.shape[1]
            places.append((window, slice(start, stop)))
            start = stop
        return places

    @property
    def size(self) -> int:
        """The number of values."""
        return self._places[-1][1].stop

    def _parts(self, values: np.ndarray) -> Iterator[tuple[Window, np.ndarray]]:
        for window, place in self._places:
            yield window, values[place].reshape(window.shape)

    def matrix(self, values: np.ndarray) -> np.ndarray:
        """Θ, (p, n)."""
        theta = np.zeros((self.rows, self.columns))
        for window, part in self._parts(values):
            theta[window.top : window.bottom, window.left : window.right] = part
        return theta

    def values(self, theta: np.ndarray) -> np.ndarray:
        """The entries of a (p, n) matrix inside the windows."""
        return self._gather(lambda w: theta[w.top : w.bottom, w.left : w.right])

    def times_transposed(self, matrix: np.ndarray, values: np.ndarray) -> np.ndarray:
        """M Θᵀ for M of (m, n): (m, p)."""
        out = np.empty((len(matrix), self.rows))
        for window, part in self._parts(values):
            out[:, window.top : window.bottom] = matrix[:, window.left : window.right] @ part.T
        return out

    def products(self, tall: np.ndarray, square: np.ndarray) -> np.ndarray:
        """The entries of (M Q)ᵀ inside the windows, for M of (n, p) and Q of (p, p)."""
        return self._gather(lambda w: square[:, w.top : w.bottom].T @ tall[w.left : w.right].T)

    @cached_property
    def _columns(self) -> Integers:
        """(values,) the column that each value is in."""
        return self._gather(lambda w: np.broadcast_to(np.arange(w.left, w.right), w.shape)).astype(np.int64)

    def column_sums(self, values: np.ndarray) -> np.ndarray:
        """(n,) sums of the values by column."""
        return np.bincount(self._columns, weights=values, minlength=self.columns)

    def spread(self, row: np.ndarray) -> np.ndarray:
        """The values of the matrix all of whose rows are the given one."""
        everywhere: np.ndarray = row[self._columns]
        return everywhere

    def _gather(self, part: Callable[[Window], np.ndarray]) -> np.ndarray:
        out = np.empty(self.size)
        for window, place in self._places:
            out[place].reshape(window.shape)[...] = part(window)
        return out
