"""Weights of smooth overlapping windows over the periods, for strategies of the form p-Identity.

A p-Identity strategy (McKenna et al. 2018) asks for every period by itself, and for p sums Θ over many periods:
A = [I; Θ]·diag(1/(1 + column sums of Θ)). For running counts the best Θ looks like tents that overlap, in one layer
of short tents and, from some hundred periods on, one layer of long ones. So a layer is described by the places and
heights of its tops alone, and these few numbers are what is optimised: within 1 % of the error of a free Θ, in a
fraction of a second where that takes many. Over more periods the best layers look the same again, with a finer one
below: they are put together from smaller ones, within 2 % of the optimised error where both can be had.

The counts within a block of a longer stream can be had from either end of the block; there every period matters as
much as every other, and the best windows are others. Put together, they are within 10 % of optimised ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from mechanisms.arrays import Floats
from mechanisms.deferred_search import JsonForm, Search
from mechanisms.matrix.workload.factor import Prefix

# Places are whole multiples of 1/UNIT of a period, heights of 1/UNIT.
UNIT = 1024
LONGEST = 4096
# Up to so many periods the layers are optimised from evenly spaced tents; above, put together, and up to some more
# improved by a few steps.
_LONGEST_OPTIMISED, _LONGEST_IMPROVED = 256, 1024
# How many times as long the tents of a layer are as those of the next finer one.
_RATIO = 14
# Below this many periods no window helps.
_SHORTEST = 9
# From so many periods on a second layer helps; within a block, where no sum is long, only from more.
_TWO_LAYERS, _TWO_LAYERS_WITHIN_BLOCK = 128, 256
_ITERATIONS, _MORE_ITERATIONS = 60, 10
# Periods up to which the search takes a moment.
_QUICK = 128


@dataclass(frozen=True)
class Layer:
    """Tents with tops at the knots: each falls to 0 at its neighbours' tops; the outermost stay flat.

    knots: two or more, increasing, in 1/UNIT periods; period i (0-based) lies at i + 1/2. heights: >= 0, in 1/UNIT.
    """

    knots: tuple[int, ...]
    heights: tuple[int, ...]

    def weights(self, periods: int) -> np.ndarray:
        """(tents, periods) int64, in multiples of UNIT^-2, rounded down: the same on every machine."""
        places = np.arange(periods) * UNIT + UNIT // 2
        knots, heights = np.array(self.knots), np.array(self.heights)
        weights = np.zeros((len(knots), periods), dtype=np.int64)
        left, gap = _left_knots(knots, places)
        rise = np.clip((places - knots[left]) * UNIT // gap, 0, UNIT)
        columns = np.arange(periods)
        weights[left, columns] = heights[left] * (UNIT - rise)
        weights[left + 1, columns] = heights[left + 1] * rise
        return weights


def _left_knots(knots: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each place the knot to its left (the first or last but one beyond the ends), and the gap to the next."""
    left = np.clip(np.searchsorted(knots, places) - 1, 0, len(knots) - 2)
    return left, np.diff(knots)[left]


def mean_error(theta: np.ndarray, within_block: bool = False) -> tuple[float, np.ndarray]:
    """The mean squared error 2/n · ‖W A⁺‖²_F at ε = 1 of the p-Identity strategy of Θ for running sums; its gradient.

    theta: (p, n) float, >= 0. within_block: sums within a block, see `_removed_shares`. With s = 1 + column sums,
    G = WᵀW and C = (I + ΘΘᵀ)^-1 the squared norm is Σ G_ii s_i² - tr(C Θ S G S Θᵀ) (Woodbury). O(pn + p²n).
    This is the `Loss` of `matrix.optimise.p_identity`, which works window by window, for a Θ that is not sparse:
    in fewer passes, so that a search takes a quarter less time.
    """
    queries, periods = theta.shape
    s = 1 + theta.sum(axis=0)
    away = _removed_shares(periods) if within_block else np.zeros(periods)
    diagonal = np.arange(periods, 0, -1.0) - 2 * np.cumsum(away[::-1])[::-1] + away @ away
    totals = Prefix(periods)
    sums = totals.times(s[:, None] * theta.T)
    sums -= away[:, None] * sums[-1]
    gram = totals.transposed_times(sums) - away @ sums
    inverse = np.linalg.inv(np.eye(queries) + theta @ theta.T)
    scaled = s[:, None] * gram
    middle = theta @ scaled
    total = diagonal @ (s * s) - np.sum(inverse * middle)
    gain = inverse @ theta
    by_scale = 2 * (diagonal * s - np.einsum("tp,pt->t", gram, gain))
    gradient = by_scale - 2 * inverse @ (scaled.T - middle @ gain)
    return 2 / periods * float(total), 2 / periods * gradient


def _removed_shares(periods: int) -> np.ndarray:
    """How much of a block's whole sum is taken off the running sum after each period, (n,): from 1/4 up to 3/4.

    A count within a block takes its share κ of the sum known from outside in place of the sum known from inside; if
    both are known alike, κ grows about so (see `block_tree`).
    """
    return 0.25 + 0.5 * np.arange(1, periods + 1) / periods


def _best_layers(periods: int, within_block: bool) -> tuple[Layer, ...]:
    """The layers with the least mean error of the running sums of `periods` periods, to a few percent.

    periods: 1..LONGEST. within_block: sums within a block of a longer stream, whose whole sum is known from outside
    about as well as from inside. Whoever keeps a strategy keeps the layers: another machine may find slightly others.
    """
    if not 1 <= periods <= LONGEST:
        raise ValueError(f"windows serve 1 to {LONGEST} periods, not {periods}")
    if periods < _SHORTEST:
        return ()
    if periods <= _LONGEST_OPTIMISED:
        return _improved(periods, _even_layers(periods, within_block), _ITERATIONS, within_block)
    finest = _lengthened(best_layers(_LONGEST_OPTIMISED, within_block)[0], periods - _LONGEST_OPTIMISED)
    coarser = best_layers(round(periods / _RATIO), within_block)
    layers = finest, *(_stretched(layer) for layer in coarser)
    if within_block or periods > _LONGEST_IMPROVED:
        return layers
    return _improved(periods, layers, _MORE_ITERATIONS)


best_layers = Search(
    "running-count-layers",
    1,
    _best_layers,
    takes_long=lambda periods, within_block: periods > _QUICK,
    form=JsonForm(
        write_arguments=lambda periods, within_block: [periods, within_block],
        read_arguments=tuple,
        write=lambda layers: [[list(layer.knots), list(layer.heights)] for layer in layers],
        read=lambda layers: tuple(Layer(tuple(knots), tuple(heights)) for knots, heights in layers),
    ),
)


def _improved(
    periods: int, layers: tuple[Layer, ...], iterations: int, within_block: bool = False
) -> tuple[Layer, ...]:
    """What some steps of L-BFGS-B make of the layers."""
    search = _LayerSearch(periods, tuple(len(layer.knots) for layer in layers), within_block)
    options = {"maxiter": iterations}
    start, bounds = search.vector(layers), search.bounds
    result = minimize(search, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return tuple(
        Layer(tuple(_units(knots)), tuple(_units(heights))) for knots, heights in search.layers(result.x)
    )


def _even_layers(periods: int, within_block: bool = False) -> tuple[Layer, ...]:
    """Evenly spaced knots and equal heights; more tents than these improve the error by less than 1 %."""
    sizes = [max(2, round(periods / 13))]
    if periods >= (_TWO_LAYERS_WITHIN_BLOCK if within_block else _TWO_LAYERS):
        sizes = [round(periods / 17.5), max(2, round(periods / 270))]
    return tuple(
        Layer(tuple(_units((np.arange(size) + 0.3) * periods / size)), (round(0.85 * UNIT),) * size)
        for size in sizes
    )


def _lengthened(layer: Layer, periods: int) -> Layer:
    """A layer with more tents in its middle, as far apart and as high as there is usual, and the ends as they are."""
    knots, middle = np.array(layer.knots), len(layer.knots) // 2
    tents = max(1, round(periods * UNIT / float(np.median(np.diff(knots)))))
    more = knots[middle] + np.arange(1, tents + 1) * (periods * UNIT) // tents
    height = int(np.median(layer.heights))
    return Layer(
        (*layer.knots[: middle + 1], *more.tolist(), *(knots[middle + 1 :] + periods * UNIT).tolist()),
        (*layer.heights[: middle + 1], *[height] * tents, *layer.heights[middle + 1 :]),
    )


def _stretched(layer: Layer) -> Layer:
    """The same tents over _RATIO times as many periods."""
    return Layer(tuple(_RATIO * knot for knot in layer.knots), layer.heights)


def _units(values: np.ndarray) -> list[int]:
    return [round(v * UNIT) for v in values.tolist()]


class _LayerSearch:
    """The mean error as a function of one vector: for each layer the first knot, log gaps and log heights."""

    def __init__(self, periods: int, sizes: tuple[int, ...], within_block: bool = False) -> None:
        self.periods, self.sizes, self.within_block = periods, sizes, within_block
        self.places = np.arange(periods) + 0.5

    def vector(self, layers: tuple[Layer, ...]) -> Floats:
        """The point of the search at which the layers are."""
        parts: list[np.ndarray] = []
        for layer in layers:
            knots, heights = np.array(layer.knots) / UNIT, np.array(layer.heights) / UNIT
            parts += [knots[:1], np.log(np.diff(knots)), np.log(np.maximum(heights, 1e-5))]
        point: Floats = np.clip(np.concatenate(parts), *np.array(self.bounds).T)
        return point

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """Gaps from 1/16 of a period to all periods, heights up to 16: the optimum lies well inside."""
        n = float(self.periods)
        bounds: list[tuple[float, float]] = []
        for size in self.sizes:
            bounds += [(-n, n), *[(-np.log(16), np.log(n))] * (size - 1), *[(-12.0, np.log(16))] * size]
        return bounds

    def layers(self, vector: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Knots (in periods) and heights, layer by layer."""
        for part in np.split(vector, np.cumsum([2 * size for size in self.sizes])[:-1]):
            size = len(part) // 2
            yield np.cumsum(np.append(part[0], np.exp(part[1:size]))), np.exp(part[size:])

    def __call__(self, vector: np.ndarray) -> tuple[float, np.ndarray]:
        layers = list(self.layers(vector))
        shapes = [self._shape(knots) for knots, _ in layers]
        theta = np.concatenate([h[:, None] * shape for (_, h), shape in zip(layers, shapes, strict=True)])
        error, gradient = mean_error(theta, self.within_block)
        slopes: list[np.ndarray] = []
        for (knots, heights), shape in zip(layers, shapes, strict=True):
            own, gradient = gradient[: len(knots)], gradient[len(knots) :]
            by_knot = self._by_knot(knots, heights, own)
            behind = np.cumsum(by_knot[::-1])[::-1]
            slopes += [behind[:1], behind[1:] * np.diff(knots), (own * shape).sum(axis=1) * heights]
        return error, np.concatenate(slopes)

    def _shape(self, knots: np.ndarray) -> np.ndarray:
        """(tents, n): the tents of height 1."""
        left, gap = _left_knots(knots, self.places)
        rise = np.clip((self.places - knots[left]) / gap, 0, 1)
        shape = np.zeros((len(knots), self.periods))
        columns = np.arange(self.periods)
        shape[left, columns] = 1 - rise
        shape[left + 1, columns] = rise
        return shape

    def _by_knot(self, knots: np.ndarray, heights: np.ndarray, gradient: np.ndarray) -> np.ndarray:
        """The error's slope as each knot moves by itself, from its gradient with respect to the layer's weights."""
        left, gap = _left_knots(knots, self.places)
        rise = (self.places - knots[left]) / gap
        columns = np.arange(self.periods)
        slope = heights[left + 1] * gradient[left + 1, columns] - heights[left] * gradient[left, columns]
        slope *= (rise > 0) & (rise < 1)
        by_knot = np.zeros(len(knots))
        np.add.at(by_knot, left, slope * (rise - 1) / gap)
        np.add.at(by_knot, left + 1, -slope * rise / gap)
        return by_knot
