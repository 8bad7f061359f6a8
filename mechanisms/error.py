"""Expected error of a noisy histogram, from the law of its noise alone: no data.

Where every cell has noise of its own the figures are formulas, exact up to float arithmetic. What methods with
data-dependent error lead to expect is simulated in `mechanisms.advice`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from mechanisms.noise import NoiseLaw
from mechanisms.protocol import Plan

# Sums of tails are taken over every integer up to this many, and by quadrature beyond.
_TERMS = 100_000


@dataclass(frozen=True)
class ExpectedError:
    """What to expect of the raw noisy counts of k cells.

    total_variation: half the expected L1 error over n; None without n.
    l1, largest: expectations, in rows. l2: square root of the expected summed squares, in rows.
    inside: expected share of cells within ± half_width.
    """

    total_variation: float | None
    l1: float
    l2: float
    largest: float
    inside: float


def expected_error(law: NoiseLaw, cells: int, half_width: int, people: int | None = None) -> ExpectedError:
    """Expected error of raw noisy counts, by formula.

    cells: k >= 1. people: the curator's own statement of n, > 0, or None. Raises ValueError otherwise.
    """
    if cells < 1:
        raise ValueError(f"cells must be at least 1, got {cells}")
    l1 = cells * law.mean_absolute
    return ExpectedError(
        total_variation=None if people is None else l1 / (2 * _checked_people(people)),
        l1=l1,
        l2=math.sqrt(cells * law.variance),
        largest=expected_largest(law, cells),
        inside=law.coverage(half_width),
    )


def expectation(plan: Plan, people: int | None) -> ExpectedError | None:
    """What a plan leads to expect of its raw counts; None where that depends on the data.

    Exact where every cell has its own noise of the plan's law. Where cells share noise (strategies with
    reconstruction) the errors are taken as normal with the plan's standard error.
    """
    if plan.standard_error is None or plan.half_width is None or plan.coverage is None:
        return None
    cells = plan.domain.size
    if plan.standard_error == plan.noise.standard_error:
        return expected_error(plan.noise, cells, plan.half_width, people)
    l1 = cells * plan.standard_error * math.sqrt(2 / math.pi)
    return ExpectedError(
        total_variation=None if people is None else l1 / (2 * _checked_people(people)),
        l1=l1,
        l2=math.sqrt(cells) * plan.standard_error,
        largest=plan.standard_error * float(-ndtri((1 - 0.5 ** (1 / cells)) / 2)),
        inside=plan.coverage,
    )


def expected_largest(law: NoiseLaw, cells: int) -> float:
    """E max |K_i| over independent cells: Σ_{h>=0} 1 - P(|K| <= h)^cells.

    Exact summation for noise of up to about 100,000 rows; beyond, the trapezoidal rule with a relative error
    below 1e-6.
    """
    # Beyond this the tail of one cell is below 1e-12 / cells.
    reach = 1 + law.half_width(1 - 1e-12) * (1 + math.log(cells) / 27)
    stride = max(1, math.ceil(reach / _TERMS))
    heights = np.arange(0, math.ceil(reach) + stride, stride, dtype=np.float64)
    beyond = -np.expm1(cells * np.log1p(-np.minimum(law.tail(heights), 1 - 1e-16)))
    if stride == 1:
        return float(beyond.sum())
    # A sum over integers is half of the first term plus the integral of the trapezoids.
    return float(stride * (beyond.sum() - beyond[0] / 2) + beyond[0] / 2)


def _checked_people(people: int) -> int:
    if people < 1:
        raise ValueError(f"people must be at least 1, got {people}")
    return people
