"""The matrix mechanism: measure a strategy's sums, reconcile them by least squares, answer the workload from that."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

from mechanisms.accounting import Definition, Loss, Neighbours, PrivacyUnit
from mechanisms.calibration import law_for, scale_squared
from mechanisms.deferred_search import JsonForm, Search
from mechanisms.domain import Domain
from mechanisms.matrix.answers import standard_errors
from mechanisms.matrix.mechanism import (
    Optimised,
    QueryMechanism,
    QueryPlan,
    QueryResult,
    stored_method,
    stored_strategy,
    stored_workload,
)
from mechanisms.matrix.most_likely import MAX_CELLS as MOST_LIKELY_CELLS
from mechanisms.matrix.optimise.bound import bound_from, nuclear_norm
from mechanisms.matrix.reconstruction import RECONSTRUCTION, possible_cells
from mechanisms.matrix.strategy.product import Strategy
from mechanisms.matrix.unanswerable import blindness, check_blindness
from mechanisms.matrix.workload.text import read_workload
from mechanisms.matrix.workload.union import Workload
from mechanisms.noise import WIDEST, DiscreteLaplace, Noise, NoiseLaw
from mechanisms.noise.sum_quantiles import half_widths
from mechanisms.postprocess import lattice_simplex
from mechanisms.protocol import Measurement, OutdatedPlanError, PlanError
from mechanisms.refusal import Wording
from mechanisms.sensitivity import Sensitivity, unit_sensitivity
from mechanisms.validation import check_amount, check_counts

MAX_CELLS = 2**24
MAX_QUERIES = 10**7
# How often least squares is repeated until what is left is rounding in floats.
_ROUNDS = 2
# Cells up to which the facts of a strategy take a moment: where one product is asked for, and where several are.
_QUICK, _QUICK_UNION = 1_024, 512
# And entries of uploaded queries, which have no structure to be used.
_UPLOADED, _QUICK_ENTRIES = "uploaded(", 20_000
# Names of what is searched for.
FACTS, REPLACED = "matrix-facts", "matrix-replaced-rows"
# Estimates are rounded to multiples of 1/this, and cut off where such numbers no longer fit 64 bits.
_UNITS, _LARGEST = 2**10, 2**52


class MatrixMechanism(QueryMechanism):
    """What the mechanisms over the cells of a domain share; a subclass says which strategy it measures.

    Measurement: the strategy's integer sums with noise, in the order of `Strategy.answers`. One row that enters or
    leaves moves them by a column of the strategy, one that changes its cell by the difference of two; the noise is
    scaled to the integer norms of those, by `unit_sensitivity`.
    Source: Li, Miklau, Hay, McGregor, Rastogi 2015.
    """

    @abstractmethod
    def strategy(
        self, domain: Domain, workload: Workload, definition: Definition, optimised: Optimised | None
    ) -> Strategy:
        """The strategy for a workload; the same every time. PlanError if there is none."""

    def refusal(self, domain: Domain, workload: Workload, definition: Definition) -> str:
        """Why the strategy cannot serve this workload, and what to do; empty if it can. Cheap: from shapes alone."""
        if definition not in self.definitions:
            return Wording("{title} needs another kind of budget; choose another method.", title=self.title)
        if workload.shape not in (domain.shape, (domain.size,)):
            raise ValueError(
                f"a workload over {workload.shape} cells does not fit a domain of {domain.shape}"
            )
        if domain.size > MAX_CELLS:
            return Wording(
                "The chosen columns have {size:,} cells; this strategy estimates each of them, and at most "
                "{max_cells:,} fit in memory. Choose fewer columns or wider bins, or ask for marginal tables "
                "only.",
                size=domain.size,
                max_cells=MAX_CELLS,
            )
        if workload.queries > MAX_QUERIES:
            return Wording(
                "The workload asks {queries:,} queries; at most {max_queries:,} can be listed. Choose wider "
                "bins or fewer ranges.",
                queries=workload.queries,
                max_queries=MAX_QUERIES,
            )
        return ""

    def tied(self, workload: Workload) -> int:
        """Cells that least squares may tie together by one inverse: its time is cubic in them. From shapes alone."""
        return workload.cells

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
        loss = loss.for_domain(domain)
        facts = _facts(self, domain, workload, loss.definition, optimised)
        replaced = partial(_replaced, self, domain, workload, loss.definition, optimised)
        sensitivity = _moved(loss.unit, facts.column, replaced)
        law = noise_law(loss, sensitivity)
        check_blindness(facts.blind, law)
        return QueryPlan(
            mechanism=self.name,
            domain=domain,
            workload=workload,
            loss=loss,
            sensitivity=sensitivity,
            noise=law,
            counted=(domain.names,),
            total_error=law.variance * facts.trace,
            lower_bound=bound_from(facts.spectrum, workload, loss),
            explanation=self._explanation(facts, workload),
            details={"sums": facts.sums, RECONSTRUCTION.name: RECONSTRUCTION.default},
            optimised=optimised,
        )

    def _explanation(self, facts: Facts, workload: Workload) -> str:
        sums = "1 sum" if facts.sums == 1 else f"{facts.sums:,} sums"
        answers = "1 answer" if workload.queries == 1 else f"{workload.queries:,} answers"
        measured = f"Measures {sums} of cells and reads {answers} off their least-squares estimate."
        return " ".join([self.summary, measured])

    def half_widths(self, plan: QueryPlan, errors: np.ndarray) -> np.ndarray:
        """For each answer an h so that answer ± h holds the true answer with probability at least 0.95, in rows.

        errors: their standard errors.
        """
        return half_widths(plan.noise, errors)

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
        estimate = refined_estimate(strategy, measurement.values)
        errors = standard_errors(plan.noise, strategy, plan.workload)
        cells, way = possible_cells(plan.details[RECONSTRUCTION.name], strategy, measurement.values, estimate)
        return QueryResult(
            answers=plan.workload.answers(estimate),
            standard_errors=errors,
            half_widths=self.half_widths(plan, errors),
            estimate=estimate,
            cells=cells,
            counts=lattice_simplex(cells, max(0, round(float(cells.sum())))),
            reconstruction=way,
        )


@dataclass(frozen=True)
class Facts:
    """What every plan needs to know of a strategy: its size, its column norms, and the error for unit noise.

    blind: how far a row that the sums do not see moves an answer, as a share of its standard error for unit noise.
    spectrum: the nuclear norm of the workload, where it can be told.
    """

    sums: int
    column: Sensitivity
    trace: float
    blind: float
    spectrum: float | None

    def to_json(self) -> list[object]:
        return [self.sums, *_moves(self.column), self.trace, self.blind, self.spectrum]

    @classmethod
    def from_json(cls, value: list[Any]) -> Facts:
        sums, l1, l2_squared, *rest = value
        return cls(sums, Sensitivity(l1, l2_squared), *rest)


def _moves(sensitivity: Sensitivity) -> list[int]:
    return [sensitivity.l1, sensitivity.l2_squared]


def _takes_long(_mechanism: MatrixMechanism, _domain: Domain, workload: Workload, *_others: object) -> bool:
    if _UPLOADED in workload.text:
        return workload.cells * workload.queries > _QUICK_ENTRIES
    return workload.cells > (_QUICK if len(workload.terms) == 1 else _QUICK_UNION)


def _write_arguments(
    mechanism: MatrixMechanism,
    domain: Domain,
    workload: Workload,
    definition: Definition,
    optimised: Optimised | None,
) -> list[object] | None:
    """What the facts are of, as JSON; a strategy that nobody keeps is more than that."""
    if optimised and not optimised.name:
        return None
    stored = optimised.name if optimised else ""
    return [mechanism.name, mechanism.version, domain.to_json(), workload.text, definition.value, stored]


def _read_arguments(written: Sequence[Any]) -> tuple[object, ...]:
    name, _version, columns, text, definition, stored = written
    method, domain = stored_method(name), Domain.from_json(columns)
    read = stored_workload if _UPLOADED in text else read_workload
    return method, domain, read(text, domain), Definition(definition), stored_strategy(stored)


def _strategy_facts(
    mechanism: MatrixMechanism,
    domain: Domain,
    workload: Workload,
    definition: Definition,
    optimised: Optimised | None,
) -> Facts:
    strategy = _strategy(mechanism, domain, workload, definition, optimised)
    blind = blindness(strategy, workload)
    trace = sum(term.weight**2 * strategy.trace(term) for term in workload.terms)
    return Facts(strategy.size, strategy.column, trace, blind, nuclear_norm(workload))


_facts = Search(
    FACTS,
    1,
    _strategy_facts,
    _takes_long,
    JsonForm(_write_arguments, _read_arguments, write=Facts.to_json, read=Facts.from_json),
)


def _replaced_moves(
    mechanism: MatrixMechanism,
    domain: Domain,
    workload: Workload,
    definition: Definition,
    optimised: Optimised | None,
) -> Sensitivity:
    return _strategy(mechanism, domain, workload, definition, optimised).replaced


_replaced = Search(
    REPLACED,
    1,
    _replaced_moves,
    _takes_long,
    JsonForm(_write_arguments, _read_arguments, write=_moves, read=lambda value: Sensitivity(*value)),
)


def _moved(unit: PrivacyUnit, column: Sensitivity, replaced: Callable[[], Sensitivity]) -> Sensitivity:
    """What one person moves; distances of columns take time, and only replaced rows need them."""
    apart = column if unit.neighbours is Neighbours.ADD_REMOVE else replaced()
    return unit_sensitivity(unit, column, apart)


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

    Raises OutdatedPlanError if today's strategy has not as many sums, or not the column norms that the plan's noise is
    for. A plan may have bounds on distances that are exact today: it pays for more than it needs to.
    """
    definition = plan.loss.definition
    strategy = _strategy(mechanism, plan.domain, plan.workload, definition, plan.optimised)
    if _as_planned(strategy, plan):
        return strategy
    raise OutdatedPlanError(OutdatedPlanError.TEMPLATE, title=mechanism.title)


def _as_planned(strategy: Strategy, plan: QueryPlan) -> bool:
    moved, stated = _moved(plan.loss.unit, strategy.column, lambda: strategy.replaced), plan.sensitivity
    within = moved.l1 <= stated.l1 and moved.l2_squared <= stated.l2_squared
    fits = moved == stated if plan.loss.unit.neighbours is Neighbours.ADD_REMOVE else within
    return fits and strategy.size == plan.details["sums"]


def refined_estimate(strategy: Strategy, values: np.ndarray) -> np.ndarray:
    """Least squares with nothing lost in floats: estimates are rounded, and what they leave of the sums, an integer
    however large the counts, is estimated again.

    values: (p,) int64 sums. Returns (n,) floats; the noise goes through once, like any values.
    """
    estimate = strategy.estimate(values)
    for _ in range(_ROUNDS):
        rounded = np.rint(np.clip(estimate, -_LARGEST, _LARGEST) * _UNITS).astype(np.int64)
        left = values * _UNITS - strategy.answers(rounded)
        estimate = (rounded + strategy.estimate(left)) / _UNITS
    return estimate


def noise_law(loss: Loss, sensitivity: Sensitivity) -> NoiseLaw:
    """Discrete Laplace noise for pure ε, discrete Gaussian for zCDP. Raises PlanError if it would be absurdly wide."""
    law = law_for(loss, sensitivity)
    if scale_squared(law) > WIDEST**2:
        raise PlanError(
            "{symbol} = {float:g} is too small for this strategy's noise. Choose a larger {symbol}.",
            symbol=loss.symbol,
            float=float(loss.amount),
        )
    return law


def with_reconstruction(plan: QueryPlan, way: str) -> QueryPlan:
    """The plan with another way to make cells non-negative. Raises PlanError if it does not fit."""
    if way not in dict(RECONSTRUCTION.choices):
        raise PlanError(
            "{label}: choose one of {names}.",
            label=RECONSTRUCTION.label,
            names=", ".join(dict(RECONSTRUCTION.choices)),
        )
    if way == "l1" and not isinstance(plan.noise, DiscreteLaplace):
        raise PlanError("The most likely cells are worked out for Laplace noise only. Choose least squares.")
    if way == "l1" and plan.domain.size > MOST_LIKELY_CELLS:
        raise PlanError(
            "The most likely cells are worked out for at most {most_likely_cells:,} cells; these columns "
            "have {size:,}. Choose least squares, or wider bins.",
            most_likely_cells=MOST_LIKELY_CELLS,
            size=plan.domain.size,
        )
    return replace(plan, details={**plan.details, RECONSTRUCTION.name: way})
