"""Strategies that are searched for, column by column: the best there is, or is known, for the queries."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from mechanisms.accounting import Definition, Loss
from mechanisms.calibration import law_for
from mechanisms.domain import Domain
from mechanisms.matrix.fixed_strategies import as_rows, factors_at, is_fitted, longest_tied, too_long
from mechanisms.matrix.mechanism import Optimised, QueryPlan, SearchProgress
from mechanisms.matrix.optimise.gaussian import gaussian_optimum
from mechanisms.matrix.optimise.p_identity import DENSE, improved, p_identity, weights_of
from mechanisms.matrix.optimise.spectrum import MAX_UNSTRUCTURED, structured
from mechanisms.matrix.searched import SearchedStrategy
from mechanisms.matrix.strategy.grid import bits_for
from mechanisms.matrix.strategy.product import Kronecker
from mechanisms.matrix.strategy.pseudo_inverse import Inverse
from mechanisms.matrix.strategy.rows import Rows
from mechanisms.matrix.strategy.weights import MatrixRows
from mechanisms.matrix.workload.factor import Explicit, Factor, Identity
from mechanisms.matrix.workload.union import Workload
from mechanisms.refusal import Wording
from mechanisms.sensitivity import Sensitivity

# Rounds over the columns of a union, and the share of its loss that one must take off for another to follow.
_ROUNDS, _PAYS = 10, 1e-4
# Eigenvalues of a Gram matrix below this share of the largest are rounding errors.
_NEGLIGIBLE = 1e-12


def merged(weighted: Sequence[tuple[float, Factor]]) -> tuple[float, Factor]:
    """A multiple and a factor whose Gram matrix, times it, is the weighted sum of theirs; the first weighs 1."""
    unit, first = weighted[0]
    if all(factor == first for _, factor in weighted):
        return sum(weight for weight, _ in weighted) / unit, first
    gram = np.zeros((first.size, first.size))
    for weight, factor in weighted:
        gram += weight / unit * factor.gram()
    values, vectors = np.linalg.eigh(gram)
    significant = values > _NEGLIGIBLE * values[-1]
    return 1.0, Explicit((vectors[:, significant] * np.sqrt(values[significant])).T)


# Numbers about a search for one column: its loss, and what the method tells besides.
SearchFacts = dict[str, float]


class ColumnSearch(SearchedStrategy):
    """A product of strategies, one searched for each column. A subclass says how.

    For a product of queries this is the best product, as losses multiply. For a union of products each column is
    fitted to the sum of what the terms ask of it, each weighted by its error over the other columns, in rounds: with
    the others as they are, the loss of the union is that of one column's queries, and no round makes it larger.
    Source: McKenna et al. 2018 (HDMM), section 6.
    """

    @abstractmethod
    def search(
        self, factor: Factor, on_progress: SearchProgress, begin: np.ndarray | None = None
    ) -> tuple[np.ndarray, SearchFacts]:
        """The array that defines the strategy for one column, and facts about the search.

        begin: that of the round before.
        """

    @abstractmethod
    def weights(self, array: np.ndarray) -> np.ndarray:
        """The strategy, (p, n) floats, that such an array defines."""

    @abstractmethod
    def too_large(self, factors: Sequence[Factor]) -> bool:
        """Whether the search for a column that is asked these queries would take too long."""

    def refusal(self, domain: Domain, workload: Workload, definition: Definition) -> str:
        if refusal := super().refusal(domain, workload, definition) or too_long(workload):
            return refusal
        fitted = _fitted(workload)
        if not fitted:
            return (
                "Every column is asked for its cells or its total alone, and there is nothing to search for. "
                "Choose another method."
            )
        for axis in fitted:
            factors = [factor for _, factor in factors_at(workload, axis)]
            if self.too_large(factors):
                return Wording(
                    "{title} can search up to {max_unstructured:,} cells of a column for these queries; one has "
                    "{cells:,}. Choose wider bins, or another method.",
                    title=self.title,
                    max_unstructured=MAX_UNSTRUCTURED,
                    cells=workload.shape[axis],
                )
        return ""

    def searched(self, workload: Workload, definition: Definition, on_progress: SearchProgress) -> Optimised:
        fitted, rounds = _fitted(workload), _Rounds(workload)
        mixed = [axis for axis in fitted if _mixed(workload, axis)]
        for axis in fitted:
            self._search_column(rounds, axis, on_progress)
        for _ in range(_ROUNDS - 1 if len(mixed) > 1 else 0):
            before = rounds.loss()
            for axis in mixed:
                self._search_column(rounds, axis, on_progress)
            if rounds.loss() > (1 - _PAYS) * before:
                break
        columns = [rounds.facts[axis] for axis in fitted]
        facts: dict[str, object] = {"columns": columns}
        # Where only one column is searched the terms' Gram matrices add up over it, so its certificate is the whole's.
        if all("gap" in c for c in columns) and (len(workload.terms) == 1 or len(columns) == 1):
            facts["gap"] = math.prod(1 + c["gap"] for c in columns) - 1
        return Optimised({_key(axis): rounds.arrays[axis] for axis in fitted}, facts)

    def _search_column(self, rounds: _Rounds, axis: int, on_progress: SearchProgress) -> None:
        """Search for one column, with the others as they are; what is no better than before is not kept."""
        before, was = rounds.loss(), (rounds.arrays.get(axis), rounds.facts.get(axis), rounds.column(axis))
        multiple, factor = merged(factors_at(rounds.workload, axis, rounds.losses))
        array, result = self.search(factor, on_progress, was[0])
        if len(rounds.workload.terms) == 1:
            losses = [result["loss"]]
        else:
            weights = self.weights(array)
            inverse = Inverse(weights.T @ weights).matrix
            losses = [float((f.gram() * inverse).sum()) for _, f in factors_at(rounds.workload, axis)]
        rounds.keep(axis, losses, array, {"multiple": multiple, **result})
        if was[0] is not None and rounds.loss() > before:
            rounds.keep(axis, was[2], was[0], was[1] or {})

    def built(self, workload: Workload, definition: Definition, optimised: Optimised) -> Kronecker:
        fitted = _fitted(workload)
        bits = bits_for(len(fitted))
        factors: list[Rows] = [
            MatrixRows.of(self.weights(optimised.arrays[_key(axis)]), bits, definition)
            if axis in fitted
            else as_rows(factors_at(workload, axis)[0][1], bits, definition)
            for axis in range(len(workload.shape))
        ]
        return Kronecker(factors)

    def tied(self, workload: Workload) -> int:
        return longest_tied(workload)


class _Rounds:
    """What is found so far for the columns of a workload; single cells where nothing is."""

    def __init__(self, workload: Workload) -> None:
        self.workload = workload
        self.arrays: dict[int, np.ndarray] = {}
        self.facts: dict[int, SearchFacts] = {}
        # By term and axis.
        self.losses = [[f.squares() for f in t.all_factors(workload.shape)] for t in workload.terms]

    def column(self, axis: int) -> list[float]:
        """The losses of a column's strategy for the terms."""
        return [each[axis] for each in self.losses]

    def keep(self, axis: int, losses: Sequence[float], array: np.ndarray, facts: SearchFacts) -> None:
        self.arrays[axis], self.facts[axis] = array, facts
        for each, loss in zip(self.losses, losses, strict=True):
            each[axis] = loss

    def loss(self) -> float:
        """Of the product, over the union."""
        terms = zip(self.workload.terms, self.losses, strict=True)
        return sum(term.weight**2 * math.prod(each) for term, each in terms)


def _mixed(workload: Workload, axis: int) -> bool:
    """Whether the terms ask different queries of a column, so that it matters how much each counts."""
    factors = [factor for _, factor in factors_at(workload, axis)]
    return any(factor != factors[0] for factor in factors)


def _fitted(workload: Workload) -> list[int]:
    return [axis for axis in range(len(workload.shape)) if is_fitted(workload, axis)]


def _key(axis: int) -> str:
    return f"column_{axis}"


class PIdentityStrategy(ColumnSearch):
    """Cells and weighted sums of cells, searched for Laplace noise."""

    name: ClassVar[str] = "p-identity"
    title: ClassVar[str] = "Sums fitted to the queries (p-Identity)"
    summary: ClassVar[str] = (
        "Counts every cell and a few weighted sums of cells, searched for these queries: the best known with "
        "Laplace noise."
    )
    definitions: ClassVar[frozenset[Definition]] = frozenset({Definition.PURE})

    def search(
        self, factor: Factor, on_progress: SearchProgress, begin: np.ndarray | None = None
    ) -> tuple[np.ndarray, SearchFacts]:
        if begin is not None and len(begin) and factor.size <= DENSE:
            result = improved(factor, [begin], on_progress=on_progress)
        else:
            result = p_identity(factor, on_progress=on_progress)
        return result.theta, {"loss": result.loss, "sums": len(result.theta)}

    def weights(self, array: np.ndarray) -> np.ndarray:
        return weights_of(array)

    def too_large(self, factors: Sequence[Factor]) -> bool:
        return factors[0].size > MAX_UNSTRUCTURED and (
            any(isinstance(f, Explicit) for f in factors) or any(f != factors[0] for f in factors)
        )


class GaussianOptimumStrategy(ColumnSearch):
    """The least total error that any strategy has with Gaussian noise, proved to within 1e-4."""

    name: ClassVar[str] = "gaussian-optimum"
    title: ClassVar[str] = "The best sums for Gaussian noise"
    summary: ClassVar[str] = (
        "Measures the sums of cells that are best for these queries with Gaussian noise, with a proof of how far "
        "from the best possible they are."
    )
    definitions: ClassVar[frozenset[Definition]] = frozenset({Definition.ZCDP})

    def search(
        self, factor: Factor, on_progress: SearchProgress, begin: np.ndarray | None = None
    ) -> tuple[np.ndarray, SearchFacts]:
        result = gaussian_optimum(factor, on_progress=on_progress)
        facts = {
            "loss": result.loss,
            "lower_bound": result.lower_bound,
            "gap": result.gap,
            "iterations": result.iterations,
        }
        # Half the size, and still finer than the grid.
        return result.strategy.astype(np.float32), facts

    def weights(self, array: np.ndarray) -> np.ndarray:
        return array

    def too_large(self, factors: Sequence[Factor]) -> bool:
        alike = all(f == factors[0] for f in factors)
        return factors[0].size > MAX_UNSTRUCTURED and not (alike and structured(factors[0]))

    def plan(
        self, domain: Domain, workload: Workload, loss: Loss, optimised: Optimised | None = None
    ) -> QueryPlan:
        """As for any strategy; the lower bound is the search's certificate where that says more."""
        plan = super().plan(domain, workload, loss, optimised)
        if optimised is None or "gap" not in optimised.facts or plan.loss.unit.total_public:
            return plan
        m = loss.unit.max_rows
        least = law_for(loss, Sensitivity(m, m * m)).variance
        certified = least * _certified(workload, optimised)
        return replace(plan, lower_bound=max(plan.lower_bound or 0.0, certified))


def _certified(workload: Workload, optimised: Optimised) -> float:
    """A loss that no strategy with columns of unit norm goes below.

    The bounds of factors multiply, since products of their dual weights are dual weights of the product; that of
    single cells is their number, that of a total 1.
    """
    bound = workload.terms[0].weight ** 2 * math.prod(
        column["multiple"] * column["lower_bound"] for column in optimised.facts["columns"]
    )
    for axis, n in enumerate(workload.shape):
        if not is_fitted(workload, axis) and isinstance(factors_at(workload, axis)[0][1], Identity):
            bound *= n
    return float(bound)
