"""The matrix mechanism: measure a strategy's sums, reconcile them by least squares, answer the workload from that."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from mechanisms.accounting import Definition, Loss
from mechanisms.calibration import law_for, scale_squared
from mechanisms.counting import Sensitivity, unit_sensitivity
from mechanisms.domain import Domain
from mechanisms.histogram.request import check_amount, check_counts
from mechanisms.matrix.answers import half_widths, standard_errors
from mechanisms.matrix.mechanism import Optimised, Progress, QueryPlan, QueryResult
from mechanisms.matrix.most_likely import MAX_CELLS as MOST_LIKELY_CELLS
from mechanisms.matrix.optimise.bound import lower_bound
from mechanisms.matrix.reconstruction import RECONSTRUCTION, possible_cells
from mechanisms.matrix.strategy.product import Strategy
from mechanisms.matrix.workload.union import Workload
from mechanisms.noise import WIDEST, DiscreteLaplace, Noise, NoiseLaw
from mechanisms.postprocess import lattice_simplex
from mechanisms.protocol import Measurement, PlanError

MAX_CELLS = 2**24
MAX_QUERIES = 10**7


class MatrixMechanism(ABC):
    """What the mechanisms over the cells of a domain share; a subclass says which strategy it measures.

    Measurement: the strategy's integer sums with noise, in the order of `Strategy.answers`. One row that enters or
    leaves moves them by a column of the strategy, one that changes its cell by the difference of two; the noise is
    scaled to the integer norms of those, by `unit_sensitivity`.
    Source: Li, Miklau, Hay, McGregor, Rastogi 2015.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    summary: ClassVar[str]
    definitions: ClassVar[frozenset[Definition]] = frozenset({Definition.PURE, Definition.ZCDP})
    optimises: ClassVar[bool] = False

    @abstractmethod
    def strategy(
        self, domain: Domain, workload: Workload, definition: Definition, optimised: Optimised | None
    ) -> Strategy:
        """The strategy for a workload; the same every time. PlanError if there is none."""

    def refusal(self, domain: Domain, workload: Workload, definition: Definition) -> str:
        """Why the strategy cannot serve this workload, and what to do; empty if it can. Cheap: from shapes alone."""
        if definition not in self.definitions:
            return f"{self.title} needs another kind of budget; choose another strategy."
        if workload.shape not in (domain.shape, (domain.size,)):
            raise ValueError(
                f"a workload over {workload.shape} cells does not fit a domain of {domain.shape}"
            )
        if domain.size > MAX_CELLS:
            return (
                f"The chosen columns have {domain.size:,} cells; this strategy estimates each of them, and at most "
                f"{MAX_CELLS:,} fit in memory. Choose fewer columns or wider bins, or ask for marginal tables only."
            )
        if workload.queries > MAX_QUERIES:
            return (
                f"The workload asks {workload.queries:,} queries; at most {MAX_QUERIES:,} can be listed. "
                "Choose wider bins or fewer ranges."
            )
        return ""

    def optimise(
        self, domain: Domain, workload: Workload, definition: Definition, on_progress: Progress
    ) -> Optimised:
        raise TypeError(f"{self.title} has nothing to optimise")

    def plan(
        self, domain: Domain, workload: Workload, loss: Loss, optimised: Optimised | None = None
    ) -> QueryPlan:
        """Decide everything without data.

        `details["reconstruction"]` says how cells are made non-negative; `with_reconstruction` changes it.
        Raises PlanError if the loss, the domain or the workload does not fit, or the strategy cannot answer it.
        """
        if refusal := self.refusal(domain, workload, loss.definition):
            raise PlanError(refusal)
        check_amount(loss)
        loss = loss.over(domain)
        facts = _facts(self, domain, workload, loss.definition, optimised)
        sensitivity = unit_sensitivity(loss.unit, facts.column, facts.replaced)
        law = noise_law(loss, sensitivity)
        return QueryPlan(
            mechanism=self.name,
            domain=domain,
            workload=workload,
            loss=loss,
            sensitivity=sensitivity,
            noise=law,
            counted=(domain.names,),
            total_error=law.variance * facts.trace,
            lower_bound=lower_bound(workload, loss),
            explanation=self._explanation(facts, workload),
            details={"sums": facts.sums, RECONSTRUCTION.name: RECONSTRUCTION.default},
            optimised=optimised,
        )

    def _explanation(self, facts: Facts, workload: Workload) -> str:
        sums, queries = _plural(facts.sums, "sum"), _plural(workload.queries, "answer")
        return (
            f"{self.summary} Measures {sums} of cells and reads {queries} off their least-squares estimate."
        )

    def _largest(self, workload: Workload) -> float:
        """How much of the noise of one sum is in an answer at most; without bound where that is not known."""
        return math.inf

    def measure(self, plan: QueryPlan, counts: np.ndarray, noise: Noise) -> Measurement:
        """Add the plan's noise to the strategy's sums.

        counts: (plan.domain.size,) int64 >= 0. Returns (p,) int64.
        Raises ValueError if the shape, the type or the sign does not fit.
        """
        check_counts(plan.domain, counts)
        strategy = strategy_of(self, plan)
        return Measurement(strategy.answers(counts) + noise.draw(plan.noise, strategy.size))

    def reconstruct(self, plan: QueryPlan, measurement: Measurement) -> QueryResult:
        """Least-squares answers with their errors, and cells that are not negative, in the plan's way."""
        strategy = strategy_of(self, plan)
        estimate = strategy.estimate(measurement.values)
        errors = standard_errors(plan.noise, strategy, plan.workload)
        cells, way = possible_cells(plan.details[RECONSTRUCTION.name], strategy, measurement.values, estimate)
        return QueryResult(
            answers=plan.workload.answers(estimate),
            standard_errors=errors,
            half_widths=half_widths(plan.noise, errors, self._largest(plan.workload)),
            estimate=estimate,
            cells=cells,
            counts=lattice_simplex(cells, max(0, round(float(cells.sum())))),
            reconstruction=way,
        )


@dataclass(frozen=True)
class Facts:
    """What a plan needs to know of a strategy: its size, its column norms, and the error for unit noise."""

    sums: int
    column: Sensitivity
    replaced: Sensitivity
    trace: float


@lru_cache(maxsize=32)
def _facts(
    mechanism: MatrixMechanism,
    domain: Domain,
    workload: Workload,
    definition: Definition,
    optimised: Optimised | None,
) -> Facts:
    strategy = _strategy(mechanism, domain, workload, definition, optimised)
    check_answers(strategy, workload)
    trace = sum(term.weight**2 * strategy.trace(term) for term in workload.terms)
    return Facts(strategy.size, strategy.column, strategy.replaced, trace)


# One at a time: the inverse of a large strategy takes hundreds of megabytes.
@lru_cache(maxsize=1)
def _strategy(
    mechanism: MatrixMechanism,
    domain: Domain,
    workload: Workload,
    definition: Definition,
    optimised: Optimised | None,
) -> Strategy:
    return mechanism.strategy(domain, workload, definition, optimised)


def strategy_of(mechanism: MatrixMechanism, plan: QueryPlan) -> Strategy:
    """The strategy that a plan has laid down.

    Raises RuntimeError if it comes out with other column norms than those that the plan's noise is for.
    """
    strategy = _strategy(mechanism, plan.domain, plan.workload, plan.loss.definition, plan.optimised)
    if unit_sensitivity(plan.loss.unit, strategy.column, strategy.replaced) != plan.sensitivity:
        raise RuntimeError(f"the strategy of {mechanism.name} is not the one that was planned; plan again")
    return strategy


def check_answers(strategy: Strategy, workload: Workload) -> None:
    """Raises PlanError if the strategy's sums do not determine every answer."""
    if strategy.complete:
        return
    for term in workload.terms:
        answered, asked = strategy.dimensions(term)
        if answered < asked:
            raise PlanError(
                f"The strategy answers only {answered:,} of the {asked:,} dimensions that the workload asks for. "
                "Choose another strategy, or add rows that tell the missing cells apart."
            )


def noise_law(loss: Loss, sensitivity: Sensitivity) -> NoiseLaw:
    """Discrete Laplace noise for pure ε, discrete Gaussian for zCDP. Raises PlanError if it would be absurdly wide."""
    law = law_for(loss, sensitivity)
    if scale_squared(law) > WIDEST**2:
        raise PlanError(
            f"{loss.symbol} = {float(loss.amount):g} is too small for this strategy's noise. "
            f"Choose a larger {loss.symbol}."
        )
    return law


def with_reconstruction(plan: QueryPlan, way: str) -> QueryPlan:
    """The plan with another way to make cells non-negative. Raises PlanError if it does not fit."""
    if way not in dict(RECONSTRUCTION.choices):
        raise PlanError(f"{RECONSTRUCTION.label}: choose one of {', '.join(dict(RECONSTRUCTION.choices))}.")
    if way == "l1" and not isinstance(plan.noise, DiscreteLaplace):
        raise PlanError("The most likely cells are worked out for Laplace noise only. Choose least squares.")
    if way == "l1" and plan.domain.size > MOST_LIKELY_CELLS:
        raise PlanError(
            f"The most likely cells are worked out for at most {MOST_LIKELY_CELLS:,} cells; these columns have "
            f"{plan.domain.size:,}. Choose least squares, or wider bins."
        )
    details: dict[str, Any] = {**plan.details, RECONSTRUCTION.name: way}
    return replace(plan, details=details)


def _plural(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
