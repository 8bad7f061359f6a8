"""Strategies that are searched for over all cells together: unions with a share for each term, and low rank."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from typing import ClassVar

import numpy as np

from mechanisms.accounting import Definition
from mechanisms.domain import Domain
from mechanisms.matrix.fixed_strategies import as_rows, strategy_of_rows, too_many_cells, union_too_large
from mechanisms.matrix.mechanism import Optimised, SearchProgress
from mechanisms.matrix.optimise.gaussian import gaussian_optimum
from mechanisms.matrix.optimise.low_rank import low_rank
from mechanisms.matrix.optimise.p_identity import DENSE, p_identity, weights_of
from mechanisms.matrix.optimise.shares import best_shares
from mechanisms.matrix.optimise.spectrum import MAX_UNSTRUCTURED
from mechanisms.matrix.searched import SearchedStrategy
from mechanisms.matrix.strategy.grid import BITS, bits_for
from mechanisms.matrix.strategy.product import Kronecker, Stacked, Strategy
from mechanisms.matrix.strategy.weights import MatrixRows
from mechanisms.matrix.workload.factor import Factor, Identity, Total
from mechanisms.matrix.workload.union import Term, Workload
from mechanisms.refusal import Wording

# Terms up to which each may have a strategy of its own.
MAX_TERMS = 64
# Cells for each further sum of a part's p-Identity, where more of them than are best by themselves are tried.
_CLOSER = 7
# Dimensions of a workload, and entries written out, up to which a low-rank strategy is searched in minutes.
MAX_RANK, _MAX_ENTRIES = 256, 2**23


class SplitUnionStrategy(SearchedStrategy):
    """A product of searched strategies for every term of a union, each with the share that suits its error.

    With a share a_t of the column norm a term's error is E_t/a_t². Where the L1 norms add up (Laplace) shares in
    proportion to E_t^⅓ are best, where the squares of the L2 norms do (Gaussian), squares in proportion to E_t^½. All
    sums are reconciled together, which only lowers the error, and makes other shares the best: from those on they are
    searched for. Source: McKenna et al. 2018 (HDMM), section 6.
    """

    name: ClassVar[str] = "split-union"
    title: ClassVar[str] = "A strategy for each part"
    summary: ClassVar[str] = (
        "Searches a strategy for every part of the workload, and measures each with the share that suits it."
    )

    def refusal(self, domain: Domain, workload: Workload, definition: Definition) -> str:
        refusal = super().refusal(domain, workload, definition)
        if refusal := refusal or union_too_large(workload, _sums(workload)):
            return refusal
        if not 1 < len(workload.terms) <= MAX_TERMS:
            return Wording(
                "{title} is for workloads of 2 to {max_terms} parts; this one has {number:,}. Choose another method.",
                title=self.title,
                max_terms=MAX_TERMS,
                number=len(workload.terms),
            )
        if max((f.size for f in _searched(workload)), default=0) > MAX_UNSTRUCTURED:
            return Wording(
                "{title} can search up to {max_unstructured:,} cells of a column. Choose wider bins, or another "
                "method.",
                title=self.title,
                max_unstructured=MAX_UNSTRUCTURED,
            )
        return ""

    def searched(self, workload: Workload, definition: Definition, on_progress: SearchProgress) -> Optimised:
        best, least = self._reconciled(workload, definition, on_progress, None)
        # What is best for a part by itself need not be beside the others.
        if definition is Definition.PURE and any(f.size <= DENSE for f in _searched(workload)):
            other, loss = self._reconciled(workload, definition, on_progress, _CLOSER)
            best = other if loss < least else best
        return best

    def _reconciled(
        self, workload: Workload, definition: Definition, on_progress: SearchProgress, spacing: int | None
    ) -> tuple[Optimised, float]:
        """Strategies with one sum for so many cells, or as is best for each part, in shares that suit them."""
        arrays, losses = {}, []
        for i, factor in enumerate(_searched(workload)):
            arrays[f"factor_{i}"], loss = _search(factor, definition, on_progress, spacing)
            losses.append(loss)
        before = Optimised(arrays, {"losses": losses})
        shares = self._shares_by_losses(workload, definition, before)
        shares, loss = best_shares(self.built(workload, definition, before), workload, shares, definition)
        return Optimised({**arrays, "shares": np.array(shares)}, before.facts), loss

    def _shares_by_losses(
        self, workload: Workload, definition: Definition, optimised: Optimised
    ) -> list[float]:
        """Those that are best before the parts are reconciled; of strategies found in earlier days, too."""
        return [
            _share(term.weight, self._losses(term, workload, each, optimised), definition)
            for term, each in zip(workload.terms, _places(workload), strict=True)
        ]

    def built(self, workload: Workload, definition: Definition, optimised: Optimised) -> Stacked:
        places = _places(workload)
        shares = (
            [float(share) for share in optimised.arrays["shares"]]
            if "shares" in optimised.arrays
            else self._shares_by_losses(workload, definition, optimised)
        )
        parts = []
        for term, each, share in zip(workload.terms, places, shares, strict=True):
            bits, lightness = bits_for(sum(p is not None for p in each), union=True), max(shares) / share
            rows = [
                as_rows(factor, bits, definition, lightness)
                if place is None
                else MatrixRows.of(
                    _weights(optimised.arrays[f"factor_{place}"], definition), bits, definition, lightness
                )
                for factor, place in zip(term.all_factors(workload.shape), each, strict=True)
            ]
            parts.append(Kronecker(rows))
        return Stacked.of(parts, shares, definition)

    def _losses(
        self, term: Term, workload: Workload, places: Sequence[int | None], optimised: Optimised
    ) -> list[float]:
        """Of the strategies for a term's columns."""
        return [
            _given_loss(factor) if place is None else optimised.facts["losses"][place]
            for factor, place in zip(term.all_factors(workload.shape), places, strict=True)
        ]


def _share(weight: float, losses: Sequence[float], definition: Definition) -> float:
    """In proportion to what suits a term with these losses over its columns."""
    return float((weight**2 * math.prod(losses)) ** (1 / 3 if definition is Definition.PURE else 1 / 4))


def _sums(workload: Workload) -> int:
    """About how many sums a union measures: a searched column has an eighth more than its cells at most."""
    sizes = ([f.size for f in term.factors.values() if not isinstance(f, Total)] for term in workload.terms)
    return sum(math.ceil(math.prod(term) * 9 / 8) for term in sizes)


def _places(workload: Workload) -> list[list[int | None]]:
    """For each term and column which of the distinct searched factors is asked for; None where none is."""
    distinct = _searched(workload)
    return [
        [distinct.index(f) if f in distinct else None for f in term.all_factors(workload.shape)]
        for term in workload.terms
    ]


def _searched(workload: Workload) -> list[Factor]:
    """The distinct factors that need a search, in the order in which they are met."""
    result: list[Factor] = []
    for term in workload.terms:
        for factor in term.all_factors(workload.shape):
            if not isinstance(factor, (Identity, Total)) and factor not in result:
                result.append(factor)
    return result


def _given_loss(factor: Factor) -> float:
    """Of single cells, measured by themselves, or of a total."""
    return float(factor.size) if isinstance(factor, Identity) else 1.0


def _search(
    factor: Factor, definition: Definition, on_progress: SearchProgress, spacing: int | None
) -> tuple[np.ndarray, float]:
    if definition is Definition.PURE:
        rows = math.ceil(factor.size / spacing) if spacing and factor.size <= DENSE else None
        cells_and_sums = p_identity(factor, rows=rows, on_progress=on_progress)
        return cells_and_sums.theta, cells_and_sums.loss
    best = gaussian_optimum(factor, on_progress=on_progress)
    return best.strategy, best.loss


def _weights(array: np.ndarray, definition: Definition) -> np.ndarray:
    return weights_of(array) if definition is Definition.PURE else array


class LowRankStrategy(SearchedStrategy):
    """Few sums of cells, for queries that are combinations of few; searched over all cells together."""

    name: ClassVar[str] = "low-rank"
    title: ClassVar[str] = "A few weighted sums (low rank)"
    summary: ClassVar[str] = (
        "Measures a few weighted sums of cells of which every query is a combination: good where the queries "
        "have far fewer dimensions than there are cells."
    )
    definitions: ClassVar[frozenset[Definition]] = frozenset({Definition.PURE})

    def refusal(self, domain: Domain, workload: Workload, definition: Definition) -> str:
        if refusal := super().refusal(domain, workload, definition) or too_many_cells(workload):
            return refusal
        if workload.queries * workload.cells > _MAX_ENTRIES:
            return Wording(
                "{title} writes out all queries; {queries:,} over {cells:,} cells are too many. Choose another method.",
                title=self.title,
                queries=workload.queries,
                cells=workload.cells,
            )
        dimensions = _most_dimensions(workload)
        if dimensions > min(workload.cells // 2, MAX_RANK):
            return Wording(
                "{title} helps for at most half as many dimensions as cells, and {max_rank}; the queries may have "
                "{dimensions:,} over {cells:,} cells. Choose another method.",
                title=self.title,
                dimensions=dimensions,
                cells=workload.cells,
                max_rank=MAX_RANK,
            )
        return ""

    def searched(self, workload: Workload, definition: Definition, on_progress: SearchProgress) -> Optimised:
        result = low_rank(_written_out(workload), on_progress=on_progress)
        # What rounds to a sum of nothing would measure noise alone.
        largest = np.abs(result.strategy).max(axis=1)
        strategy = result.strategy[largest > largest.max() * 2.0**-BITS]
        facts = {"loss": result.loss, "residual": result.residual, "sums": len(strategy)}
        return Optimised({"strategy": strategy}, facts)

    def built(self, workload: Workload, definition: Definition, optimised: Optimised) -> Strategy:
        return strategy_of_rows(MatrixRows.of(optimised.arrays["strategy"], BITS, definition), workload.shape)


def _most_dimensions(workload: Workload) -> int:
    """Of the row space, from shapes alone."""
    ranks = (
        math.prod(min(f.queries, f.size) for f in term.all_factors(workload.shape)) for term in workload.terms
    )
    return sum(ranks)


def _written_out(workload: Workload) -> np.ndarray:
    """The weighted queries, (q, n)."""
    terms: Sequence[np.ndarray] = [
        term.weight * reduce(np.kron, [f.times(np.eye(f.size)) for f in term.all_factors(workload.shape)])
        for term in workload.terms
    ]
    return np.vstack(terms)
