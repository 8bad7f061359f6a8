"""Histograms that measure weighted sums of cells by a strategy and rebuild the cells by least squares."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from typing import ClassVar, Protocol

import numpy as np

from mechanisms import box_queries
from mechanisms.accounting import Definition, Loss, PrivacyUnit
from mechanisms.box_queries import CellSum, Picks
from mechanisms.calibration import MAX_SCALE, law_for, scale_squared, too_small
from mechanisms.domain import Domain
from mechanisms.histogram.blocks import grid_codes
from mechanisms.histogram.box_sums import plain_sum, standard_error
from mechanisms.histogram.combination import Combination
from mechanisms.histogram.top_down import top_down
from mechanisms.linear.dyadic import PURPOSE, workload_energies
from mechanisms.noise import WIDEST, Noise, NoiseLaw
from mechanisms.noise.sum_quantiles import half_widths
from mechanisms.protocol import Measurement, Mechanism, NoisySums, Parameter, Parameters, Plan, Result
from mechanisms.sensitivity import Sensitivity, unit_sensitivity
from mechanisms.validation import WITHIN_BINS, check_amount, check_cells, check_counts, choice, public_total

MAX_CELLS = 2**24


class CellStrategy(Protocol):
    """Integer-weighted sums over 2^K cells whose Gram matrix has the eigenspaces of `dyadic`.

    column, replaced: how far a row moves the answers that enters or leaves, or changes its cell. levels: the
    exponents of the block sizes it measures, from the root down. estimate: least squares, (size,) to (2^K,).
    """

    @property
    def weights(self) -> tuple[int, ...]: ...
    @property
    def scales(self) -> int: ...
    @property
    def levels(self) -> tuple[int, ...]: ...
    @property
    def size(self) -> int: ...
    @property
    def column(self) -> Sensitivity: ...
    @property
    def replaced(self) -> Sensitivity: ...
    @property
    def eigenvalues(self) -> tuple[float, ...]: ...
    def answers(self, counts: np.ndarray) -> np.ndarray: ...
    def estimate(self, values: np.ndarray) -> np.ndarray: ...
    def cell_coefficients(self) -> Iterator[tuple[float, int]]: ...


def strategy_sensitivity(unit: PrivacyUnit, strategy: CellStrategy) -> Sensitivity:
    """How far one person moves the strategy's answers, from the norms of its columns and their distances."""
    return unit_sensitivity(unit, strategy.column, strategy.replaced)


def strategy_law(loss: Loss, strategy: CellStrategy) -> NoiseLaw:
    """The noise for a strategy's answers: discrete Laplace for pure ε, discrete Gaussian for zCDP.

    Raises PlanError if it would be absurdly wide.
    """
    law = law_for(loss, strategy_sensitivity(loss.unit, strategy))
    if scale_squared(law) > min(WIDEST, MAX_SCALE * max(strategy.weights)) ** 2:
        raise too_small(loss)
    return law


def counts_cells_alone(strategy: CellStrategy) -> bool:
    """Whether it measures each cell once and nothing else, so that it is the plain noisy histogram."""
    return strategy.levels == (0,) and strategy.weights[0] == 1


class StrategyHistogram(Mechanism):
    """What the histograms by a strategy share; a subclass says which strategy suits a purpose.

    Measurement: the strategy's answers with noise, in the order of `Strategy.answers`.
    """

    parameters: ClassVar[tuple[Parameter, ...]] = (WITHIN_BINS, PURPOSE)
    is_linear: ClassVar[bool] = True

    @abstractmethod
    def best(self, purpose: str, cells: int, definition: Definition) -> CellStrategy:
        """The strategy of least error for a purpose."""

    @abstractmethod
    def strategy(self, plan: Plan) -> CellStrategy:
        """The strategy that a plan has laid down."""

    @abstractmethod
    def _how(self, strategy: CellStrategy) -> str:
        """The beginning of a sentence: what is measured, and what one person changes."""

    def plan(self, domain: Domain, parameters: Parameters, loss: Loss) -> Plan:
        """Decide everything without data.

        parameters: "within_bins", "purpose"; and "total", the number of rows, where it is public.
        `details["expected_errors"]` holds the root mean squared error of the unbiased estimates for each purpose, in
        rows. Raises PlanError if the loss, the domain or a parameter does not fit.
        """
        check_cells(domain, MAX_CELLS)
        check_amount(loss)
        loss = loss.for_domain(domain)
        total = public_total(parameters, loss.unit)
        purpose = choice(PURPOSE, parameters)
        strategy = self.best(purpose, domain.size, loss.definition)
        law = strategy_law(loss, strategy)
        cell = Combination.of(law, strategy.cell_coefficients())
        half_width = cell.half_width()
        return Plan(
            mechanism=self.name,
            domain=domain,
            parameters={"within_bins": choice(WITHIN_BINS, parameters), "purpose": purpose, **total},
            loss=loss,
            sensitivity=strategy_sensitivity(loss.unit, strategy),
            noise=law,
            standard_error=cell.standard_error,
            half_width=half_width,
            coverage=cell.coverage(half_width),
            explanation=f"{self._how(strategy)} {_error_sentence(domain, law, strategy)}",
            details={
                "weights": list(strategy.weights),
                "expected_errors": expected_errors(domain.size, law, strategy),
                **total,
            },
        )

    def measure(self, plan: Plan, counts: np.ndarray, noise: Noise) -> Measurement:
        """Add the plan's noise to the strategy's answers.

        counts: (plan.domain.size,) int64 >= 0. Returns (strategy.size,) int64.
        Raises ValueError if the shape, the type or the sign does not fit.
        """
        check_counts(plan.domain, counts)
        strategy = self.strategy(plan)
        return Measurement(strategy.answers(counts) + noise.draw(plan.noise, strategy.size))

    def noisy_sums(self, plan: Plan, values: np.ndarray) -> list[NoisySums]:
        """All of them: a row adds a weight to one sum of each level."""
        return [NoisySums(values, plan.noise, 0, max(self.strategy(plan).weights))]

    def reconstruct(self, plan: Plan, measurement: Measurement) -> Result:
        """The unbiased least-squares estimates, and a possible table near them (`top_down`).

        Its parts are halved along every column, though the strategy has the cells on one line: where every line across
        has its people in the same cells, halves of single lines would all be wrong in the same direction.
        """
        strategy = self.strategy(plan)
        estimates = strategy.estimate(measurement.values)[: plan.domain.size]
        codes = grid_codes(np.array(plan.domain.shape, dtype=np.int64))
        error = largest_error(plan.noise, strategy)
        return Result(
            raw=estimates, counts=top_down(estimates, codes, error, total=plan.details.get("total"))
        )

    def cell_sum(self, plan: Plan, values: np.ndarray, picks: Picks) -> CellSum:
        """With Var = σ² Σ_e energy_e / λ_e (see `dyadic`); of one cell with the plan's own, published interval."""
        cells, shape = box_queries.size(picks), plan.domain.shape
        strategy = self.strategy(plan)
        if counts_cells_alone(strategy):
            return plain_sum(plan, values[: plan.domain.size], picks)
        estimates = strategy.estimate(values)[: plan.domain.size]
        root = standard_error(box_queries.flags(shape, picks), strategy.scales, strategy.eigenvalues)
        error = np.array(root) * plan.noise.standard_error
        reach = (
            plan.half_width if cells == 1 and plan.half_width is not None else half_widths(plan.noise, error)
        )
        return CellSum(box_queries.summed(estimates, shape, picks), float(reach), cells)


def largest_error(law: NoiseLaw, strategy: CellStrategy) -> float:
    """The standard error, in rows, of the unbiased estimates' sum over s cells is at most this times √s."""
    return law.standard_error / math.sqrt(min(strategy.eigenvalues))


def expected_errors(cells: int, law: NoiseLaw, strategy: CellStrategy) -> dict[str, float]:
    """Root mean squared error of the unbiased answers for each purpose, in rows; exact and data-free."""
    return {
        purpose: _root_error(workload_energies(purpose, cells), law, strategy)
        for purpose, _ in PURPOSE.choices
    }


def _root_error(energies: tuple[float, ...], law: NoiseLaw, strategy: CellStrategy) -> float:
    pairs = zip(energies, strategy.eigenvalues, strict=True)
    return math.sqrt(law.variance * sum(energy / value for energy, value in pairs))


def _error_sentence(domain: Domain, law: NoiseLaw, strategy: CellStrategy) -> str:
    errors = expected_errors(domain.size, law, strategy)
    expected = (
        f"Expected error: {errors['cells']:,.3g} rows for a cell, {errors['ranges']:,.3g} for a range of cells, "
        f"{errors['totals']:,.3g} for a running total."
    )
    if len(domain.attributes) == 1:
        return expected
    order = "Cells are taken in the order of the columns, the last column changing fastest."
    return " ".join([expected, order])
