"""The most likely cells under Laplace noise: argmin over x >= 0 of ‖y - Ax‖₁, a linear programme."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError
from scipy.optimize import OptimizeResult, linprog
from scipy.sparse.linalg import splu

from mechanisms.arrays import Floats

MAX_CELLS = 4096
# Dual values this near to their bounds are at them.
_AT_BOUND = 1e-7
_STEPS, _RELAXED = 5000, 1.6
# The choice among the most likely ends where all its conditions hold to this share of the largest number.
TOLERANCE = 1e-9


def most_likely(matrix: sparse.csr_array, values: np.ndarray, estimate: np.ndarray) -> np.ndarray:
    """The x >= 0 of least ‖y - Ax‖₁ and, of several, the one nearest to the least-squares estimate, (n,).

    matrix: (p, n) integers A, n <= 4,096. values: (p,) noisy sums y. estimate: (n,).
    The programme is solved by HiGHS; its dual values say which sums are met exactly and which cells are 0 in every
    solution, and the nearest point of that polyhedron is found by alternating directions (Boyd et al. 2011).
    Raises ValueError for more cells, RuntimeError if the programme is not solved.
    """
    if matrix.shape[1] > MAX_CELLS:
        raise ValueError(f"the most likely cells are worked out for at most {MAX_CELLS:,} cells")
    scale = float(abs(matrix).max())
    scaled, sums = matrix.astype(np.float64) / scale, values / scale
    sums_count, cells = matrix.shape
    eye = sparse.eye_array(sums_count, format="csr")
    result = _solved(sparse.hstack([scaled, eye, -eye], format="csr"), sums, cells)
    face = _Face.of(scaled, sums, result.eqlin.marginals, result.lower.marginals[:cells])
    return face.nearest(result.x[:cells], estimate)


def _solved(equations: sparse.csr_array, sums: np.ndarray, cells: int) -> OptimizeResult:
    """By the simplex method, or else by an interior point method."""
    cost = np.concatenate([np.zeros(cells), np.ones(equations.shape[1] - cells)])
    for method in ("highs", "highs-ipm"):
        result = linprog(cost, A_eq=equations, b_eq=sums, bounds=(0, None), method=method)
        if result.status == 0:
            return result
    raise RuntimeError(f"the linear programme of {cells:,} cells was not solved: {result.message}")


@dataclass(frozen=True)
class _Face:
    """All most likely cells: x >= 0, 0 outside `free`, with `met` x = met_sums and `short` x <= short_sums."""

    free: np.ndarray
    met: sparse.csr_array
    met_sums: np.ndarray
    short: sparse.csr_array
    short_sums: np.ndarray

    @classmethod
    def of(cls, matrix: sparse.csr_array, sums: np.ndarray, dual: np.ndarray, reduced: np.ndarray) -> _Face:
        """By complementary slackness: a sum is met unless its dual value is ±1, which is the sign of its residual."""
        free = reduced <= _AT_BOUND
        rows = matrix[:, np.flatnonzero(free)]
        above, below = dual >= 1 - _AT_BOUND, dual <= -1 + _AT_BOUND
        met = ~above & ~below
        sign = sparse.diags_array(np.concatenate([np.ones(above.sum()), -np.ones(below.sum())]))
        bounded = np.concatenate([np.flatnonzero(above), np.flatnonzero(below)])
        short = sparse.csr_array(sign @ rows[bounded])
        return cls(free, rows[np.flatnonzero(met)], sums[met], short, sign @ sums[bounded])

    def nearest(self, solution: Floats, estimate: Floats) -> Floats:
        """The point of the face nearest to the estimate, (n,); the solution itself where it is the only one."""
        if not self._single():
            solution = np.zeros(estimate.size)
            solution[self.free] = self._projected(estimate[self.free])
        return np.maximum(solution, 0.0)

    def _single(self) -> bool:
        """Whether the sums that are met determine every free cell."""
        if self.met.shape[0] < self.met.shape[1]:
            return False
        gram = (self.met.T @ self.met).toarray()
        try:
            pivots = np.diag(np.linalg.cholesky(gram))
        except LinAlgError:
            return False
        return bool(pivots.size == 0 or pivots.min() > 1e-6 * pivots.max())

    def _projected(self, point: np.ndarray) -> np.ndarray:
        """Least ‖x - point‖² with z = Mx in its bounds, M = [met; short; I], by alternating in x and z."""
        rows = sparse.vstack([self.met, self.short, sparse.eye_array(point.size)], format="csr")
        upper = np.concatenate([self.met_sums, self.short_sums, np.full(point.size, np.inf)])
        lower = np.concatenate([self.met_sums, np.full(len(self.short_sums), -np.inf), np.zeros(point.size)])
        # x + Mᵀν = point and Mx - ν = z - dual: a sparse system where MᵀM would be dense.
        system = sparse.block_array(
            [[sparse.eye_array(point.size), rows.T], [rows, -sparse.eye_array(rows.shape[0])]], format="csc"
        )
        solve = splu(system).solve
        x, z, dual = point, np.clip(rows @ point, lower, upper), np.zeros(rows.shape[0])
        still = TOLERANCE * max(1.0, float(np.abs(point).max(initial=0.0)))
        for _ in range(_STEPS):
            x = solve(np.concatenate([point, z - dual]))[: point.size]
            sums = rows @ x
            relaxed = _RELAXED * sums + (1 - _RELAXED) * z
            before, z = z, np.clip(relaxed + dual, lower, upper)
            dual += relaxed - z
            if max(np.abs(sums - z).max(), np.abs(z - before).max()) <= still:
                break
        return x
