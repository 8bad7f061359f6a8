"""Workloads of linear queries, kept implicit: weighted unions of Kronecker products of simple factors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np


class Factor(Protocol):
    """Queries over the cells of one column: a (q, n) matrix that is never written down where its structure is known.

    times, transposed_times: along the first axis, (n, k) to (q, k) and back. gram: (n, n), the matrix WᵀW.
    gram_times: (n, k) to (n, k), in linear time where the structure allows it.
    """

    @property
    def size(self) -> int: ...
    @property
    def queries(self) -> int: ...
    def times(self, x: np.ndarray) -> np.ndarray: ...
    def transposed_times(self, y: np.ndarray) -> np.ndarray: ...
    def gram(self) -> np.ndarray: ...
    def gram_times(self, x: np.ndarray) -> np.ndarray: ...


@dataclass(frozen=True)
class Term:
    """One weighted Kronecker product. factors: by axis of the domain; an axis without one is summed over."""

    weight: float
    factors: Mapping[int, Factor]


@dataclass(frozen=True)
class Workload:
    """A union of terms over a domain of the given shape, queries in the order of the terms.

    text: the one-line form, from which the same workload can be read again.
    """

    shape: tuple[int, ...]
    terms: tuple[Term, ...]
    text: str

    @property
    def queries(self) -> int:
        """Number of queries."""
        raise NotImplementedError

    def answers(self, cells: np.ndarray) -> np.ndarray:
        """(n,) cells to (q,) answers; a term's weight does not scale its answers, only what their error counts."""
        raise NotImplementedError

    def marginals(self) -> dict[tuple[int, ...], float] | None:
        """Weight² by set of axes, where every term asks for a whole marginal table; else None."""
        raise NotImplementedError
