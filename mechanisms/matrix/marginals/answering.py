"""What the mechanisms for marginal tables share: which workloads they serve, and answers from measured residuals."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Domain
from mechanisms.matrix.marginals.cells import MarginalCells
from mechanisms.matrix.marginals.errors import cell_variances
from mechanisms.matrix.marginals.sets import MarginalSets, requested_marginals, term_axes
from mechanisms.matrix.marginals.tables import Residuals, assembled, least_squares_cells
from mechanisms.matrix.mechanism import QueryMechanism, QueryPlan, QueryResult
from mechanisms.matrix.reconstruction import RECONSTRUCTION, possible_cells
from mechanisms.matrix.workload.union import Workload
from mechanisms.noise import Noise
from mechanisms.noise.sum_quantiles import half_widths
from mechanisms.postprocess import lattice_simplex
from mechanisms.protocol import Measurement, PlanError
from mechanisms.refusal import Wording
from mechanisms.validation import check_amount

# Numbers that are measured: 2 GiB of them.
MAX_NUMBERS = 2**28
# Cells up to which they are estimated, besides the answers: making them non-negative takes about a minute then.
MAX_CELLS = 2**17
_MAX_SETS = 2**20


@dataclass(frozen=True)
class Answered:
    """The answers of some marginal tables of equal shape.

    tables: (k,) which tables, by their place in the sets that are asked for. answers: (k, cells) in rows.
    standard_errors, half_widths: (k,) of every cell of a table, in rows.
    """

    tables: np.ndarray
    answers: np.ndarray
    standard_errors: np.ndarray
    half_widths: np.ndarray


class MarginalMechanism(QueryMechanism):
    """Marginal tables from residuals of sets of columns; a subclass says how the residuals are measured.

    The cells of the whole domain are never counted, so it may have any number of them.
    """

    @abstractmethod
    def measured(self, plan: QueryPlan) -> MarginalSets:
        """The sets whose tables are counted and measured; the empty set, which is not counted, may be one of them."""

    @abstractmethod
    def rows(self, tables: np.ndarray) -> np.ndarray:
        """What is measured of the tables of some sets, before its weight: (k, *shape) int64 to the same shape."""

    @abstractmethod
    def information(self, plan: QueryPlan, closed: MarginalSets) -> np.ndarray:
        """(k,) κ_R of each set that is asked for or a subset of one: z_R has covariance σ²/κ_R (P ⊗ ... ⊗ P)."""

    @abstractmethod
    def residuals(self, plan: QueryPlan, closed: MarginalSets, values: np.ndarray) -> Residuals:
        """The least-squares estimates of z_R from what was measured."""

    def refusal(self, domain: Domain, workload: Workload, definition: Definition) -> str:
        """Why the strategy cannot serve this workload, and what to do; empty if it can."""
        if definition not in self.definitions:
            other = "zCDP" if definition is Definition.PURE else "pure ε"
            return Wording(
                "{title} needs a budget in {other}. Choose another method.", title=self.title, other=other
            )
        if workload.marginals() is None:
            return Wording(
                "{title} answers whole marginal tables only, and the workload asks for other queries too. "
                "Choose another method, or ask for marginal tables alone.",
                title=self.title,
            )
        requested = requested_marginals(workload)
        if not any(requested):
            return Wording(
                "{title} needs a table of at least one column with two or more cells. Choose another method, or "
                "add a column.",
                title=self.title,
            )
        numbers = sum(math.prod(workload.shape[i] for i in axes) for axes in requested)
        if sum(2 ** len(axes) for axes in requested) > _MAX_SETS * 8 or numbers > MAX_NUMBERS:
            return Wording(
                "The workload asks for {numbers:,} numbers in {number:,} tables; {title} measures at most "
                "{max_numbers:,}, and tables of about 20 columns. Ask for fewer tables, or for tables of "
                "fewer columns.",
                numbers=numbers,
                number=len(requested),
                title=self.title,
                max_numbers=MAX_NUMBERS,
            )
        return ""

    def check(self, domain: Domain, workload: Workload, loss: Loss) -> None:
        """Raises PlanError if the workload or the loss does not fit."""
        check_amount(loss)
        if refused := self.refusal(domain, workload, loss.definition):
            raise PlanError(refused)

    def closed(self, plan: QueryPlan) -> MarginalSets:
        """The sets that are asked for with all their subsets."""
        return MarginalSets.closed(plan.workload.shape, requested_marginals(plan.workload))

    def measure(self, plan: QueryPlan, counts: np.ndarray, noise: Noise) -> Measurement:
        """Add the plan's noise to the weighted rows of the marginal tables.

        counts: int64 >= 0, the cells of the tables of `plan.counted` one after the other. It is read in slices of
        about a million cells from first to last, so it need not be in memory. Returns int64, as many numbers; and
        before them that of all rows if the empty set is measured.
        Raises ValueError if the shape, the type or the sign does not fit.
        """
        sets = self.measured(plan)
        uncounted = int(sets.sets[0] == ())
        if counts.shape != (sets.size - uncounted,):
            raise ValueError(f"counts must have shape {(sets.size - uncounted,)}, got {counts.shape}")
        weights = np.array(plan.details["weights"], dtype=np.int64)
        values: np.ndarray | None = None
        for batch in sets.batches():
            span = sets.span(batch)
            if batch.shape:
                tables = _checked(counts[span.start - uncounted : span.stop - uncounted])
            else:
                tables = _checked(counts[: sets.cells[1]]).sum(keepdims=True)
            rows = self.rows(tables.reshape(batch.count, *batch.shape)).reshape(batch.count, -1)
            noisy = (rows * weights[batch.first : batch.last, None]).ravel() + noise.draw(
                plan.noise, rows.size
            )
            if values is None:
                values = np.empty((*noisy.shape[:-1], sets.size), dtype=np.int64)
            values[..., span] = noisy
        return Measurement(values if values is not None else np.empty(0, dtype=np.int64))

    def answered(self, plan: QueryPlan, measurement: Measurement) -> Iterator[Answered]:
        """The tables that are asked for, a few at a time: for workloads too large to be held at once."""
        closed = self.closed(plan)
        tables = MarginalSets.of(closed.shape, requested_marginals(plan.workload))
        errors = np.sqrt(plan.noise.variance * cell_variances(closed, tables, self.information(plan, closed)))
        widths = half_widths(plan.noise, errors)
        residuals = self.residuals(plan, closed, measurement.values)
        for batch, answers in zip(tables.batches(), assembled(tables, closed, residuals), strict=True):
            part = slice(batch.first, batch.last)
            yield Answered(np.arange(batch.first, batch.last), answers, errors[part], widths[part])

    def reconstruct(self, plan: QueryPlan, measurement: Measurement) -> QueryResult:
        """Answers as by `answers`, and the cells of domains that are small enough."""
        result = self.answers(plan, measurement)
        return self._with_cells(plan, measurement, result) if plan.domain.size <= MAX_CELLS else result

    def answers(self, plan: QueryPlan, measurement: Measurement) -> QueryResult:
        """Consistent least-squares answers with their standard errors, without cells."""
        tables = MarginalSets.of(plan.workload.shape, requested_marginals(plan.workload))
        flat, errors, widths = (np.empty(tables.size) for _ in range(3))
        for part in self.answered(plan, measurement):
            cells = part.answers.shape[1]
            span = slice(int(tables.starts[part.tables[0]]), int(tables.starts[part.tables[-1] + 1]))
            flat[span] = part.answers.ravel()
            errors[span] = np.repeat(part.standard_errors, cells)
            widths[span] = np.repeat(part.half_widths, cells)
        places = _in_workload_order(plan.workload, tables)
        return QueryResult(flat[places], errors[places], widths[places])

    def _with_cells(self, plan: QueryPlan, measurement: Measurement, result: QueryResult) -> QueryResult:
        closed = self.closed(plan)
        estimate = least_squares_cells(closed, self.residuals(plan, closed, measurement.values))
        strategy = MarginalCells(
            closed,
            self.information(plan, closed),
            estimate,
            self.measured(plan),
            plan.details["weights"],
            self.rows,
        )
        cells, way = possible_cells(plan.details[RECONSTRUCTION.name], strategy, measurement.values, estimate)
        counts = lattice_simplex(cells, max(0, round(float(cells.sum()))))
        return replace(result, estimate=estimate, cells=cells, counts=counts, reconstruction=way)


def details_of(domain: Domain, weights: list[int]) -> dict[str, object]:
    """A plan's details: the weights; and how cells are made non-negative, where there are cells."""
    ways = {RECONSTRUCTION.name: RECONSTRUCTION.default} if domain.size <= MAX_CELLS else {}
    return {"weights": weights, **ways}


def _checked(counts: np.ndarray) -> np.ndarray:
    if counts.dtype != np.int64:
        raise ValueError(f"counts must have type int64, got {counts.dtype}")
    if counts.min() < 0:
        raise ValueError("counts must not be negative")
    return counts


def _in_workload_order(workload: Workload, tables: MarginalSets) -> np.ndarray:
    """(q,) where each query's cell stands among the tables."""
    spans = [tables.index[axes] for axes in term_axes(workload)]
    return np.concatenate([np.arange(tables.starts[i], tables.starts[i + 1]) for i in spans])
