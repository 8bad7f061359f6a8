"""Workloads of linear queries, kept implicit: weighted unions of Kronecker products of simple factors."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import product

import numpy as np

from mechanisms.arrays import Floats
from mechanisms.domain import Domain
from mechanisms.matrix.workload.factor import Factor, Identity, Total

EVERYTHING = "all rows"


def on_axis(tensor: np.ndarray, axis: int, function: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """A function of the first axis applied to any axis."""
    return np.moveaxis(function(np.moveaxis(tensor, axis, 0)), 0, axis)


@dataclass(frozen=True, eq=False)
class Term:
    """One weighted Kronecker product. factors: by axis of the domain; an axis without one is summed over."""

    weight: float
    factors: Mapping[int, Factor]

    @cached_property
    def queries(self) -> int:
        return math.prod(f.queries for f in self.factors.values())

    def all_factors(self, shape: tuple[int, ...]) -> tuple[Factor, ...]:
        """A factor for every axis."""
        return tuple(self.factors.get(axis, Total(n)) for axis, n in enumerate(shape))

    def answers(self, cells: np.ndarray) -> np.ndarray:
        """A tensor of the domain's shape to (q,) answers in C order of the queries.

        Axis after axis, those that shrink the tensor most first.
        """
        factors = self.all_factors(cells.shape)
        for axis in sorted(range(cells.ndim), key=lambda i: factors[i].queries / factors[i].size):
            cells = on_axis(cells, axis, factors[axis].times)
        return cells.ravel()

    def transposed(self, values: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        """Wᵀ y: (q,) values to a tensor of the domain's shape."""
        factors = self.all_factors(shape)
        tensor = values.reshape([f.queries for f in factors])
        for axis in sorted(range(len(shape)), key=lambda i: factors[i].size / factors[i].queries):
            tensor = on_axis(tensor, axis, factors[axis].transposed_times)
        return tensor


@dataclass(frozen=True, eq=False)
class Workload:
    """A union of terms over a domain of the given shape, queries in the order of the terms.

    text: the one-line form, from which the same workload can be read again.
    """

    shape: tuple[int, ...]
    terms: tuple[Term, ...]
    text: str

    @property
    def cells(self) -> int:
        """n, an exact integer however large."""
        return math.prod(self.shape)

    @cached_property
    def queries(self) -> int:
        """Number of queries."""
        return sum(term.queries for term in self.terms)

    def offsets(self) -> Iterator[tuple[Term, slice]]:
        """Each term with the place of its queries among all."""
        start = 0
        for term in self.terms:
            yield term, slice(start, start + term.queries)
            start += term.queries

    @cached_property
    def totals(self) -> tuple[int, ...]:
        """The places of queries that add up all cells, each once, as far as ranges of neighbours ask for them."""
        totals = ((place.start, _total_place(term.all_factors(self.shape))) for term, place in self.offsets())
        return tuple(start + own for start, own in totals if own is not None)

    def answers(self, cells: np.ndarray) -> np.ndarray:
        """(n,) cells to (q,) answers; a term's weight does not scale its answers, only what their error counts."""
        tensor = cells.reshape(self.shape)
        return np.concatenate([term.answers(tensor) for term in self.terms])

    def transposed(self, values: np.ndarray) -> np.ndarray:
        """Wᵀ y, without the terms' weights: (q,) to (n,). For the sum of some answers, 1 at each of them."""
        tensor = np.zeros(self.shape)
        for term, place in self.offsets():
            if values[place].any():
                tensor += term.transposed(values[place], self.shape)
        return tensor.ravel()

    def gram_times(self, cells: np.ndarray) -> np.ndarray:
        """Σ weight² WᵀW x over the terms, (n,) to (n,): what the squared error of the answers weighs."""
        tensor = np.zeros(self.shape)
        for term in self.terms:
            part = cells.reshape(self.shape).astype(np.float64)
            for axis, factor in enumerate(term.all_factors(self.shape)):
                part = on_axis(part, axis, factor.gram_times)
            tensor += term.weight**2 * part
        return tensor.ravel()

    def gram(self) -> np.ndarray:
        """Σ weight² WᵀW over the terms, (n, n) floats."""
        grams = (
            term.weight**2 * reduce(np.kron, [f.gram() for f in term.all_factors(self.shape)])
            for term in self.terms
        )
        return sum(grams, np.zeros((self.cells, self.cells)))

    @cached_property
    def even_sizes(self) -> tuple[float, float]:
        """The median and the smallest of the answers' sizes where every cell holds one row; weighed as their error is.

        Those that are 0 whatever the table's size, such as differences, are passed over; (0, 0) if all are.
        """
        sizes = np.concatenate(
            [
                abs(term.weight)
                * reduce(np.multiply.outer, _even_sizes(term.all_factors(self.shape))).ravel()
                for term in self.terms
            ]
        )
        known = sizes[sizes > 0]
        return (float(np.median(known)), float(known.min())) if known.size else (0.0, 0.0)

    def labels(self, domain: Domain) -> Iterator[str]:
        """Each query in words, such as "age 20–39, sex = Female"."""
        for term in self.terms:
            phrases = [f.phrases(domain.attributes[axis]) for axis, f in sorted(term.factors.items())]
            if not phrases:
                yield EVERYTHING
                continue
            # The first factor's phrases one by one: a single column may have millions of ranges.
            others = list(map(list, phrases[1:]))
            for first in phrases[0]:
                for rest in product(*others):
                    yield ", ".join(filter(None, (first, *rest))) or EVERYTHING

    def marginals(self) -> dict[tuple[int, ...], float] | None:
        """Weight² by set of axes, where every term asks for a whole marginal table; else None."""
        weights: dict[tuple[int, ...], float] = {}
        for term in self.terms:
            if not all(isinstance(f, (Identity, Total)) for f in term.factors.values()):
                return None
            axes = tuple(sorted(axis for axis, f in term.factors.items() if isinstance(f, Identity)))
            weights[axes] = weights.get(axes, 0.0) + term.weight**2
        return weights


def _even_sizes(factors: Iterable[Factor]) -> list[Floats]:
    """Of each factor the sizes of its answers about cells of one row each."""
    return [np.abs(f.times(np.ones(f.size))) for f in factors]


def _total_place(factors: Sequence[Factor]) -> int | None:
    """The place, among a term's queries, of the one over all cells of all columns."""
    places = []
    for factor in factors:
        spans = factor.spans()
        if spans is None or not (full := np.flatnonzero(spans[:, 1] - spans[:, 0] == factor.size)).size:
            return None
        places.append(int(full[0]))
    return int(np.ravel_multi_index(places, [factor.queries for factor in factors]))
