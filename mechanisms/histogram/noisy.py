"""The plain noisy histogram: independent exact noise on the count of every cell."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from mechanisms.accounting import Definition, Loss, Neighbours, PrivacyUnit, pure_within_zcdp
from mechanisms.counting import Sensitivity, histogram_sensitivity
from mechanisms.domain import Domain
from mechanisms.mechanism import Measurement, Parameter, Plan, PlanError, Result
from mechanisms.noise import DiscreteGaussian, DiscreteLaplace, Noise, NoiseLaw
from mechanisms.postprocess import lattice_simplex

MAX_CELLS = 10**8
MAX_AMOUNT = 1000
MAX_SCALE = 10**9
LEVEL = 0.95
# Losses are offered with six decimal places.
_GRID = 10**6

WITHIN_BINS = Parameter(
    name="within_bins",
    label="Values inside a bin",
    help="Where in its bin a synthetic value lies: anywhere with equal chance, or at the middle.",
    default="uniform",
    choices=(("uniform", "Spread evenly over the bin"), ("midpoint", "At the middle of the bin")),
)


class _NoisyHistogram:
    """What the noisy histograms share; a subclass says which law of noise a loss buys."""

    name: ClassVar[str]
    title: ClassVar[str]
    definitions: ClassVar[frozenset[Definition]]
    parameters: ClassVar[tuple[Parameter, ...]] = (WITHIN_BINS,)

    def _law(self, loss: Loss, sensitivity: Sensitivity) -> NoiseLaw:
        """The noise with which counts of this sensitivity satisfy the loss; PlanError if there is none."""
        raise NotImplementedError

    def plan(self, domain: Domain, parameters: Mapping[str, Any], loss: Loss) -> Plan:
        """Decide everything without data.

        parameters: "within_bins"; and "total", the public number of rows, where a person is replaced and has
        one row. Raises PlanError if the loss, the domain or a parameter does not fit.
        """
        _check_cells(domain)
        total = _total(parameters, loss.unit)
        within_bins = _within_bins(parameters)
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
            explanation=_explanation(loss, sensitivity, law),
            details=total,
        )

    def _fitting_law(self, loss: Loss, sensitivity: Sensitivity) -> NoiseLaw:
        _check_amount(loss)
        law = self._law(loss, sensitivity)
        if _scale_squared(law) > MAX_SCALE**2:
            raise PlanError(
                f"{loss.symbol} = {float(loss.amount):g} is too small: the noise would exceed "
                f"± {MAX_SCALE:,} rows. Choose a larger {loss.symbol}."
            )
        return law

    def measure(self, plan: Plan, counts: np.ndarray, noise: Noise) -> Measurement:
        """Add the plan's noise to every cell.

        counts: (plan.domain.size,) int64 >= 0. Returns (plan.domain.size,) int64.
        Raises ValueError if the shape, the type or the sign does not fit.
        """
        wanted = (plan.domain.size,)
        if counts.shape != wanted:
            raise ValueError(f"counts must have shape {wanted}, got {counts.shape}")
        if counts.dtype != np.int64:
            raise ValueError(f"counts must have type int64, got {counts.dtype}")
        if counts.min() < 0:
            raise ValueError("counts must not be negative")
        return Measurement(counts + noise.draw(plan.noise, counts.size))

    def reconstruct(self, plan: Plan, measurement: Measurement) -> Result:
        """The measured counts, and the nearest counts of a possible table.

        That table has the public total where the plan holds one, else the sum of the noisy counts, or 0 if
        the sum is negative.
        """
        raw = measurement.values
        total = int(plan.details.get("total", max(0, int(raw.sum()))))
        return Result(raw=raw, counts=lattice_simplex(raw, total))

    def loss_for(self, half_width: int, definition: Definition, unit: PrivacyUnit) -> Loss:
        """The smallest loss with six decimal places whose 95% interval is at most ± half_width rows.

        Raises PlanError if no loss of at most 1000 is enough, or the definition does not fit.
        """
        low, high = 1, MAX_AMOUNT * _GRID
        largest = Loss(definition, Fraction(high, _GRID), unit)
        if not self._reaches(largest, half_width):
            raise PlanError(f"No {largest.symbol} up to {MAX_AMOUNT} gives ± {half_width} rows; allow more.")
        while low < high:
            middle = (low + high) // 2
            if self._reaches(replace(largest, amount=Fraction(middle, _GRID)), half_width):
                high = middle
            else:
                low = middle + 1
        return replace(largest, amount=Fraction(low, _GRID))

    def _reaches(self, loss: Loss, half_width: int) -> bool:
        law = self._law(loss, histogram_sensitivity(loss.unit))
        return _scale_squared(law) <= MAX_SCALE**2 and law.coverage(half_width) >= LEVEL


class LaplaceHistogram(_NoisyHistogram):
    """Counts with discrete Laplace noise of scale Δ₁/ε. Under a zCDP budget, the largest ε with ε²/2 <= ρ."""

    name: ClassVar[str] = "laplace-histogram"
    title: ClassVar[str] = "Noisy histogram, Laplace"
    summary: ClassVar[str] = "Every count gets two-sided geometric noise; paid from any budget."
    definitions: ClassVar[frozenset[Definition]] = frozenset({Definition.PURE, Definition.ZCDP})

    def _law(self, loss: Loss, sensitivity: Sensitivity) -> NoiseLaw:
        if loss.definition is Definition.PURE:
            return DiscreteLaplace(sensitivity.l1 / loss.amount)
        try:
            return DiscreteLaplace(sensitivity.l1 / pure_within_zcdp(loss.amount))
        except ValueError as error:
            raise PlanError(f"{loss.symbol} is too small for Laplace noise. Choose a larger one.") from error


class GaussianHistogram(_NoisyHistogram):
    """Counts with discrete Gaussian noise of variance parameter Δ₂²/(2ρ); Canonne, Kamath, Steinke 2020."""

    name: ClassVar[str] = "gaussian-histogram"
    title: ClassVar[str] = "Noisy histogram, Gaussian"
    summary: ClassVar[str] = (
        "Every count gets discrete Gaussian noise: fewer large errors; needs a budget in ρ."
    )
    definitions: ClassVar[frozenset[Definition]] = frozenset({Definition.ZCDP})

    def _law(self, loss: Loss, sensitivity: Sensitivity) -> NoiseLaw:
        if loss.definition is not Definition.ZCDP:
            raise PlanError(
                "Gaussian noise needs a zCDP budget (ρ); this budget is pure ε. "
                "Use Laplace noise, or ask an administrator for a budget in ρ."
            )
        return DiscreteGaussian(sensitivity.l2_squared / (2 * loss.amount))


def _check_cells(domain: Domain) -> None:
    if not domain.attributes:
        raise PlanError("Choose at least one column.")
    if not 1 <= domain.size <= MAX_CELLS:
        raise PlanError(
            f"The chosen columns have {domain.size:,} cells; at most {MAX_CELLS:,} can be released. "
            "Choose fewer columns or wider bins."
        )


def _check_amount(loss: Loss) -> None:
    if loss.amount > MAX_AMOUNT:
        raise PlanError(
            f"{loss.symbol} = {float(loss.amount):g} protects nobody. Choose at most {MAX_AMOUNT}; "
            "values up to about 1 are usual."
        )


def _within_bins(parameters: Mapping[str, Any]) -> str:
    value = parameters.get(WITHIN_BINS.name, WITHIN_BINS.default)
    allowed = [key for key, _ in WITHIN_BINS.choices]
    if value not in allowed:
        raise PlanError(f"{WITHIN_BINS.label}: choose one of {', '.join(allowed)}.")
    return str(value)


def _total(parameters: Mapping[str, Any], unit: PrivacyUnit) -> dict[str, int]:
    """The public number of rows, if one was given and it is public."""
    if parameters.get("total") is None:
        return {}
    if unit != PrivacyUnit(Neighbours.REPLACE_ONE, max_rows=1):
        raise PlanError(
            "The number of rows is private here. Leave it out, or declare that a person is replaced "
            "(not added or removed) and has one row."
        )
    total = int(parameters["total"])
    if total < 0:
        raise PlanError("The number of rows must not be negative.")
    return {"total": total}


def _scale_squared(law: NoiseLaw) -> Fraction:
    return law.scale**2 if isinstance(law, DiscreteLaplace) else law.variance_parameter


def _root(squared: int) -> str:
    root = math.isqrt(squared)
    return str(root) if root**2 == squared else f"√{squared}"


def _explanation(loss: Loss, sensitivity: Sensitivity, law: NoiseLaw) -> str:
    rows = "1 row" if loss.unit.max_rows == 1 else f"at most {loss.unit.max_rows} rows"
    change = "Adding or removing" if loss.unit.neighbours is Neighbours.ADD_REMOVE else "Replacing"
    if isinstance(law, DiscreteLaplace):
        moved = f"changes all counts together by at most {sensitivity.l1} (L1 sensitivity {sensitivity.l1})"
        noise = f"discrete Laplace noise of scale {float(law.scale):.6g}"
    else:
        moved = f"changes the counts by at most {_root(sensitivity.l2_squared)} in L2 distance"
        noise = f"discrete Gaussian noise of variance parameter {float(law.variance_parameter):.6g}"
    return (
        f"{change} one person, who has {rows}, {moved}, so {noise} on every count gives "
        f"{loss.symbol} = {float(loss.amount):.6g}."
    )
