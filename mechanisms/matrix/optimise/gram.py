"""What an optimiser asks of a workload over one column: its Gram matrix WᵀW, applied and not written down."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

_CHUNK = 256


class Gram(Protocol):
    """WᵀW of a workload W over `size` cells; a `Factor` is one."""

    @property
    def size(self) -> int: ...

    def gram_times(self, x: np.ndarray) -> np.ndarray: ...


def gram_diagonal(gram: Gram) -> np.ndarray:
    """The diagonal of WᵀW, (n,) floats."""
    diagonal = np.empty(gram.size)
    for first in range(0, gram.size, _CHUNK):
        width = min(_CHUNK, gram.size - first)
        unit = np.eye(gram.size, width, -first)
        diagonal[first : first + width] = np.einsum("ij,ij->j", unit, gram.gram_times(unit))
    return diagonal


@dataclass(frozen=True, eq=False)
class WrittenGram:
    """WᵀW itself, (n, n)."""

    matrix: np.ndarray

    @property
    def size(self) -> int:
        return len(self.matrix)

    def gram_times(self, x: np.ndarray) -> np.ndarray:
        product: np.ndarray = self.matrix @ x
        return product


@dataclass(frozen=True)
class GramBlocks:
    """The same workload asked of blocks of neighbouring cells whose rows are spread evenly over their cells."""

    cells: Gram
    width: int

    @property
    def size(self) -> int:
        return math.ceil(self.cells.size / self.width)

    def gram_times(self, x: np.ndarray) -> np.ndarray:
        spread = np.repeat(x, self.width, axis=0)[: self.cells.size] / self.width
        answers = self.cells.gram_times(spread)
        return np.add.reduceat(answers, np.arange(0, self.cells.size, self.width), axis=0) / self.width
