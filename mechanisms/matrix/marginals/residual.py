"""ResidualPlanner: marginal tables of any set of columns at the least total error that Gaussian noise allows."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mechanisms.accounting import Definition, Loss, Neighbours, PrivacyUnit
from mechanisms.domain import Domain
from mechanisms.matrix.answering import noise_law
from mechanisms.matrix.marginals.answering import MarginalMechanism, details_of
from mechanisms.matrix.marginals.errors import lower_bound, residual_costs
from mechanisms.matrix.marginals.residual_weights import information, integer_weights, residual_sensitivity
from mechanisms.matrix.marginals.sets import MarginalSets, requested_marginals
from mechanisms.matrix.marginals.tables import Residuals, gathered, integer_residuals, projected
from mechanisms.matrix.mechanism import Optimised, QueryPlan
from mechanisms.matrix.workload.union import Workload


class ResidualPlanner(MarginalMechanism):
    """Measures, for each set of columns that a table needs, what varies with exactly those columns.

    The total squared error is the least that any strategy with Gaussian noise can have, up to rounding of the
    weights; `residual_weights` holds the argument for it and for the sensitivity. Measurement: w_R Π(n_i I - J)
    times the marginal table of R, with noise, for the empty set and then for each set of `plan.counted`.
    Source: Xiao, He, Zhang, Kifer 2023.
    """

    name: ClassVar[str] = "residual-planner"
    title: ClassVar[str] = "What each table adds to smaller ones (ResidualPlanner)"
    summary: ClassVar[str] = (
        "For marginal tables: measures what each set of columns adds to its subsets, with the least total error "
        "that Gaussian noise allows."
    )
    definitions: ClassVar[frozenset[Definition]] = frozenset({Definition.ZCDP})

    def plan(
        self, domain: Domain, workload: Workload, loss: Loss, optimised: Optimised | None = None
    ) -> QueryPlan:
        """Decide everything without data.

        `details["weights"]` holds w_R for the empty set and each set of `counted`. `total_error` weighs the squared
        error of an answer by its term's weight². Raises PlanError if the loss, the domain or the workload does not
        fit.
        """
        self.check(domain, workload, loss)
        loss = loss.for_domain(domain)
        names = domain.names
        requested = requested_marginals(workload)
        closed = MarginalSets.closed(workload.shape, requested)
        costs = residual_costs(closed, requested)
        weights = integer_weights(closed, costs, loss.unit)
        sensitivity = residual_sensitivity(closed, weights, loss.unit)
        law = noise_law(loss, sensitivity)
        error = law.variance * float((costs / information(closed, weights)).sum())
        return QueryPlan(
            mechanism=self.name,
            domain=domain,
            workload=workload,
            loss=loss,
            sensitivity=sensitivity,
            noise=law,
            counted=tuple(tuple(names[i] for i in axes) for axes in closed.sets[1:]),
            total_error=error,
            lower_bound=lower_bound(closed, costs, loss, domain.size),
            explanation=_explanation(closed, loss.unit),
            details=details_of(domain, weights),
        )

    def measured(self, plan: QueryPlan) -> MarginalSets:
        return self.closed(plan)

    def rows(self, tables: np.ndarray) -> np.ndarray:
        return integer_residuals(tables)

    def information(self, plan: QueryPlan, closed: MarginalSets) -> np.ndarray:
        return information(closed, plan.details["weights"])

    def residuals(self, plan: QueryPlan, closed: MarginalSets, values: np.ndarray) -> Residuals:
        """y_R/(w_R Π n_i), less the noise outside the residuals' space."""
        scales = np.sqrt(self.information(plan, closed))

        def of(places: np.ndarray) -> np.ndarray:
            tables = gathered(values, closed, places)
            return projected(tables / scales[places].reshape(-1, *[1] * (tables.ndim - 1)))

        return of


def _explanation(closed: MarginalSets, unit: PrivacyUnit) -> str:
    # Xiao et al. 2023 prove it for a person who is added or removed.
    proved = unit.neighbours is Neighbours.ADD_REMOVE
    sentences = [
        f"Measures {closed.size:,} numbers in {len(closed.sets):,} tables: for each set of columns, what varies with "
        f"exactly those columns. Tables that overlap agree with each other."
    ]
    if proved:
        sentences.append("No strategy with Gaussian noise has a smaller total error.")
    return " ".join(sentences)
