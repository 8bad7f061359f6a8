"""Full-batch gradients for Opacus, with noise that is an exact discrete Gaussian of the operating system's CSPRNG."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import torch
from opacus.optimizers import DPOptimizerFastGradientClipping

from mechanisms.noise import DiscreteGaussian, Noise

# Gradients are rounded to this share of the bound on a person's norm before noise.
GRID = 2**20


def noise_multiplier(rho: Fraction, steps: int) -> float:
    """Opacus's σ, in units of the bound on the norm, of each of so many full-batch steps that together cost ρ.

    A step is a Gaussian mechanism of sensitivity C and deviation σC, 1/(2σ²)-zCDP; `steps` of them add up to ρ. Nothing
    is subsampled, so no amplification is claimed, and Rényi accounting says the same.
    """
    return math.sqrt(steps / (2 * rho))


def step_law(rho: Fraction, steps: int, parameters: int) -> DiscreteGaussian:
    """The noise of each coordinate, in units of C/GRID.

    One person more or less moves the sum of clipped gradients by at most C in L2, hence its rounding by at most
    GRID + √parameters units: so a step is ρ/steps-zCDP (Canonne, Kamath, Steinke 2020, Theorem 4). That holds for a sum
    of real numbers. The clipped gradients are float32, and so is their sum, which the proof does not cover.
    """
    moved = GRID + math.isqrt(parameters - 1) + 1
    return DiscreteGaussian(moved**2 * steps / (2 * rho))


class ExactNoise(DPOptimizerFastGradientClipping):
    """Opacus's optimiser under ghost clipping, with whole multiples of C/GRID as noise instead of floats.

    Opacus's own way to secure noise (`secure_mode`) needs torchcsprng, of which there is no wheel for this Python.
    """

    def __init__(self, *args: Any, law: DiscreteGaussian, noise: Noise, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._law, self._noise = law, noise

    def add_noise(self) -> None:
        unit = self.max_grad_norm / GRID
        for parameter in self.params:
            whole = np.rint(parameter.summed_grad.double().numpy() / unit).astype(np.int64)
            noisy = whole + self._noise.draw(self._law, whole.size).reshape(whole.shape)
            parameter.grad = torch.from_numpy(noisy * unit).to(parameter.dtype)
