"""p-Identity strategies: the identity and p further sums, all of unit L1 column norm, of least total squared error.

A = [I; Θ] D⁻¹ with Θ >= 0, (p, n), and D = diag(1 + column sums of Θ). Since (AᵀA)⁻¹ = D (I - Θᵀ (I + ΘΘᵀ)⁻¹ Θ) D
(Woodbury), the loss ‖WA⁺‖²_F = tr(WᵀW (AᵀA)⁻¹) and its gradient take O(pn + p²n), with WᵀW applied by running sums.
Source: McKenna, Miklau, Hay, Machanavajjhala 2018 (HDMM), section 5.2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from hashlib import sha256

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from mechanisms.arrays import Floats
from mechanisms.matrix.mechanism import Progress
from mechanisms.matrix.optimise.gram import Blocks, Gram, gram_diagonal
from mechanisms.matrix.optimise.windows import Window, Windows
from mechanisms.noise import repeatable

# Cells for each further sum.
SPACING = 16
# Cells up to which every sum may hold every cell.
DENSE = 256
# Beyond it the loss would be lost in rounding errors; the best strategies stay far below.
_LARGEST = 1e3
# Iterations for up to so many cells: what two minutes allow at 8192.
_ITERATIONS = {DENSE: 2000, 2048: 1000, 4096: 400}
_LEAST_ITERATIONS = 200
# A first look at each start takes this share of the iterations.
_GLANCE = 4
# Further sums that share a window, and how far it reaches beyond their own cells, in spacings.
_SHARING, _REACH = 4, 2
# The share of its largest weight below which a sum over blocks does not weigh a block.
_WEIGHED = 1e-3
# Half the width, in spacings, and the height of the sums over neighbours that a descent begins from, and a little
# more everywhere.
_SLOPE, _HEIGHT, _FLOOR = 1.5, 0.8, 0.02


@dataclass(frozen=True)
class PIdentity:
    """A strategy [I; Θ] D⁻¹.

    theta: (p, n) floats >= 0; p is 0 where single cells do best. loss: ‖WA⁺‖²_F, so that with Laplace noise of
    scale 1/ε the total squared error is 2 · loss / ε².
    """

    theta: np.ndarray
    loss: float

    def strategy(self) -> np.ndarray:
        """A: (n + p, n) floats >= 0 whose columns sum to 1."""
        return weights_of(self.theta)


def weights_of(theta: Floats) -> Floats:
    """[I; Θ] D⁻¹, (n + p, n)."""
    rows = np.vstack([np.eye(theta.shape[1]), theta])
    weights: Floats = rows / rows.sum(axis=0)
    return weights


class Loss:
    """‖WA⁺‖²_F and its gradient, as functions of the entries of Θ inside the windows."""

    def __init__(self, gram: Gram, windows: Windows) -> None:
        self._gram = gram
        self._windows = windows
        self._diagonal = gram_diagonal(gram)

    def __call__(self, values: np.ndarray) -> tuple[float, np.ndarray]:
        """values: as `Windows.values` orders them. Returns the loss and its gradient, likewise ordered."""
        windows, theta = self._windows, self._windows.matrix(values)
        d = 1 + theta.sum(axis=0)
        R = np.linalg.inv(np.eye(len(theta)) + windows.times_transposed(theta, values))
        H = self._gram.gram_times((theta * d).T)
        RK = R @ windows.times_transposed((H * d[:, None]).T, values)
        loss = float(self._diagonal @ d**2 - np.trace(RK))
        HR = windows.products(H, R)
        through_d = self._diagonal * d - windows.column_sums(HR * values)
        gradient = windows.spread(through_d) - HR * windows.spread(d) + windows.products(theta.T, R @ RK.T)
        return loss, 2 * gradient


def p_identity(
    gram: Gram,
    *,
    rows: int | None = None,
    starts: int = 3,
    iterations: int | None = None,
    on_progress: Progress | None = None,
) -> PIdentity:
    """The best p-Identity strategy found for a workload over one column; the same each time.

    gram: a factor of a workload. rows: p; one for 16 cells unless told. starts: random starts besides one of sums over
    neighbours, as those at random may all end at single cells; the best is followed to its end. Above 256 cells,
    which must then be in a natural order, there is one start, made of the optimum for blocks of 16 cells and of sums
    over neighbours, and rows cannot be chosen.
    Raises ValueError if the workload asks nothing, rows or starts is below 1, or rows is told above 256 cells.
    """
    n = gram.size
    if min(starts, 1 if iterations is None else iterations, 1 if rows is None else rows) < 1:
        raise ValueError("p-Identity needs at least one row, one start and one iteration")
    if rows is not None and n > DENSE:
        raise ValueError(f"the number of rows can be chosen up to {DENSE} cells, not for {n}")
    alone = float(gram_diagonal(gram).sum())
    if alone == 0:
        raise ValueError("a workload that asks nothing has no strategy")
    iterations = iterations or _iterations(n)
    if n <= DENSE:
        windows = Windows(n, (Window(0, rows or math.ceil(n / SPACING), 0, n),))
        random = _random(n, windows.rows)
        begin = [windows.values(_HEIGHT * _tent(n, windows.rows) + _FLOOR)]
        begin += [random.random(windows.size) for _ in range(starts)]
    else:
        windows, start = _from_blocks(gram, starts)
        begin = [start]
    found = _best(Loss(gram, windows), windows, begin, iterations, on_progress)
    return found if found.loss < alone else PIdentity(np.zeros((0, n)), alone)


def _iterations(n: int) -> int:
    return next((count for cells, count in _ITERATIONS.items() if n <= cells), _LEAST_ITERATIONS)


def _random(n: int, rows: int) -> np.random.Generator:
    return repeatable(sha256(f"p-identity {n} {rows}".encode()).digest())


def _best(
    loss: Loss, windows: Windows, begin: list[np.ndarray], iterations: int, on_progress: Progress | None
) -> PIdentity:
    glance = math.ceil(iterations / _GLANCE) if len(begin) > 1 else 0
    counter = _Counter(on_progress, glance * len(begin) + iterations)
    if glance:
        begin = [_descend(loss, start, glance, counter).x for start in begin]
    found = _descend(loss, min(begin, key=lambda values: loss(values)[0]), iterations, counter)
    return PIdentity(windows.matrix(found.x), float(found.fun))


class _Counter:
    """Iterations done, told to whoever watches."""

    def __init__(self, on_progress: Progress | None, total: int) -> None:
        self._on_progress, self._total, self._done = on_progress, total, 0

    def __call__(self, _: np.ndarray) -> None:
        self._done += 1
        if self._on_progress:
            self._on_progress(self._done, self._total)


def _descend(loss: Loss, start: np.ndarray, iterations: int, counter: _Counter) -> OptimizeResult:
    options = {"maxiter": iterations, "maxfun": 2 * iterations, "maxcor": 20, "ftol": 1e-10, "gtol": 0.0}
    bounds = [(0.0, _LARGEST)] * start.size
    return minimize(
        loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options, callback=counter
    )


def _from_blocks(gram: Gram, starts: int) -> tuple[Windows, np.ndarray]:
    """Sums over all cells that begin as the optimum for blocks, and sums over neighbours that begin at random."""
    n = gram.size
    coarse = p_identity(Blocks(gram, SPACING), starts=starts).theta
    coarse = coarse[coarse.any(axis=1)]
    near = Windows(n, tuple(_neighbours(n)))
    theta = _tents(n, near)
    share = np.repeat(coarse / (1 + coarse.sum(axis=0)), SPACING, axis=1)[:, :n] * (1 + theta.sum(axis=0))
    wide = [Window(row, row + 1, *_extent(blocks, n)) for row, blocks in enumerate(coarse)]
    windows = Windows(n, (*wide, *(w.below(len(wide)) for w in near.windows)))
    return windows, windows.values(np.vstack([share, theta]))


def _extent(blocks: np.ndarray, n: int) -> tuple[int, int]:
    """The cells of the blocks that a sum weighs, and of as many more as it may come to weigh."""
    weighed = np.flatnonzero(blocks > _WEIGHED * blocks.max())
    margin = _REACH * SPACING
    return max(0, (weighed[0] - margin) * SPACING), min(n, (weighed[-1] + 1 + margin) * SPACING)


def _tents(n: int, near: Windows) -> Floats:
    """Sums over overlapping neighbourhoods, heaviest in their middle: what the optimum for fewer cells is made of."""
    random = _random(n, near.rows)
    tent = _tent(n, near.rows)
    jitter = near.matrix(random.uniform(0.5, 1.5, near.size))
    tents: Floats = _HEIGHT * tent * jitter + near.matrix(random.uniform(0, _FLOOR, near.size))
    return tents


def _tent(n: int, rows: int) -> Floats:
    """(rows, n): each row is 1 in the middle of its share of the cells and falls to 0 beyond its neighbours'."""
    middle = n / rows * (np.arange(rows)[:, None] + 0.5)
    return np.maximum(0, 1 - np.abs(np.arange(n) + 0.5 - middle) / (_SLOPE * n / rows))


def _neighbours(n: int) -> list[Window]:
    own, reach = _SHARING * SPACING, _REACH * SPACING
    return [
        Window(i * _SHARING, (i + 1) * _SHARING, max(0, left - reach), min(n, left + own + reach))
        for i, left in enumerate(range(0, n, own))
    ]
