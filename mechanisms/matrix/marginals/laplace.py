"""Weighted marginal tables: tables of any set of columns from a few noisy tables, with Laplace noise."""

from __future__ import annotations

import math
import time
from itertools import combinations
from typing import ClassVar

import numpy as np

from mechanisms.accounting import Definition, Loss, PrivacyUnit
from mechanisms.domain import Domain
from mechanisms.matrix.answering import noise_law
from mechanisms.matrix.marginals.answering import MarginalMechanism, details_of
from mechanisms.matrix.marginals.errors import lower_bound, residual_costs
from mechanisms.matrix.marginals.sets import Axes, MarginalSets, requested_marginals
from mechanisms.matrix.marginals.tables import Residuals, gathered, projected
from mechanisms.matrix.marginals.weights import MAX_COLUMNS, best_weights, lattice_of, on_grid
from mechanisms.matrix.mechanism import Optimised, QueryPlan, SearchProgress
from mechanisms.matrix.workload.union import Workload
from mechanisms.protocol import PlanError
from mechanisms.refusal import Wording
from mechanisms.sensitivity import Sensitivity, unit_sensitivity


class WeightedMarginals(MarginalMechanism):
    """Counts some marginal tables, each times an integer weight, and reconciles them by least squares.

    One row that enters or leaves changes every counted table in one cell by its weight: the noise is scaled to
    the sum of the weights, times a unit's rows. A row that changes its cell moves two cells of each table but that of
    no columns, the number of rows. Measurement: the weighted tables with noise, in the order of `plan.counted`; the
    number of rows first, if it is counted.
    Source: McKenna, Miklau, Hay, Machanavajjhala 2018 (HDMM, OPT_M).
    """

    name: ClassVar[str] = "weighted-marginals"
    title: ClassVar[str] = "Tables from which the others follow (weighted marginals)"
    summary: ClassVar[str] = (
        "For marginal tables: counts the few tables, smaller or larger, from which those that you ask for follow best."
    )
    definitions: ClassVar[frozenset[Definition]] = frozenset({Definition.PURE})
    optimises: ClassVar[bool] = True

    def refusal(self, domain: Domain, workload: Workload, definition: Definition) -> str:
        """Why the strategy cannot serve this workload, and what to do; empty if it can."""
        if refused := super().refusal(domain, workload, definition):
            return refused
        columns = len({i for axes in requested_marginals(workload) for i in axes})
        if columns > MAX_COLUMNS:
            return Wording(
                "{title} weighs the tables of every set of columns, and the workload uses {columns} columns; "
                "at most {max_columns} fit. Ask for fewer columns, or use a budget in zCDP with "
                "ResidualPlanner.",
                title=self.title,
                columns=columns,
                max_columns=MAX_COLUMNS,
            )
        return ""

    def optimise(
        self, domain: Domain, workload: Workload, definition: Definition, on_progress: SearchProgress
    ) -> Optimised:
        """The weights of least total error among several local optima.

        arrays: "sets" (k, d) bool, the columns of each counted table; "weights" (k,) int64.
        """
        started = time.perf_counter()
        requested = requested_marginals(workload)
        closed = MarginalSets.closed(workload.shape, requested)
        lattice, columns, costs = lattice_of(closed, residual_costs(closed, requested))
        weights = on_grid(best_weights(lattice, costs, on_progress)[0])
        used = np.flatnonzero(weights)
        sets = np.zeros((used.size, len(workload.shape)), dtype=bool)
        for j, column in enumerate(columns):
            sets[:, column] = used >> j & 1
        return Optimised(
            {"sets": sets, "weights": weights[used]}, {"seconds": round(time.perf_counter() - started, 3)}
        )

    def plan(
        self, domain: Domain, workload: Workload, loss: Loss, optimised: Optimised | None = None
    ) -> QueryPlan:
        """Decide everything without data.

        `details["weights"]` holds the weight of each set of `counted`, after that of the empty set if there is one
        more. `total_error` weighs the squared error of an answer by its term's weight². Raises PlanError if the loss,
        the domain or the workload does not fit.
        """
        self.check(domain, workload, loss)
        loss = loss.for_domain(domain)
        if optimised is None:
            raise PlanError("{title}: find the weights first.", title=self.title)
        requested = requested_marginals(workload)
        closed = MarginalSets.closed(workload.shape, requested)
        weight_of = _weights_by_set(optimised)
        counted = MarginalSets.of(workload.shape, weight_of)
        weights = [weight_of[axes] for axes in counted.sets]
        costs, kappa = residual_costs(closed, requested), _information(counted, weights, closed)
        sensitivity = tables_sensitivity(counted, weights, loss.unit)
        law, names = noise_law(loss, sensitivity), domain.names
        return QueryPlan(
            mechanism=self.name,
            domain=domain,
            workload=workload,
            loss=loss,
            sensitivity=sensitivity,
            noise=law,
            counted=tuple(tuple(names[i] for i in axes) for axes in counted.sets if axes),
            total_error=law.variance * float((costs / kappa).sum()),
            lower_bound=lower_bound(closed, costs, loss, domain.size),
            explanation=(
                f"Counts {len(weights):,} tables with {counted.size:,} cells, weighted for the least total error, and "
                "reconciles them by least squares. Tables that overlap agree with each other."
            ),
            details=details_of(domain, weights),
            optimised=optimised,
        )

    def weights_of(self, plan: QueryPlan) -> Optimised:
        """What a search once found, from a plan that has it."""
        sets = np.zeros((len(plan.details["weights"]), len(plan.workload.shape)), dtype=bool)
        for row, axes in zip(sets, self.measured(plan).sets, strict=True):
            row[list(axes)] = True
        return Optimised({"sets": sets, "weights": np.array(plan.details["weights"], np.int64)})

    def measured(self, plan: QueryPlan) -> MarginalSets:
        place = {name: i for i, name in enumerate(plan.domain.names)}
        counted = [tuple(place[name] for name in names) for names in plan.counted]
        empty = [()] if len(plan.details["weights"]) > len(counted) else []
        return MarginalSets.of(plan.workload.shape, [*empty, *counted])

    def rows(self, tables: np.ndarray) -> np.ndarray:
        return tables

    def information(self, plan: QueryPlan, closed: MarginalSets) -> np.ndarray:
        return _information(self.measured(plan), plan.details["weights"], closed)

    def residuals(self, plan: QueryPlan, closed: MarginalSets, values: np.ndarray) -> Residuals:
        """κ_R⁻¹ Σ_{S ⊇ R} w_S P (the R-marginal of y_S) / Π_{i ∈ S \\ R} n_i: the normal equations on R's
        space."""
        measured = self.measured(plan)
        sums = np.zeros(closed.size)
        for place, (axes, weight) in enumerate(zip(measured.sets, plan.details["weights"], strict=True)):
            table = gathered(values, measured, np.array([place]))[0].astype(np.float64)
            for below in _closed_subsets(axes, closed):
                dropped = tuple(j for j, i in enumerate(axes) if i not in below)
                at = closed.index[below]
                share = weight / math.prod(table.shape[j] for j in dropped)
                sums[closed.starts[at] : closed.starts[at + 1]] += share * table.sum(axis=dropped).ravel()
        sums /= np.repeat(self.information(plan, closed), closed.cells)
        return lambda places: projected(gathered(sums, closed, places))


def _weights_by_set(optimised: Optimised) -> dict[Axes, int]:
    """The weight of each counted table, by the places of its columns."""
    sets = zip(optimised.arrays["sets"], optimised.arrays["weights"], strict=True)
    return {tuple(np.flatnonzero(row).tolist()): int(weight) for row, weight in sets}


def tables_sensitivity(counted: MarginalSets, weights: list[int], unit: PrivacyUnit) -> Sensitivity:
    """How far one person moves the weighted tables, exactly: a row is in one cell of each, another in another."""
    moved = [w for w, axes in zip(weights, counted.sets, strict=True) if axes]
    column = Sensitivity(sum(weights), sum(w * w for w in weights))
    return unit_sensitivity(unit, column, Sensitivity(2 * sum(moved), 2 * sum(w * w for w in moved)))


def _information(counted: MarginalSets, weights: list[int], closed: MarginalSets) -> np.ndarray:
    """(k,) κ_R of the closed sets."""
    kappa = np.zeros(len(closed.sets))
    for axes, weight in zip(counted.sets, weights, strict=True):
        for below in _closed_subsets(axes, closed):
            rest = math.prod(counted.shape[i] for i in axes if i not in below)
            kappa[closed.index[below]] += weight * weight / rest
    return kappa


def _closed_subsets(axes: tuple[int, ...], closed: MarginalSets) -> list[tuple[int, ...]]:
    """The subsets of a set that are among the closed ones."""
    largest = len(closed.sets[-1])
    below = (s for r in range(min(len(axes), largest) + 1) for s in combinations(axes, r))
    return [s for s in below if s in closed.index]
