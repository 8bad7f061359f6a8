"""The shape and the weights of a tree of blocks, and the exact error of its reconciled running counts.

A block of level l holds `branching[l-1]` blocks of level l-1; level 0 are single periods. Blocks up to a stretch are
reconciled by least squares among themselves, once all their noise is drawn. Above, a block takes its part of the
contradiction between its parent, as known from outside, and the answers of its siblings and its own: that needs
nothing from inside blocks whose time has not come, and gives up little, since a sum of many small answers adds little
to what one large answer tells.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from mechanisms.arrays import Floats, Integers

# A stretch of at most so many periods has all its noise drawn when its first period is published. Streams that are open
# rely on it.
LARGEST_STRETCH = 2048


@dataclass(frozen=True)
class TreePart:
    """A weighted sum over some children of one block as they are known from outside, and noise apart from that.

    sum, squares: of the weights and of their squares. energy: of the noise.
    """

    sum: float
    squares: float
    energy: float

    @classmethod
    def of(cls, weight: float, energy: float) -> TreePart:
        """Of one block."""
        return cls(weight, weight**2, energy)


@dataclass(frozen=True)
class LevelTree:
    """A tree of blocks, and how well each level is measured.

    branching: children of a block of level 1, 2, ..., H. weights: of the answers of levels 0..H; only that of the
    root may be 0. Energies are variances for answers with noise of variance 1.
    """

    branching: tuple[int, ...]
    weights: tuple[float, ...]

    @property
    def top(self) -> int:
        return len(self.branching)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Periods in a block of each level."""
        return tuple(math.prod(self.branching[:level]) for level in range(self.top + 1))

    @cached_property
    def stretch(self) -> int:
        """The highest level whose blocks hold at most LARGEST_STRETCH periods."""
        return max(level for level, size in enumerate(self.sizes) if size <= LARGEST_STRETCH)

    @cached_property
    def outside(self) -> dict[int, float]:
        """For the levels from a stretch up: the variance of a block's sum as known from outside; inf if it is not.

        With parts known to e each and their sum to g, each part takes the share κ = e/(g + b e) of what the sum
        lacks, which is the least-squares estimate.
        """
        variances = {self.top: 1 / self.weights[-1] ** 2 if self.weights[-1] else math.inf}
        for level in range(self.top, self.stretch, -1):
            own, share = self.weights[level - 1] ** -2.0, self.share(level, variances[level])
            known = share**2 * variances[level] if share else 0.0
            variances[level - 1] = own * (1 - 2 * share + self.branching[level - 1] * share**2) + known
        return variances

    def share(self, level: int, outside: float) -> float:
        """κ of the children of a block of this level whose sum is known to `outside`."""
        own: float = self.weights[level - 1] ** -2.0
        return own / (outside + self.branching[level - 1] * own)

    @cached_property
    def inside(self) -> tuple[float, ...]:
        """For the levels 0..stretch-1: the variance of a block's sum from its own answer and those inside it."""
        variances = [self.weights[0] ** -2.0]
        for level in range(1, self.stretch):
            below = self.branching[level - 1] * variances[-1]
            variances.append(1 / (self.weights[level] ** 2 + 1 / below))
        return tuple(variances)

    @cached_property
    def from_inside(self) -> float:
        """The share of a stretch's sum that comes from inside it, the rest from outside."""
        if self.stretch == 0:
            return 0.0
        known = self.outside[self.stretch]
        return (
            known / (known + self.branching[self.stretch - 1] * self.inside[-1]) if known < math.inf else 1.0
        )

    def energies(self, periods: np.ndarray) -> np.ndarray:
        """The energy of the running count after each of the periods."""
        over = periods.astype(np.int64) - 1
        energies, weight = self._within_stretch(self._position(over, self.stretch) + 1)
        for level in range(self.stretch + 1, self.top + 1):
            own, children = self.weights[level - 1] ** -2.0, self.branching[level - 1]
            done = self._position(over, level) // self.sizes[level - 1]
            share = self.share(level, self.outside[level]) * (done + weight)
            rest = (weight - share) ** 2 + (children - done - 1) * share**2
            energies += own * (done * (1 - share) ** 2 + rest)
            weight = share
        root = self.outside[self.top]
        return energies + (weight**2 * root if root < math.inf else 0.0)

    def _position(self, over: np.ndarray, level: int) -> np.ndarray:
        """How many periods of the current block of this level are over, for so many that are over in all."""
        return over % self.sizes[level] if level < self.top else over

    def increment_energies(self, periods: Integers) -> Floats:
        """The energy of what each of the periods adds to the running count.

        It depends on nothing but the highest level, from a stretch up, whose blocks begin with the period.
        """
        over = periods.astype(np.int64) - 1
        begins = np.zeros_like(over)
        for size in self.sizes[self.stretch : self.top]:
            begins += over % size == 0
        return np.where(over == 0, self.energies(np.ones_like(over)), self._increments[begins])

    @cached_property
    def _increments(self) -> Floats:
        """(top - stretch + 1,): of a period inside a stretch, then of one with which a block of each level begins.

        What was published at the end of a block differs from what is known of it from then on by a correction.
        """
        begun, corrected = self._first_of_stretch, self._end_of_stretch
        energies = [self._from_root(self.stretch, begun)]
        for level in range(self.stretch + 1, self.top + 1):
            siblings = TreePart(
                corrected.sum + begun.sum, corrected.squares + begun.squares, corrected.energy + begun.energy
            )
            energies.append(self._from_root(level, self._of_parent(level, siblings)))
            # A block less its children, of which the last was published as it was at its end.
            last, children = corrected.sum - 1, self.branching[level - 1]
            less = TreePart(last - (children - 1), last**2 + children - 1, corrected.energy)
            parent = self._of_parent(level, less)
            begun, corrected = self._of_parent(level, begun), TreePart.of(1 + parent.sum, parent.energy)
        return np.array(energies)

    @property
    def _values(self) -> Floats:
        """See `_within_stretch`."""
        return np.cumsum([self.weights[k] ** 2 * self.sizes[k] for k in range(self.stretch)])

    @property
    def _first_of_stretch(self) -> TreePart:
        """A stretch's estimate of one of its periods, the first like any other, by what is known of the stretch."""
        energy = sum(
            (1 / f - 1 / c) / v for (f, c), v in zip(pairwise(self.sizes), self._values, strict=False)
        )
        size = self.sizes[self.stretch]
        if self.stretch:
            energy += self.from_inside**2 / (size * self._values[-1])
        return TreePart.of((1 - self.from_inside) / size, float(energy))

    @property
    def _end_of_stretch(self) -> TreePart:
        """What is known of a stretch from outside less its own estimate of its sum."""
        inside = self.sizes[self.stretch] / self._values[-1] if self.stretch else 0.0
        return TreePart.of(self.from_inside, float(self.from_inside**2 * inside))

    def _of_parent(self, level: int, part: TreePart) -> TreePart:
        """The same, by what is known of the parents on this level: child i is o_i + κ (parent - Σ o)."""
        own, children = self.weights[level - 1] ** -2.0, self.branching[level - 1]
        share = self.share(level, self.outside[level]) * part.sum
        added = own * (part.squares - 2 * share * part.sum + children * share**2)
        return TreePart.of(share, part.energy + added)

    def _from_root(self, level: int, part: TreePart) -> float:
        """The whole energy of what is given by the blocks of a level."""
        for above in range(level + 1, self.top + 1):
            part = self._of_parent(above, part)
        root = self.outside[self.top]
        return part.energy + (part.squares * root if root < math.inf else 0.0)

    def _within_stretch(self, begun: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """After so many periods of a stretch: the energy that comes from inside it, and the weight of what is outside.

        The answers' Gram matrix has as eigenspaces V_l, what is constant on blocks of level l and sums to zero on
        those of level l+1, with eigenvalues Σ_{k<=l} w_k² size_k (Qardaji, Yang, Li 2013, for equal weights), so
        that a query q has variance Σ_l ‖q_l‖²/λ_l. On the last, V_stretch, acts what is known from outside too.
        """
        size = self.sizes[self.stretch]
        smooth = [begun - begun % s + (begun % s) ** 2 / s for s in self.sizes[: self.stretch + 1]]
        values = self._values
        energies = np.zeros(begun.shape)
        for (fine, coarse), value in zip(pairwise(smooth), values, strict=True):
            energies += (fine - coarse) / value
        if self.stretch:
            energies += self.from_inside**2 * smooth[-1] / values[-1]
        return energies, (1 - self.from_inside) * begun / size

    def mean_energy(self, horizon: int) -> float:
        """The mean of the energies over the periods 1..horizon, exactly, without going through them all."""
        energy, _, squares = self._moments(self.top, horizon)
        root = self.outside[self.top]
        return float((energy + (squares * root if root < math.inf else 0.0)) / horizon)

    def _moments(self, level: int, upto: int) -> np.ndarray:
        """Over the first `upto` periods of a block: Σ energy, Σ weight, Σ weight² of what is known outside it."""
        if level == self.stretch:
            energies, weights = self._within_stretch(np.arange(1, upto + 1))
            return np.array([energies.sum(), weights.sum(), (weights**2).sum()])
        size = self.sizes[level - 1]
        complete, rest = divmod(upto, size)
        moments = np.zeros(3)
        if complete:
            moments += self._lifted(level, np.arange(complete), size, self._moments(level - 1, size))
        if rest:
            moments += self._lifted(level, np.array([complete]), rest, self._moments(level - 1, rest))
        return moments

    def _lifted(self, level: int, done: np.ndarray, count: int, moments: np.ndarray) -> np.ndarray:
        """Moments over a child's periods as those of its parent, summed over how many children are done before it.

        The energy added is own · (d (1-s)² + (w-s)² + (b-d-1) s²), s = κ (d + w), a polynomial in the weight w.
        """
        energy, weight, square = moments
        own, k = self.weights[level - 1] ** -2.0, self.share(level, self.outside[level])
        d = done.astype(np.float64)
        ahead = self.branching[level - 1] - d - 1
        free = d * (1 - k * d) ** 2 + (1 + ahead) * (k * d) ** 2
        linear = 2 * k * d * (-(1 - k * d) - (1 - k) + ahead * k)
        quadratic = d * k**2 + (1 - k) ** 2 + ahead * k**2
        added = own * (free.sum() * count + linear.sum() * weight + quadratic.sum() * square)
        shares = k * (d.sum() * count + len(d) * weight)
        squares = k**2 * ((d**2).sum() * count + 2 * d.sum() * weight + len(d) * square)
        return np.array([len(d) * energy + added, shares, squares])
