"""Low-rank strategies: W ≈ B L with few rows of L, least ‖B‖²_F while no column of L has an L1 norm above 1.

Source: Yuan, Zhang, Winslett, Xiao, Yang, Hao 2012 (low-rank mechanism), by augmented Lagrangian.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from hashlib import sha256

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from mechanisms.arrays import Floats
from mechanisms.matrix.mechanism import SearchProgress
from mechanisms.noise import repeatable

# Rows of L for each dimension of the workload: what the authors advise.
_ROOM = 1.2
_ROUNDS, _ALTERNATIONS, _STEPS = 60, 5, 10
# The penalty grows by this much a round.
_GROWTH = 1.3
# Singular values below this share of the largest are rounding errors.
_NEGLIGIBLE = 1e-9


@dataclass(frozen=True)
class LowRank:
    """strategy: (p, n) floats, columns of L1 norm at most 1, whose row space holds the workload's.

    loss: ‖WA⁺‖²_F. residual: ‖W - WA⁺A‖_F / ‖W‖_F, a rounding error.
    """

    strategy: np.ndarray
    loss: float
    residual: float


def low_rank(
    workload: np.ndarray, *, rounds: int = _ROUNDS, on_progress: SearchProgress | None = None
) -> LowRank:
    """A strategy with little more rows than the workload has dimensions.

    workload: (q, n) floats. The multiplier method leaves a small W - BL; L + B⁺(W - BL) takes it up, so that the
    workload is answered exactly, and is scaled to unit columns. The best of all rounds is kept.
    Raises ValueError if the workload asks nothing.
    """
    root = _root(workload)
    L = _start(root)
    B = root @ np.linalg.pinv(L)
    multiplier, penalty = np.zeros_like(root), 1.0
    best = _finished(root, B, L)
    for done in range(1, rounds + 1):
        for _ in range(_ALTERNATIONS):
            B = _least_left_factor(root, multiplier, penalty, L)
            L = _least_right_factor(root + multiplier / penalty, B, L)
        multiplier += penalty * (root - B @ L)
        penalty *= _GROWTH
        best = min(best, _finished(root, B, L), key=lambda result: result.loss)
        if on_progress:
            on_progress(done, rounds)
    scale = math.sqrt((workload**2).sum())
    return LowRank(best.strategy, best.loss * scale**2, best.residual)


def _root(workload: Floats) -> Floats:
    """R, (r, n), of full rank and unit Frobenius norm with RᵀR a multiple of WᵀW."""
    small = np.linalg.qr(workload, mode="r") if len(workload) > workload.shape[1] else workload
    _, values, vectors = np.linalg.svd(small, full_matrices=False)
    if values[0] == 0:
        raise ValueError("a workload that asks nothing has no strategy")
    significant = values > _NEGLIGIBLE * values[0]
    root: Floats = values[significant, None] * vectors[significant] / np.linalg.norm(values[significant])
    return root


def _start(root: Floats) -> Floats:
    """Random combinations of the row space, of unit columns at most."""
    rank = len(root)
    rows = min(root.shape[1], math.ceil(_ROOM * rank))
    random = repeatable(sha256(f"low-rank {root.shape}".encode()).digest())
    basis = root / np.linalg.norm(root, axis=1, keepdims=True)
    L = np.vstack([basis, random.normal(size=(rows - rank, rank)) @ basis]) if rows > rank else basis
    scaled: Floats = L / np.abs(L).sum(axis=0).max()
    return scaled


def _least_left_factor(root: Floats, multiplier: Floats, penalty: float, L: Floats) -> Floats:
    """The B of least ½‖B‖² + <π, R - BL> + ½β‖R - BL‖²."""
    normal = penalty * (L @ L.T) + np.eye(len(L))
    transposed: Floats = cho_solve(cho_factor(normal), L @ (penalty * root + multiplier).T)
    return transposed.T


def _least_right_factor(target: np.ndarray, B: np.ndarray, L: np.ndarray) -> np.ndarray:
    """Accelerated projected steps towards the L of least ‖target - BL‖² with columns in the L1 ball."""
    gram, towards = B.T @ B, B.T @ target
    step = 1 / max(float(np.linalg.eigvalsh(gram)[-1]), np.finfo(float).tiny)
    ahead, momentum = L, 1.0
    for _ in range(_STEPS):
        following = project_columns(ahead - step * (gram @ ahead - towards))
        grown = (1 + math.sqrt(1 + 4 * momentum**2)) / 2
        ahead = following + (momentum - 1) / grown * (following - L)
        L, momentum = following, grown
    return L


def project_columns(matrix: Floats) -> Floats:
    """The nearest matrix whose columns have an L1 norm of at most 1. Source: Duchi et al. 2008."""
    sizes = np.abs(matrix)
    falling = -np.sort(-sizes, axis=0)
    excess = np.cumsum(falling, axis=0) - 1
    ranks = np.arange(1, len(matrix) + 1)[:, None]
    last = (falling * ranks > excess).sum(axis=0) - 1
    threshold = np.maximum(excess[last, np.arange(matrix.shape[1])] / (last + 1), 0)
    nearest: Floats = np.sign(matrix) * np.maximum(sizes - threshold, 0)
    return nearest


def _finished(root: np.ndarray, B: np.ndarray, L: np.ndarray) -> LowRank:
    A = L + np.linalg.pinv(B) @ (root - B @ L)
    A /= np.abs(A).sum(axis=0).max()
    answered = root @ np.linalg.pinv(A)
    return LowRank(A, float((answered**2).sum()), float(np.linalg.norm(root - answered @ A)))
