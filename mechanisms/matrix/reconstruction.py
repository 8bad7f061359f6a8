"""From noisy sums to cells that are not negative."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from scipy import sparse
from scipy.linalg import cholesky
from scipy.optimize import nnls

from mechanisms.arrays import Floats
from mechanisms.matrix.most_likely import most_likely
from mechanisms.protocol import Parameter

RECONSTRUCTION = Parameter(
    name="reconstruction",
    label="How synthetic rows are made from noisy cells",
    help="Noise makes some cells negative, and rows cannot be: this decides what stands for them. Answers stay.",
    default="nnls",
    choices=(
        ("nnls", "Non-negative least squares"),
        ("l1", "The most likely cells under Laplace noise (up to 4,096 cells)"),
    ),
)

# Up to so many cells an active-set method gives the exact answer.
_EXACT = 512
_POWER_STEPS = 30
# Steps end where no cell would move farther than this share of the negative estimates' root mean square.
TOLERANCE = 1e-6


class Measured(Protocol):
    """What is needed of a strategy A to make its cells non-negative."""

    @property
    def complete(self) -> bool:
        """Whether every query can be answered."""

    def matrix(self) -> sparse.csr_array:
        """A itself, (p, n) int64."""

    def transposed_times(self, values: np.ndarray) -> np.ndarray:
        """Aᵀ y, (p,) to (n,)."""

    def gram_times(self, cells: np.ndarray) -> np.ndarray:
        """AᵀA x, (n,) to (n,)."""


def possible_cells(
    way: str, strategy: Measured, values: np.ndarray, estimate: np.ndarray
) -> tuple[np.ndarray, str]:
    """Cells that are not negative, (n,), by a choice of `RECONSTRUCTION`, and the choice that they were made by.

    What is measured is paid for, so that where the most likely cells cannot be worked out least squares stand in.
    """
    if way == "l1":
        try:
            return most_likely(strategy.matrix(), values, estimate), way
        except RuntimeError:
            way = str(RECONSTRUCTION.default)
    return non_negative(strategy, values, estimate), way


def non_negative(strategy: Measured, values: np.ndarray, estimate: np.ndarray) -> np.ndarray:
    """The x >= 0 of least ‖Ax - y‖, (n,).

    values: (p,) noisy sums y. estimate: (n,) the least-squares estimate, where the search starts.
    Exact up to 512 cells (Lawson and Hanson 1974); beyond, by accelerated projected gradient with restarts (Beck and
    Teboulle 2009; O'Donoghue and Candès 2015) until no cell moves by more than 10^-6 of the negative estimates' root
    mean square, or 3,000 steps are done; 256 for a million cells.
    """
    if estimate.min() >= 0:
        return estimate
    if estimate.size <= _EXACT and strategy.complete:
        return _exact(strategy, estimate)
    return _by_gradient(strategy, values, estimate)


def _exact(strategy: Measured, estimate: Floats) -> Floats:
    """‖Ax - y‖² is ‖R(x - x̂)‖² and a constant, R the Cholesky factor of AᵀA: a square problem."""
    gram = np.stack([strategy.gram_times(cell) for cell in np.eye(estimate.size)])
    root = cholesky(gram / np.diag(gram).max())
    cells: Floats = nnls(root, root @ estimate, maxiter=50 * estimate.size)[0]
    return cells


def _by_gradient(strategy: Measured, values: np.ndarray, estimate: Floats) -> Floats:
    target = strategy.transposed_times(values)
    rate = 1 / _largest_eigenvalue(strategy, estimate.size)
    x = ahead = np.maximum(estimate, 0.0)
    momentum, still = 1.0, TOLERANCE * float(np.sqrt((estimate[estimate < 0] ** 2).mean()))
    for _ in range(_steps(estimate.size)):
        new: Floats = np.maximum(ahead - rate * (strategy.gram_times(ahead) - target), 0.0)
        if np.abs(new - ahead).max() <= still:
            return new
        if float((ahead - new) @ (new - x)) > 0:
            # The last step went uphill: start again from here without momentum.
            ahead, momentum = new, 1.0
        else:
            faster = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
            ahead, momentum = new + (momentum - 1) / faster * (new - x), faster
        x = new
    return x


def _steps(cells: int) -> int:
    """As many as end within about a minute."""
    return min(3000, max(256, 2**28 // cells))


def _largest_eigenvalue(strategy: Measured, cells: int) -> float:
    """Of AᵀA, by the power method; a little above, so that steps never overshoot."""
    # All cells alike is near the leading direction of most strategies; the ramp keeps it from being none at all.
    x = 1 + np.arange(cells) / cells
    for _ in range(_POWER_STEPS):
        x = strategy.gram_times(x / np.linalg.norm(x))
    return 1.05 * float(np.linalg.norm(x))
