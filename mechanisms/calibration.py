"""From a loss and a sensitivity to the noise that pays for it."""

from __future__ import annotations

from fractions import Fraction

from mechanisms.accounting import Definition, Loss
from mechanisms.counting import Sensitivity
from mechanisms.noise import DiscreteGaussian, DiscreteLaplace, NoiseLaw


def law_for(loss: Loss, sensitivity: Sensitivity) -> NoiseLaw:
    """Discrete Laplace noise of scale Δ₁/ε (pure), discrete Gaussian noise of variance parameter Δ₂²/(2ρ) (zCDP)."""
    if loss.definition is Definition.PURE:
        return DiscreteLaplace(sensitivity.l1 / loss.amount)
    return DiscreteGaussian(sensitivity.l2_squared / (2 * loss.amount))


def scale_squared(law: NoiseLaw) -> Fraction:
    """The square of a discrete Laplace's scale, the variance parameter of a discrete Gaussian: its width, exactly."""
    return law.scale**2 if isinstance(law, DiscreteLaplace) else law.variance_parameter
