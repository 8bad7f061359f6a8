"""p-Identity strategies: the identity and p further sums, all of unit L1 column norm, of least total squared error.

A = [I; Θ] D⁻¹ with Θ >= 0, (p, n), and D = diag(1 + column sums of Θ). Since (AᵀA)⁻¹ = D (I - Θᵀ (I + ΘΘᵀ)⁻¹ Θ) D
(Woodbury), the loss ‖WA⁺‖²_F = tr(WᵀW (AᵀA)⁻¹) and its gradient take O(pn + p²n), with WᵀW applied by running sums.
Source: McKenna, Miklau, Hay, Machanavajjhala 2018 (HDMM), section 5.2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from mechanisms.arrays import Floats
from mechanisms.matrix.mechanism import SearchProgress
from mechanisms.matrix.optimise.gram import Gram, GramBlocks, WrittenGram, gram_diagonal
from mechanisms.matrix.optimise.windows import Window, Windows
from mechanisms.noise import repeatable

# Cells for each further sum; a second number of sums is tried where every sum may hold every cell.
SPACING, _CLOSER = 16, 10
# Cells up to which every sum may hold every cell unless told, and where that is told.
DENSE, MAX_DENSE = 256, 640
# Beyond it the loss would be lost in rounding errors; the best strategies stay far below.
_LARGEST = 1e3
# Iterations for up to so many cells: what two minutes allow at 8192.
_ITERATIONS = {DENSE: 2000, 2048: 1000, 4096: 400}
_LEAST_ITERATIONS = 200
# A first look at each start takes at most this share of the iterations; so many of the best are followed to their end.
_GLANCE, _FOLLOWED = 8, 3
# A descent has paid as long as so many iterations take at least this share off the loss: at a first look, and after;
# and beyond MAX_DENSE cells, where an iteration takes milliseconds.
_AT_FIRST, _AFTER, _AFTER_MANY = (10, 1e-3), (50, 2e-5), (50, 2e-4)
# Further sums that share a window, and how far it reaches beyond their own cells, in spacings.
_SHARING, _REACH = 4, 2
# The share of its largest weight below which a sum over blocks does not weigh a block.
_WEIGHED = 1e-3
# Half the width, in spacings, and the height of the sums over neighbours that a descent begins from, and a little
# more everywhere.
_SLOPE, _HEIGHT, _FLOOR = 1.5, 0.8, 0.02


# Where the entries of Θ are free, and their values to begin from.
Start = tuple[Windows, np.ndarray]


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


class Objective:
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
        gradient = windows.spread(through_d) - HR * windows.spread(d)
        gradient += windows.products(theta.T, R @ RK.T)
        return loss, 2 * gradient


def p_identity(
    gram: Gram,
    *,
    rows: int | None = None,
    starts: int = 3,
    iterations: int | None = None,
    on_progress: SearchProgress | None = None,
) -> PIdentity:
    """The best p-Identity strategy found for a workload over one column; the same each time.

    gram: a factor of a workload. rows: p; unless told one for 16 cells, and up to 256 cells one for 10 as well. starts:
    random starts besides one of sums over neighbours, as those at random may all end at single cells; the best are
    followed to their end, which is where going on no longer pays. Above 256 cells, which must then be in a natural
    order, there is one start, made of the optimum for blocks of 16 cells and of sums over neighbours.
    Raises ValueError if the workload asks nothing, rows or starts is below 1, or rows is told above 640 cells.
    """
    n = gram.size
    if min(starts, 1 if iterations is None else iterations, 1 if rows is None else rows) < 1:
        raise ValueError("p-Identity needs at least one row, one start and one iteration")
    if rows is not None and n > MAX_DENSE:
        raise ValueError(f"the number of rows can be chosen up to {MAX_DENSE} cells, not for {n}")
    iterations = iterations or _iterations(n)
    begin = _from_blocks(gram, starts) if rows is None and n > DENSE else _dense_starts(n, rows, starts)
    return _best(gram, begin, iterations, on_progress)


def improved(
    gram: Gram,
    begin: Sequence[Floats],
    *,
    iterations: int | None = None,
    on_progress: SearchProgress | None = None,
) -> PIdentity:
    """The best p-Identity strategy found from given Θ, each (p, n) floats >= 0, all of whose entries are free.

    Raises ValueError if the workload asks nothing.
    """
    return _best(gram, [_free(theta) for theta in begin], iterations or _iterations(gram.size), on_progress)


def _iterations(n: int) -> int:
    return next((count for cells, count in _ITERATIONS.items() if n <= cells), _LEAST_ITERATIONS)


def _random(n: int, rows: int) -> np.random.Generator:
    return repeatable(sha256(f"p-identity {n} {rows}".encode()).digest())


def _dense_starts(n: int, rows: int | None, starts: int) -> list[Start]:
    """Starts where every sum may hold every cell: sums over neighbours, and at random."""
    begin = []
    few = {max(1, n // SPACING), math.ceil(n / SPACING), math.ceil(n / _CLOSER)}
    for p in [rows] if rows else sorted(few):
        random = _random(n, p)
        begin.append(_free(_HEIGHT * _tent(n, p) + _FLOOR))
        begin += [_free(random.random((p, n))) for _ in range(starts)]
    return begin


def _free(theta: Floats) -> Start:
    windows = Windows(theta.shape[1], (Window(0, len(theta), 0, theta.shape[1]),))
    return windows, windows.values(theta)


def _best(gram: Gram, begin: list[Start], iterations: int, on_progress: SearchProgress | None) -> PIdentity:
    """From all starts a little, from the best of them to the end; single cells where nothing does better."""
    alone = float(gram_diagonal(gram).sum())
    if alone == 0:
        raise ValueError("a workload that asks nothing has no strategy")
    glance = math.ceil(iterations / _GLANCE) if len(begin) > _FOLLOWED else 0
    counter = _Counter(on_progress, glance * len(begin) + min(len(begin), _FOLLOWED) * iterations)
    looked = [(Objective(gram, windows), windows, values) for windows, values in begin]
    if glance:
        seen = [
            (loss, windows, _descend(loss, at, glance, _AT_FIRST, counter)) for loss, windows, at in looked
        ]
        seen.sort(key=lambda result: float(result[2].fun))
        looked = [(loss, windows, result.x) for loss, windows, result in seen[:_FOLLOWED]]
    best = PIdentity(np.zeros((0, gram.size)), alone)
    for loss, windows, at in looked:
        paying = _AFTER if gram.size <= MAX_DENSE else _AFTER_MANY
        result = _descend(loss, at, iterations, paying, counter)
        if result.fun < best.loss:
            best = PIdentity(windows.matrix(result.x), float(result.fun))
    return best


class _Counter:
    """Iterations done, told to whoever watches."""

    def __init__(self, on_progress: SearchProgress | None, total: int) -> None:
        self._on_progress, self._total, self._done = on_progress, total, 0

    def __call__(self) -> None:
        self._done += 1
        if self._on_progress:
            self._on_progress(self._done, self._total)


class _Paying:
    """Ends a descent once its last iterations have not taken enough off the loss."""

    def __init__(self, lately: int, share: float, counter: _Counter) -> None:
        self._lately, self._share, self._counter = lately, share, counter
        self._losses: list[float] = []

    def __call__(self, intermediate_result: OptimizeResult) -> None:
        self._counter()
        self._losses.append(float(intermediate_result.fun))
        if len(self._losses) > self._lately:
            before, now = self._losses[-1 - self._lately], self._losses[-1]
            if before - now < self._share * now:
                raise StopIteration


def _descend(
    loss: Objective, start: np.ndarray, iterations: int, paying: tuple[int, float], counter: _Counter
) -> OptimizeResult:
    options = {"maxiter": iterations, "maxfun": 2 * iterations, "maxcor": 20, "ftol": 1e-10, "gtol": 0.0}
    bounds, watch = [(0.0, _LARGEST)] * start.size, _Paying(*paying, counter)
    return minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options, callback=watch)


def _from_blocks(gram: Gram, starts: int) -> list[Start]:
    """A start: sums over all cells, as the optimum for blocks has them, and sums over neighbours at random."""
    n = gram.size
    blocks = WrittenGram(GramBlocks(gram, SPACING).gram_times(np.eye(math.ceil(n / SPACING))))
    coarse = p_identity(blocks, starts=starts).theta
    coarse = coarse[coarse.any(axis=1)]
    near = Windows(n, tuple(_neighbours(n)))
    theta = _tents(n, near)
    share = np.repeat(coarse / (1 + coarse.sum(axis=0)), SPACING, axis=1)[:, :n] * (1 + theta.sum(axis=0))
    wide = [Window(row, row + 1, *_extent(blocks, n)) for row, blocks in enumerate(coarse)]
    windows = Windows(n, (*wide, *(w.below(len(wide)) for w in near.windows)))
    return [(windows, windows.values(np.vstack([share, theta])))]


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
