"""The Haar wavelet strategy: the total, and for every block the difference between its halves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from mechanisms.accounting import Definition
from mechanisms.linear.dyadic import workload_energies
from mechanisms.linear.tree import integer_weights
from mechanisms.sensitivity import Sensitivity


@dataclass(frozen=True)
class Haar:
    """Weighted Haar coefficients of 2^K cells.

    weights: K + 1 integers > 0; weights[K] for the total, weights[e] for the differences between the halves
        (of 2^e cells each) of every block of 2^(e+1).
    A cell is in one coefficient of each scale, with sign ±, so every column has the same norms.
    Source: Xiao, Wang, Gehrke 2010 (Privelet); weights for a workload: Li et al. 2015.
    """

    weights: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.weights or min(self.weights) < 1:
            raise ValueError("a wavelet needs a weight above 0 for every scale")

    @property
    def scales(self) -> int:
        """K."""
        return len(self.weights) - 1

    @property
    def column(self) -> Sensitivity:
        """Norms of a column: how far a row that enters or leaves moves the answers."""
        return Sensitivity(sum(self.weights), sum(w * w for w in self.weights))

    @property
    def replaced(self) -> Sensitivity:
        """Largest distance between two columns: how far a row that changes its cell moves the answers.

        Two cells that part at scale e have coefficients w and -w there (distance 2w, squared 4w²), different
        ones below and the same above. A single cell cannot be changed; its weight stands in.
        """
        w = self.weights[:-1] or self.weights
        squares = (4 * w[e] ** 2 + 2 * sum(v * v for v in w[:e]) for e in range(len(w)))
        return Sensitivity(2 * sum(w), max(squares))

    @property
    def size(self) -> int:
        """Number of coefficients."""
        return 1 << self.scales

    @property
    def levels(self) -> tuple[int, ...]:
        """The scales from the root down."""
        return tuple(range(self.scales, -1, -1))

    @property
    def eigenvalues(self) -> tuple[float, ...]:
        """λ_e of AᵀA on V_e: weights[e]² times the cells of a coefficient (see `dyadic`)."""
        return tuple(
            float(w * w) * size for w, size in zip(self.weights, _supports(self.scales), strict=True)
        )

    def answers(self, counts: np.ndarray) -> np.ndarray:
        """The exact weighted coefficients: the total, then the differences from the largest blocks to the least.

        counts: (n,) int64, n <= 2^K. Returns (2^K,) int64.
        """
        sums = np.zeros(self.size, dtype=np.int64)
        sums[: counts.size] = counts
        parts = []
        for e in range(self.scales):
            halves = sums.reshape(-1, 2)
            parts.append(self.weights[e] * (halves[:, 0] - halves[:, 1]))
            sums = halves.sum(axis=1)
        parts.append(self.weights[-1] * sums)
        return np.concatenate(parts[::-1])

    def estimate(self, values: np.ndarray) -> np.ndarray:
        """The 2^K cells that have the given coefficients; the strategy is invertible. O(2^K)."""
        sums = values[:1] / self.weights[-1]
        for e in reversed(range(self.scales)):
            difference = values[sums.size : 2 * sums.size] / self.weights[e]
            sums = np.stack([(sums + difference) / 2, (sums - difference) / 2], axis=1).ravel()
        return sums

    def cell_coefficients(self) -> Iterator[tuple[float, int]]:
        """How a cell's estimate weighs the noise: (coefficient up to its sign, how many answers have it)."""
        for weight, support in zip(self.weights, _supports(self.scales), strict=True):
            yield 1 / (weight * support), 1


def _supports(top: int) -> list[int]:
    """Cells of a coefficient of each scale: 2^(e+1), and 2^K for the total."""
    return [2 ** min(e + 1, top) for e in range(top + 1)]


@lru_cache(maxsize=256)
def best_haar(purpose: str, cells: int, definition: Definition) -> Haar:
    """The wavelet of least mean squared error for a purpose."""
    return fitted_haar(workload_energies(purpose, cells), definition)


def fitted_haar(scale_energies: Sequence[float], definition: Definition) -> Haar:
    """The weights of least mean squared error for queries of the given energies > 0 at the scales, in closed form.

    With c_e the energies and n_e the cells of a coefficient the error is |w|² Σ c_e/(n_e w_e²): least at
    w_e ∝ (c_e/n_e)^⅓ for the L1 norm of Laplace noise, (c_e/n_e)^¼ for the L2 norm of Gaussian noise.
    """
    energies = np.array(scale_energies)
    ratio = energies / _supports(len(energies) - 1)
    root = 1 / 3 if definition is Definition.PURE else 1 / 4
    return Haar(integer_weights((ratio**root).tolist()))
