"""Strategies that are given, not searched for."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from typing import ClassVar

import numpy as np

from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Domain
from mechanisms.matrix.answering import MatrixMechanism
from mechanisms.matrix.mechanism import Optimised, QueryPlan
from mechanisms.matrix.strategy.grid import bits_for
from mechanisms.matrix.strategy.hierarchy import best_haar_rows, best_tree_rows
from mechanisms.matrix.strategy.joint import MAX_JOINT, Uploaded
from mechanisms.matrix.strategy.levels import HaarRows, LevelRows, TreeRows
from mechanisms.matrix.strategy.product import FewSums, Kronecker, Stacked, Strategy, plain
from mechanisms.matrix.strategy.pseudo_inverse import too_many
from mechanisms.matrix.strategy.rows import IdentityRows, Rows, TotalRows
from mechanisms.matrix.strategy.weights import MatrixRows
from mechanisms.matrix.strategy.windows import is_solved, ranges_as_rows
from mechanisms.matrix.unanswerable import check_dimensions
from mechanisms.matrix.workload.factor import MAX_ENTRY, Explicit, Factor, Identity, Total, within_range
from mechanisms.matrix.workload.union import Term, Workload
from mechanisms.noise.sum_quantiles import half_widths, integer_half_widths
from mechanisms.protocol import PlanError
from mechanisms.refusal import Wording

# Entries of a matrix that is written out.
MAX_ENTRIES = 2**27


class CellsStrategy(MatrixMechanism):
    """Every cell by itself; answers add up the noise of their cells."""

    name: ClassVar[str] = "identity-strategy"
    title: ClassVar[str] = "Cells"
    summary: ClassVar[str] = "Counts every cell once: best for the cells themselves, poor for long ranges."
    is_plain: ClassVar[bool] = True

    def tied(self, workload: Workload) -> int:
        return 1

    def strategy(
        self, domain: Domain, workload: Workload, definition: Definition, optimised: Optimised | None
    ) -> Kronecker:
        return plain(workload.shape)

    def half_widths(self, plan: QueryPlan, errors: np.ndarray) -> np.ndarray:
        """Exact for ranges, which add each of their cells once."""
        widths = []
        for term, place in plan.workload.offsets():
            if any(isinstance(f, Explicit) for f in term.factors.values()):
                widths.append(half_widths(plan.noise, errors[place]))
            else:
                lengths = [f.row_squares() for f in term.all_factors(plan.workload.shape)]
                cells = reduce(np.multiply.outer, lengths).ravel()
                widths.append(integer_half_widths(plan.noise, cells).astype(np.float64))
        return np.concatenate(widths)


class WorkloadStrategy(MatrixMechanism):
    """The queries as they are; answers that contradict each other are reconciled."""

    name: ClassVar[str] = "workload-strategy"
    title: ClassVar[str] = "The queries themselves"
    summary: ClassVar[str] = (
        "Asks every query and reconciles the answers: good for few queries that overlap little."
    )
    asks_workload: ClassVar[bool] = True

    def refusal(self, domain: Domain, workload: Workload, definition: Definition) -> str:
        if refusal := super().refusal(domain, workload, definition):
            return refusal
        if workload.queries <= MAX_JOINT and _entries(workload) <= MAX_ENTRIES:
            return ""
        return _too_long_itself(workload) or union_too_large(workload, workload.queries)

    def strategy(
        self, domain: Domain, workload: Workload, definition: Definition, optimised: Optimised | None
    ) -> Strategy:
        shares = [abs(term.weight) * _norm(term, definition) for term in workload.terms]
        union = len(shares) > 1
        parts = [
            _queries_as_rows(term, workload.shape, definition, union, max(shares) / share)
            for term, share in zip(workload.terms, shares, strict=True)
        ]
        if not union:
            return FewSums(parts, [1]) if _too_long_itself(workload) else parts[0]
        return Stacked.of(parts, shares, definition)

    def tied(self, workload: Workload) -> int:
        is_union = len(workload.terms) > 1 or bool(_too_long_itself(workload))
        return workload.cells if is_union else longest_tied(workload, is_solved)


def _too_long_itself(workload: Workload) -> str:
    """As `too_long`; a union is tied as a whole."""
    return too_long(workload) if len(workload.terms) > 1 else too_long(workload, is_solved)


def _norm(term: Term, definition: Definition) -> float:
    """The largest norm of a column of the queries themselves: a grid scales those of an uploaded matrix."""
    return math.prod(_column_norm(f, definition) for f in term.factors.values())


def _column_norm(factor: Factor, definition: Definition) -> float:
    order = 1 if definition is Definition.PURE else 2
    if isinstance(factor, Explicit):
        return float((abs(factor.matrix) ** order).sum(axis=0).max() ** (1 / order))
    # Of zeros and ones.
    return float(factor.transposed_times(np.ones(factor.queries)).max() ** (1 / order))


def _entries(workload: Workload) -> int:
    """How large the queries are, column by column, when they are written out."""
    factors = [f for term in workload.terms for f in term.factors.values()]
    return sum(f.queries * f.size for f in factors)


def _queries_as_rows(
    term: Term, shape: tuple[int, ...], definition: Definition, union: bool, lightness: float
) -> Kronecker:
    factors = term.all_factors(shape)
    bits = bits_for(sum(isinstance(f, Explicit) for f in factors), union)
    return Kronecker([as_rows(f, bits, definition, lightness) for f in factors])


def as_rows(factor: Factor, bits: int, definition: Definition, lightness: float = 1.0) -> Rows:
    """What is measured of one column where its own queries are the strategy."""
    if isinstance(factor, Identity):
        return IdentityRows(factor.size)
    if isinstance(factor, Total):
        return TotalRows(factor.size)
    if isinstance(factor, Explicit):
        return MatrixRows.of(_written_out(factor), bits, definition, lightness)
    return ranges_as_rows(factor)


def _written_out(factor: Explicit) -> np.ndarray:
    return factor.matrix if isinstance(factor.matrix, np.ndarray) else factor.matrix.toarray()


class _LevelStrategy(MatrixMechanism):
    """One strategy of levels for every column, its weights fitted to the queries over that column."""

    def refusal(self, domain: Domain, workload: Workload, definition: Definition) -> str:
        ranges_alone = too_long(workload, lambda factor: not isinstance(factor, Explicit))
        return super().refusal(domain, workload, definition) or ranges_alone

    @abstractmethod
    def _fitted(
        self, weighted: Sequence[tuple[float, Factor]], definition: Definition, bits: int
    ) -> LevelRows:
        """The levels for a weighted list of queries over a column, on a grid of so many bits."""

    def strategy(
        self, domain: Domain, workload: Workload, definition: Definition, optimised: Optimised | None
    ) -> Kronecker:
        axes = range(len(workload.shape))
        bits = bits_for(sum(is_fitted(workload, axis) for axis in axes))
        return Kronecker([self._rows(workload, axis, definition, bits) for axis in axes])

    def tied(self, workload: Workload) -> int:
        return 1

    def _rows(self, workload: Workload, axis: int, definition: Definition, bits: int) -> Rows:
        if not is_fitted(workload, axis):
            return as_rows(workload.terms[0].all_factors(workload.shape)[axis], bits, definition)
        return self._fitted(factors_at(workload, axis), definition, bits)


class HierarchyStrategy(_LevelStrategy):
    """Counts of nested intervals of every column.

    Source: Hay et al. 2010; branching by expected error: Qardaji, Yang, Li 2013.
    """

    name: ClassVar[str] = "hierarchy-strategy"
    title: ClassVar[str] = "Nested ranges (hierarchy)"
    summary: ClassVar[str] = (
        "Counts nested intervals of each column, weighted for the queries: good for ranges."
    )

    def _fitted(
        self, weighted: Sequence[tuple[float, Factor]], definition: Definition, bits: int
    ) -> TreeRows:
        return best_tree_rows(weighted, definition, bits)


class HaarStrategy(_LevelStrategy):
    """The Haar wavelet of every column. Source: Xiao, Wang, Gehrke 2010; weights: Li et al. 2015."""

    name: ClassVar[str] = "haar-strategy"
    title: ClassVar[str] = "Differences of neighbouring ranges (Haar wavelet)"
    summary: ClassVar[str] = "Measures differences between neighbouring intervals, weighted for the queries."

    def _fitted(
        self, weighted: Sequence[tuple[float, Factor]], definition: Definition, bits: int
    ) -> HaarRows:
        return best_haar_rows(weighted, definition, bits)


_NOT_UPLOADED = "No strategy matrix was uploaded. Upload one, or choose another method."
_TIED = (
    "The matrix is rounded to whole multiples of a small number, which its rows do not survive exactly; so a little of "
    "every cell is measured besides, and answers stay unbiased."
)


class UploadedStrategy(MatrixMechanism):
    """A strategy matrix of the curator's own, over all cells; `optimised.arrays["strategy"]` holds it."""

    name: ClassVar[str] = "uploaded-strategy"
    title: ClassVar[str] = "A matrix of your own"
    summary: ClassVar[str] = (
        "Measures the weighted sums of cells that the rows of an uploaded matrix describe."
    )
    is_uploaded: ClassVar[bool] = True

    def refusal(self, domain: Domain, workload: Workload, definition: Definition) -> str:
        return super().refusal(domain, workload, definition) or too_many_cells(workload)

    def plan(
        self, domain: Domain, workload: Workload, loss: Loss, optimised: Optimised | None = None
    ) -> QueryPlan:
        """As for any strategy; says so where the rows alone would not give unbiased answers.

        Without a matrix there is nothing to work out, which no worker needs to be asked.
        """
        if optimised is None and not self.refusal(domain, workload, loss.definition):
            raise PlanError(_NOT_UPLOADED)
        plan = super().plan(domain, workload, loss, optimised)
        if optimised is None or plan.details["sums"] == len(optimised.arrays["strategy"]):
            return plan
        return replace(plan, explanation=f"{plan.explanation} {_TIED}")

    def strategy(
        self, domain: Domain, workload: Workload, definition: Definition, optimised: Optimised | None
    ) -> Strategy:
        matrix = _uploaded(workload, optimised)
        rows = MatrixRows.of(matrix, definition=definition)
        if rows.rows > len(matrix):
            # With cells of its own it would answer everything, what its rows know nothing of by those alone.
            check_dimensions(
                strategy_of_rows(MatrixRows(rows.dense()[: len(matrix)]), workload.shape), workload
            )
        return strategy_of_rows(rows, workload.shape)


def strategy_of_rows(rows: MatrixRows, shape: tuple[int, ...]) -> Strategy:
    """The strategy of these rows over all cells, of one column or of several at once."""
    return Kronecker([rows]) if len(shape) == 1 else Uploaded(rows, shape)


def is_fitted(workload: Workload, axis: int) -> bool:
    """Whether the queries ask for more of a column than its cells, or than its total."""
    factors = [term.factors.get(axis, Total(1)) for term in workload.terms]
    alike = all(isinstance(f, Total) for f in factors) or all(isinstance(f, Identity) for f in factors)
    return workload.shape[axis] > 1 and not alike


def factors_at(
    workload: Workload, axis: int, losses: Sequence[Sequence[float]] | None = None
) -> list[tuple[float, Factor]]:
    """The weighted queries over a column: a term counts as much as its error over the other columns.

    losses: by term and axis, of the strategies for the columns; unless given, of their single cells.
    """
    requested = [term.all_factors(workload.shape) for term in workload.terms]
    losses = losses or [[f.squares() for f in factors] for factors in requested]
    return [
        (term.weight**2 * math.prod(loss for i, loss in enumerate(each) if i != axis), factors[axis])
        for term, factors, each in zip(workload.terms, requested, losses, strict=True)
    ]


def too_long(workload: Workload, any_size: Callable[[Factor], bool] = lambda _: False) -> str:
    """A column of so many cells has no inverse that fits in memory. any_size: as for `longest_tied`."""
    return too_many(longest_tied(workload, any_size))


def longest_tied(workload: Workload, any_size: Callable[[Factor], bool] = lambda _: False) -> int:
    """Cells of the longest column whose least squares take an inverse; 1 where none does.

    any_size: which queries over a column need none.
    """
    tied = (axis for axis in range(len(workload.shape)) if is_fitted(workload, axis))
    return max((workload.shape[axis] for axis in tied if not _all_hold(any_size, workload, axis)), default=1)


def _all_hold(holds: Callable[[Factor], bool], workload: Workload, axis: int) -> bool:
    return all(holds(term.all_factors(workload.shape)[axis]) for term in workload.terms)


def union_too_large(workload: Workload, sums: int) -> str:
    """A union is tied over all cells, or else over all of its sums."""
    return "" if len(workload.terms) == 1 or sums <= MAX_JOINT else too_many_cells(workload)


def too_many_cells(workload: Workload) -> str:
    """Why a joint strategy cannot be had of this workload; empty if it can."""
    if workload.cells <= MAX_JOINT:
        return ""
    return Wording(
        "This strategy ties all {cells:,} cells together, and at most {max_joint:,} fit in memory. "
        "Choose fewer columns or wider bins, or another method.",
        cells=workload.cells,
        max_joint=MAX_JOINT,
    )


def _uploaded(workload: Workload, optimised: Optimised | None) -> np.ndarray:
    """The matrix, (p, n) floats. Raises PlanError if there is none, or it is no strategy for the workload."""
    if optimised is None:
        raise PlanError(_NOT_UPLOADED)
    matrix = np.asarray(optimised.arrays["strategy"], dtype=np.float64)
    _check_uploaded(matrix, workload.cells)
    return matrix


def _check_uploaded(matrix: np.ndarray, cells: int) -> None:
    """Raises PlanError for a matrix that is no strategy over so many cells."""
    if matrix.ndim != 2 or matrix.shape[1] != cells:
        width = matrix.shape[1] if matrix.ndim == 2 else 0
        raise PlanError(
            "The uploaded strategy has {width:,} columns; the chosen columns have {cells:,} cells. Upload "
            "one number for every cell, in the order in which the cells are listed.",
            width=width,
            cells=cells,
        )
    if matrix.size > MAX_ENTRIES:
        raise PlanError(
            "The uploaded strategy has {size:,} entries; at most {max_entries:,} fit in memory.",
            size=matrix.size,
            max_entries=MAX_ENTRIES,
        )
    if not np.isfinite(matrix).all() or not matrix.any():
        raise PlanError(
            "The uploaded strategy must hold finite numbers, not all of them 0. Correct the file."
        )
    if not within_range(matrix):
        raise PlanError(
            "The uploaded strategy holds numbers larger than {max_entry:,} or nearer to 0 than "
            "1/{max_entry:,}. Write them in other units.",
            max_entry=MAX_ENTRY,
        )
