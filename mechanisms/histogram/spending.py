"""How a release's loss is divided over the stages of a mechanism, exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from mechanisms.accounting import Definition, Loss, pure_within_zcdp
from mechanisms.calibration import MAX_SCALE, too_small
from mechanisms.noise import DiscreteLaplace, Noise, NoiseLaw

# Weights that are not rational are rounded to multiples of this, then divided by their sum.
_GRID = 2**20


@dataclass(frozen=True)
class Stage:
    """One private question: its law of noise, and which share of the loss each of its `times` askings costs."""

    name: str
    share: Fraction
    law: NoiseLaw
    times: int = 1

    def to_json(self) -> dict[str, object]:
        return {"stage": self.name, "share": str(self.share), "times": self.times, "law": self.law.to_json()}


def stages_to_json(stages: Sequence[Stage]) -> list[dict[str, object]]:
    """The stages for `Plan.details["stages"]`. Raises ValueError if together they cost more than the loss."""
    spent = sum((stage.share * stage.times for stage in stages), Fraction(0))
    if spent > 1:
        raise ValueError(f"the stages cost {spent} of the loss")
    return [stage.to_json() for stage in stages]


def share_of(loss: Loss, share: Fraction) -> Loss:
    """A part of a loss; the parts of sequential stages add up (ε and ρ alike)."""
    return replace(loss, amount=loss.amount * share)


def laplace_law(loss: Loss, scale: Fraction) -> DiscreteLaplace:
    """Discrete Laplace noise that a loss asks for. Raises PlanError if the scale exceeds 10^9 rows."""
    if scale > MAX_SCALE:
        raise too_small(loss)
    return DiscreteLaplace(scale)


def pure_epsilon(loss: Loss) -> Fraction:
    """An ε such that an ε-DP stage fits the loss: itself, or the largest ε with ε²/2 <= ρ.

    Raises PlanError if ρ leaves none.
    """
    if loss.definition is Definition.PURE:
        return loss.amount
    try:
        return pure_within_zcdp(loss.amount)
    except ValueError as error:
        raise too_small(loss) from error


def rational_shares(weights: Sequence[float]) -> list[Fraction]:
    """Positive fractions that sum to exactly 1, proportional to the weights up to rounding."""
    largest = max(weights)
    integers = [max(1, round(weight / largest * _GRID)) for weight in weights]
    return [Fraction(w, sum(integers)) for w in integers]


def permute_and_flip(gaps: np.ndarray, rate: Fraction, noise: Noise) -> int:
    """In random order, the first candidate whose coin of probability exp(-rate · gap) falls heads.

    gaps: (k,) int64 >= 0, how far each score trails the best, at least one of them 0. Returns its index. ε-DP if the
    rate is at most ε/(2Δ), for scores that a person moves by at most Δ each (McKenna and Sheldon 2020).
    """
    order = noise.permutation(gaps.size)
    return int(order[noise.bernoulli_exp(rate, gaps[order]).argmax()])
