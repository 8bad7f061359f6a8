"""A mixture of independent columns fitted to noisy tables of pairs, no further than the noise allows.

p = Σ_k w_k Π_j P_kj has the tables M_ab = P_aᵀ diag(w) P_b: one product of matrices gives them all, and small ones
those that were measured, with their part of the gradient.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

import numpy as np

from mechanisms.arrays import Flags, Floats, Integers
from mechanisms.microdata.tables import Grouping, Pair
from mechanisms.noise import repeatable

CLASSES = 400
START_SPREAD = 0.3
STEP, MOMENTS, PULL = 0.1, (0.9, 0.99), 0.05
FEWEST_STEPS, MOST_STEPS, LOOK_EVERY = 60, 1000, 10
# Steps after which tables that are met badly count more, and how much more than the others one can.
FIRST_EMPHASIS, MOST_EMPHASIS = 40, 16.0
# A fit has come near enough when its tables' discrepancies, none taken for less than 1, have this mean.
NEAR_ENOUGH = 1.1
SCALING_ROUNDS = 20
_TINY = 1e-12


@dataclass(frozen=True)
class Target:
    """A noisy table of two columns' groups and the variance of its cells, in rows."""

    table: Floats
    variance: float


@dataclass(frozen=True)
class Mixture:
    """weights: (K,), sum 1. shares: (K, S), for each class and column the shares of its groups, which sum to 1."""

    grouping: Grouping
    weights: Floats
    shares: Floats

    def table(self, pair: Pair) -> Floats:
        """(g_a, g_b): the share of every pair of two columns' groups; 0 where nobody can be."""
        first, second = (self.shares[:, self.grouping.place(column)] for column in pair)
        block: Floats = (first * self.weights[:, None]).T @ second
        if pair in self.grouping.nobody:
            block *= ~self.grouping.nobody[pair]
            block /= max(float(block.sum()), _TINY)
        return block

    def tables(self) -> Floats:
        """(S, S): the same of all pairs of columns."""
        product: Floats = (self.shares * self.weights[:, None]).T @ self.shares
        for a, b in self.grouping.nobody:
            block = self.table((a, b))
            product[self.grouping.place(a), self.grouping.place(b)] = block
            product[self.grouping.place(b), self.grouping.place(a)] = block.T
        return product

    def with_counts(self, counts: Sequence[Floats]) -> Mixture:
        """The nearest mixture whose columns have such counts.

        counts: of each column (groups,) >= 0, up to a factor. Classes grow and shrink with their values: where a class
        has one value of a column, nothing else changes how many have it. Iterative proportional fitting.
        """
        shares, weights = self.shares.astype(np.float64), self.weights.astype(np.float64)
        for _ in range(SCALING_ROUNDS):
            for column, count in enumerate(counts):
                own = shares[:, self.grouping.place(column)]
                own *= count / count.sum() / np.maximum(weights @ own, _TINY)
                grown = np.maximum(own.sum(axis=1), _TINY)
                own /= grown[:, None]
                weights *= grown
        return replace(
            self, weights=(weights / weights.sum()).astype(np.float32), shares=shares.astype(np.float32)
        )


def fit(
    grouping: Grouping,
    margins: Sequence[Floats],
    variances: Sequence[float],
    targets: Mapping[Pair, Target],
    total: float,
    start_number: int = 0,
) -> Mixture:
    """The mixture whose tables come as near to the targets as their noise says the truth is.

    margins: for each column (groups,) counts >= 0. variances: of each column's counts of single cells. start_number:
    which of the public random starts.
    Gradient descent (Adam) from independent columns, stopped by the discrepancy principle (Morozov) table by table: of
    a table whose squared distance is its variance, what is left is noise. Tables that are met worse come to count more.
    Deterministic: its random start is public.
    """
    problem = _Problem(grouping, margins, variances, targets, total)
    start = problem.start(start_number)
    logits, moments = (
        [part.copy() for part in start],
        [(np.zeros_like(part), np.zeros_like(part)) for part in start],
    )
    for step in range(1, MOST_STEPS + 1):
        gradients, discrepancies = problem.gradient(*logits)
        if step % LOOK_EVERY == 0 and step > FEWEST_STEPS and problem.is_near(discrepancies):
            break
        if step % LOOK_EVERY == 0 and step >= FIRST_EMPHASIS:
            problem.emphasise(discrepancies)
        rate = STEP * (0.55 + 0.45 * math.cos(math.pi * step / MOST_STEPS))
        for place, (value, gradient) in enumerate(zip(logits, gradients, strict=True)):
            moments[place] = _moved(moments[place], gradient)
            pulled = PULL * rate * (value - start[place])
            value -= rate * _direction(moments[place], step) + pulled
    return problem.mixture(*logits)


def _moved(moments: tuple[Floats, Floats], gradient: Floats) -> tuple[Floats, Floats]:
    (first, second), (a, b) = moments, MOMENTS
    first *= a
    first += (1 - a) * gradient
    second *= b
    second += (1 - b) * np.square(gradient)
    return first, second


def _direction(moments: tuple[Floats, Floats], step: int) -> Floats:
    (first, second), (a, b) = moments, MOMENTS
    direction: Floats = first / ((1 - a**step) * (np.sqrt(second / (1 - b**step)) + _TINY))
    return direction


@dataclass(frozen=True)
class _PairBlock:
    """The known tables of one column with later ones, side by side, as the fit sees them.

    rows: where the column's groups lie. others: (n,) where those of its partners do. sizes: (tables,) how many are of
    each. goal, weight: (g, n) shares, and how much a cell counts. noisy: (g, n) cells that were measured, but for
    zeros that are public.
    """

    rows: slice
    others: Integers
    sizes: Integers
    goal: np.ndarray
    weight: np.ndarray
    noisy: Flags

    @property
    def starts(self) -> Integers:
        """(tables,): the first column of each table."""
        return np.cumsum(self.sizes) - self.sizes


class _Problem:
    """Loss, gradient and discrepancy; weights of cells are n²/variance, so that the loss counts variances."""

    def __init__(
        self,
        grouping: Grouping,
        margins: Sequence[Floats],
        variances: Sequence[float],
        targets: Mapping[Pair, Target],
        total: float,
    ) -> None:
        self._grouping = grouping
        self._places = [grouping.place(j) for j in range(len(grouping.sizes))]
        precision = total**2 * max((1 / target.variance for target in targets.values()), default=1.0)
        known = sorted({*targets, *grouping.nobody})
        self._parts = [
            self._part([pair for pair in known if pair[0] == column], targets, total, precision)
            for column in sorted({pair[0] for pair in known})
        ]
        cells = [np.add.reduceat(part.noisy.sum(axis=0), part.starts) for part in self._parts]
        self._cells = np.concatenate([np.empty(0), *cells])
        # How much more than by its noise each table counts.
        self._emphasis = np.ones(self._cells.size)
        self._margins = np.concatenate([np.asarray(m) for m in margins]) / total
        merged = np.concatenate([np.bincount(g) for g in grouping.groups])
        spread = np.repeat(np.asarray(variances), grouping.sizes)
        self._margin_weight = total**2 / (merged * spread)

    def _part(
        self, pairs: Sequence[Pair], targets: Mapping[Pair, Target], total: float, precision: float
    ) -> _PairBlock:
        """Where nobody can be is known for certain, with the weight of the best measurement."""
        goal, weight, noisy = list[Floats](), list[Floats](), list[Flags]()
        for a, b in pairs:
            shape, target = (self._grouping.sizes[a], self._grouping.sizes[b]), targets.get((a, b))
            nobody = self._grouping.nobody.get((a, b), np.zeros(shape, bool))
            goal.append(np.zeros(shape) if target is None else np.where(nobody, 0, target.table / total))
            weight.append(np.where(nobody, precision, 0 if target is None else total**2 / target.variance))
            noisy.append(~nobody & (target is not None))
        others = np.concatenate([np.arange(self._places[b].start, self._places[b].stop) for _a, b in pairs])
        tables: list[Floats] = [np.hstack(rows).astype(np.float32) for rows in (goal, weight)]
        sizes = np.array([self._grouping.sizes[b] for _a, b in pairs])
        return _PairBlock(self._places[pairs[0][0]], others, sizes, tables[0], tables[1], np.hstack(noisy))

    def start(self, number: int) -> list[Floats]:
        """Logits of the shares and of the weights: the columns' own shares, with a public random spread."""
        random = repeatable(sha256(b"latent classes" + b"." * number).digest())
        spread = START_SPREAD * random.standard_normal((CLASSES, self._margins.size))
        own = np.log(np.maximum(self._margins, 1e-7))
        return [(own + spread).astype(np.float32), np.zeros(CLASSES, np.float32)]

    def mixture(self, logits: Floats, weight_logits: Floats) -> Mixture:
        return Mixture(self._grouping, _softmax(weight_logits), self._shares(logits))

    def _shares(self, logits: Floats) -> Floats:
        shares: Floats = np.exp(logits - logits.max(axis=1, keepdims=True))
        for place in self._places:
            shares[:, place] /= np.maximum(shares[:, place].sum(axis=1, keepdims=True), _TINY)
        return shares

    def is_near(self, discrepancies: Floats) -> bool:
        """Whether measured tables are met as well as their noise lets them be, on the whole."""
        own = discrepancies[self._cells > 0]
        return not own.size or float(np.maximum(own, 1).mean()) <= NEAR_ENOUGH

    def emphasise(self, discrepancies: Floats) -> None:
        """Have tables count more that are met worse than their noise explains; those that are met, less again."""
        before = self._emphasis
        changed = before * np.sqrt(np.clip(discrepancies, 0.5, 4))
        # The one that counts least counts as by its noise: single columns have no emphasis.
        self._emphasis = np.clip(changed / changed.min(initial=np.inf), 1, MOST_EMPHASIS)
        change, place = (self._emphasis / before).astype(np.float32), 0
        for part in self._parts:
            part.weight[:] *= np.repeat(change[place : place + part.sizes.size], part.sizes)
            place += part.sizes.size

    def gradient(self, logits: Floats, weight_logits: Floats) -> tuple[list[Floats], Floats]:
        """The gradient in both logits, and each table's mean of squared distance over variance, 1 if not measured."""
        shares, weights = self._shares(logits), _softmax(weight_logits)
        by_group, squares = np.ascontiguousarray(shares.T), [np.empty(0)]
        pulled = np.zeros_like(by_group)
        for part in self._parts:
            own, others = by_group[part.rows], by_group[part.others]
            distance = (own * weights) @ others.T - part.goal
            pull = distance * part.weight
            squares.append(np.add.reduceat(np.einsum("gn,gn,gn->n", pull, part.noisy, distance), part.starts))
            pulled[part.rows] += pull @ others
            pulled[part.others] += pull.T @ own
        by_share = np.ascontiguousarray(pulled.T)
        squared = np.concatenate(squares) / self._emphasis
        discrepancies = np.divide(squared, self._cells, where=self._cells > 0, out=np.ones(squared.size))
        margin_pull = (self._margin_weight * (weights @ shares - self._margins)).astype(np.float32)
        by_weight = 0.5 * np.einsum("ks,ks->k", by_share, shares) + shares @ margin_pull
        by_share += margin_pull
        by_share *= weights[:, None]
        by_share *= shares
        for place in self._places:
            by_share[:, place] -= shares[:, place] * by_share[:, place].sum(axis=1, keepdims=True)
        return [by_share, weights * (by_weight - weights @ by_weight)], discrepancies


def _softmax(logits: Floats) -> Floats:
    shares = np.exp(logits - logits.max())
    normal: Floats = shares / shares.sum()
    return normal
