"""From a loss and a sensitivity to the noise that pays for it."""

from __future__ import annotations

import math
from fractions import Fraction

from mechanisms.accounting import Definition, Loss
from mechanisms.noise import DiscreteGaussian, DiscreteLaplace, NoiseLaw
from mechanisms.protocol import PlanError
from mechanisms.sensitivity import Sensitivity, histogram_sensitivity

# In rows; wider noise would drown every table.
MAX_SCALE = 10**9


def law_for(loss: Loss, sensitivity: Sensitivity) -> NoiseLaw:
    """Discrete Laplace noise of scale Δ₁/ε (pure), discrete Gaussian noise of variance parameter Δ₂²/(2ρ) (zCDP)."""
    if loss.definition is Definition.PURE:
        return DiscreteLaplace(sensitivity.l1 / loss.amount)
    return DiscreteGaussian(sensitivity.l2_squared / (2 * loss.amount))


def scale_squared(law: NoiseLaw) -> Fraction:
    """The square of a discrete Laplace's scale, the variance parameter of a discrete Gaussian: its width, exactly."""
    return law.scale**2 if isinstance(law, DiscreteLaplace) else law.variance_parameter


def count_law(loss: Loss, sensitivity: Sensitivity) -> NoiseLaw:
    """The noise for a vector of integers: discrete Laplace under pure DP, discrete Gaussian under zCDP.

    Raises PlanError if its scale exceeds 10^9 rows.
    """
    law = law_for(loss, sensitivity)
    if scale_squared(law) > MAX_SCALE**2:
        raise too_small(loss)
    return law


def equal_epsilon(loss: Loss) -> float:
    """The ε of Laplace noise as wide as that which the loss asks for on a single cell: 1/scale, or √2/σ.

    Raises PlanError if the noise would exceed 10^9 rows.
    """
    law = count_law(loss, histogram_sensitivity(loss.unit))
    if isinstance(law, DiscreteLaplace):
        return float(1 / law.scale)
    assert isinstance(law, DiscreteGaussian)
    return math.sqrt(2 / law.variance_parameter)


def too_small(loss: Loss) -> PlanError:
    """The refusal of a loss whose noise would be absurd."""
    return PlanError(
        "{symbol} = {float:g} is too small: the noise would exceed ± {max_scale:,} rows. Choose a "
        "larger {symbol}.",
        symbol=loss.symbol,
        float=float(loss.amount),
        max_scale=MAX_SCALE,
    )
