"""The plain noisy histogram: independent exact noise on the count of every cell."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from mechanisms.accounting import Definition, Loss, Neighbours, PrivacyUnit, pure_within_zcdp
from mechanisms.arrays import summed
from mechanisms.box_queries import CellSum, Picks
from mechanisms.calibration import MAX_SCALE, scale_squared, too_small
from mechanisms.domain import Domain
from mechanisms.histogram.blocks import grid_codes
from mechanisms.histogram.box_sums import plain_difference, plain_sum
from mechanisms.histogram.top_down import top_down
from mechanisms.noise import DiscreteGaussian, DiscreteLaplace, Noise, NoiseLaw
from mechanisms.postprocess import lattice_simplex
from mechanisms.protocol import (
    CellCost,
    Measurement,
    Mechanism,
    NoisySums,
    Parameter,
    Parameters,
    Plan,
    PlanError,
    Result,
)
from mechanisms.sensitivity import Sensitivity, histogram_sensitivity
from mechanisms.validation import (
    MAX_AMOUNT,
    WITHIN_BINS,
    check_amount,
    check_cells,
    check_counts,
    choice,
    public_total,
)

MAX_CELLS = 10**8
# Up to so many cells their counts are made possible half by half, which takes 100 bytes a cell.
HALVED_CELLS = 2**18
LEVEL = 0.95
# Losses are offered with six decimal places.
_GRID = 10**6


class NoisyHistogram(Mechanism):
    """What the noisy histograms share; a subclass says which law of noise a loss buys."""

    parameters: ClassVar[tuple[Parameter, ...]] = (WITHIN_BINS,)
    is_linear: ClassVar[bool] = True
    is_plain: ClassVar[bool] = True

    def _law(self, loss: Loss, sensitivity: Sensitivity) -> NoiseLaw:
        """The noise with which counts of this sensitivity satisfy the loss; PlanError if there is none."""
        raise NotImplementedError

    def plan(self, domain: Domain, parameters: Parameters, loss: Loss) -> Plan:
        """Decide everything without data.

        parameters: "within_bins"; and "total", the number of rows, where it is public. Raises PlanError if the loss,
        the domain or a parameter does not fit.
        """
        check_cells(domain, MAX_CELLS)
        loss = loss.for_domain(domain)
        total = public_total(parameters, loss.unit)
        within_bins = choice(WITHIN_BINS, parameters)
        sensitivity = histogram_sensitivity(loss.unit)
        law = self._fitting_law(loss, sensitivity)
        half_width = law.half_width(LEVEL)
        return Plan(
            mechanism=self.name,
            domain=domain,
            parameters={"within_bins": within_bins, **total},
            loss=loss,
            sensitivity=sensitivity,
            noise=law,
            standard_error=law.standard_error,
            half_width=half_width,
            coverage=law.coverage(half_width),
            explanation=_explanation(loss, sensitivity, law) + _normalised(law, total),
            details=total,
        )

    def _fitting_law(self, loss: Loss, sensitivity: Sensitivity) -> NoiseLaw:
        check_amount(loss)
        law = self._law(loss, sensitivity)
        if scale_squared(law) > MAX_SCALE**2:
            raise too_small(loss)
        return law

    def measure(self, plan: Plan, counts: np.ndarray, noise: Noise) -> Measurement:
        """Add the plan's noise to every cell.

        counts: (plan.domain.size,) int64 >= 0. Returns (plan.domain.size,) int64.
        Raises ValueError if the shape, the type or the sign does not fit.
        """
        check_counts(plan.domain, counts)
        values = noise.draw(plan.noise, counts.size)
        # In place: of 10^8 cells a sum beside both would take 0.8 GB more.
        values += counts
        return Measurement(values)

    def noisy_sums(self, plan: Plan, values: np.ndarray) -> list[NoisySums]:
        """All of them: a row adds 1 to its cell."""
        return [NoisySums(values, plan.noise)]

    def reconstruct(self, plan: Plan, measurement: Measurement) -> Result:
        """The measured counts, and counts of a possible table near them.

        Where the plan holds a public total, the nearest ones in L1 distance with that sum: the normalised histogram.
        So too where there are very many cells, with the sum of the noisy counts, or 0 if that is negative.
        """
        raw = measurement.values
        if "total" in plan.details or raw.size > HALVED_CELLS:
            total = int(plan.details["total"]) if "total" in plan.details else max(0, summed(raw))
            return Result(raw=raw, counts=lattice_simplex(raw, total))
        codes = grid_codes(np.array(plan.domain.shape, dtype=np.int64))
        return Result(raw=raw, counts=top_down(raw, codes, plan.noise.standard_error))

    def loss_for(self, half_width: int, definition: Definition, unit: PrivacyUnit) -> Loss:
        """The smallest loss with six decimal places whose 95 % interval is at most ± half_width rows.

        Raises PlanError if no loss of at most 1000 is enough, or the definition does not fit.
        """
        low, high = 1, MAX_AMOUNT * _GRID
        largest = Loss(definition, Fraction(high, _GRID), unit)
        if not self._reaches(largest, half_width):
            raise PlanError(
                "No {symbol} up to {max_amount} gives ± {half_width} rows; allow more.",
                symbol=largest.symbol,
                max_amount=MAX_AMOUNT,
                half_width=half_width,
            )
        while low < high:
            middle = (low + high) // 2
            if self._reaches(replace(largest, amount=Fraction(middle, _GRID)), half_width):
                high = middle
            else:
                low = middle + 1
        return replace(largest, amount=Fraction(low, _GRID))

    def cell_sum(self, plan: Plan, values: np.ndarray, picks: Picks) -> CellSum:
        """With the least interval of a plain sum of independent noises."""
        return plain_sum(plan, values, picks)

    def cell_difference(self, plan: Plan, values: np.ndarray, first: Picks, second: Picks) -> CellSum:
        """With the least interval of a plain sum of the noises that are in one box alone."""
        return plain_difference(plan, values, first, second)

    def _reaches(self, loss: Loss, half_width: int) -> bool:
        law = self._law(loss, histogram_sensitivity(loss.unit))
        return scale_squared(law) <= MAX_SCALE**2 and law.coverage(half_width) >= LEVEL


class LaplaceHistogram(NoisyHistogram):
    """Counts with discrete Laplace noise of scale Δ₁/ε. Under a zCDP budget, the largest ε with ε²/2 <= ρ."""

    name: ClassVar[str] = "laplace-histogram"
    title: ClassVar[str] = "Noisy histogram, Laplace"
    summary: ClassVar[str] = "Every count gets two-sided geometric noise; for any budget."
    cost_per_cell: ClassVar[CellCost] = CellCost(1.6, 16)

    def _law(self, loss: Loss, sensitivity: Sensitivity) -> NoiseLaw:
        if loss.definition is Definition.PURE:
            return DiscreteLaplace(sensitivity.l1 / loss.amount)
        try:
            return DiscreteLaplace(sensitivity.l1 / pure_within_zcdp(loss.amount))
        except ValueError as error:
            raise PlanError(
                "{symbol} is too small for Laplace noise. Choose a larger one.", symbol=loss.symbol
            ) from error


class GaussianHistogram(NoisyHistogram):
    """Counts with discrete Gaussian noise of variance parameter Δ₂²/(2ρ); Canonne, Kamath, Steinke 2020."""

    name: ClassVar[str] = "gaussian-histogram"
    title: ClassVar[str] = "Noisy histogram, Gaussian"
    summary: ClassVar[str] = (
        "Every count gets discrete Gaussian noise: fewer large errors; needs a budget in ρ."
    )
    definitions: ClassVar[frozenset[Definition]] = frozenset({Definition.ZCDP})
    cost_per_cell: ClassVar[CellCost] = CellCost(1.7, 16)

    def _law(self, loss: Loss, sensitivity: Sensitivity) -> NoiseLaw:
        if loss.definition is not Definition.ZCDP:
            raise PlanError(
                "Gaussian noise needs a zCDP budget (ρ); this budget is pure ε. "
                "Use Laplace noise, or ask an administrator for a budget in ρ."
            )
        return DiscreteGaussian(sensitivity.l2_squared / (2 * loss.amount))


def _root(squared: int) -> str:
    root = math.isqrt(squared)
    return str(root) if root**2 == squared else f"√{squared}"


def _explanation(loss: Loss, sensitivity: Sensitivity, law: NoiseLaw) -> str:
    rows = "1 row counts" if loss.unit.max_rows == 1 else f"at most {loss.unit.max_rows} rows count"
    change = "Adding or removing" if loss.unit.neighbours is Neighbours.ADD_REMOVE else "Replacing"
    if isinstance(law, DiscreteLaplace):
        moved = f"changes all counts together by at most {sensitivity.l1} (L1 sensitivity {sensitivity.l1})"
        noise = f"discrete Laplace noise of scale {float(law.scale):.6g}"
    else:
        moved = f"changes the counts by at most {_root(sensitivity.l2_squared)} in L2 distance"
        noise = f"discrete Gaussian noise of variance parameter {float(law.variance_parameter):.6g}"
    return f"{change} one person, of whom {rows}, {moved}, so {noise} on every count gives {loss}."


def _normalised(law: NoiseLaw, total: Mapping[str, int]) -> str:
    """Where n is public: the same release read as shares of n, the normalised histogram."""
    if not total.get("total") or not isinstance(law, DiscreteLaplace):
        return ""
    return (
        f" The number of people, n = {total['total']:,}, is public, so this is the normalised histogram: every share "
        f"of n gets noise of scale {float(law.scale):.6g}/n, and the shares are then moved to the nearest ones "
        "that are whole people and sum to 1."
    )
