"""A generator's weights as whole numbers, and the rows that it makes: needs neither PyTorch nor the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mechanisms.arrays import Floats, Integers
from mechanisms.microdata.adversarial.critic import AT_ONCE
from mechanisms.microdata.apportioning import systematic
from mechanisms.microdata.cell_rows import CellRows, empty_rows

HIDDEN, CHANCE = 64, 32
LEAK = 0.2
# Weights are recorded as whole multiples of 1/UNIT.
UNIT = 2**16
# Rounds in which the columns' own shares are put right, and how many rows tell what they are.
CORRECTIONS, LOOKED_AT = 4, 8_000
_LEAST = 1e-6


def shapes(sizes: Sequence[int], condition: int) -> list[tuple[int, ...]]:
    """Of the generator's weights: two hidden layers and the groups of all columns, each with its offsets.

    sizes: groups of each column. condition: the place of the column that a row is made for.
    """
    entered = CHANCE + sizes[condition]
    return [(HIDDEN, entered), (HIDDEN,), (HIDDEN, HIDDEN), (HIDDEN,), (sum(sizes), HIDDEN), (sum(sizes),)]


@dataclass(frozen=True)
class RowMaker:
    """From chance and a group of one column to how likely the groups of the others are.

    weights: as `shapes` has them. sizes: groups of each column.
    """

    weights: tuple[Floats, ...]
    sizes: tuple[int, ...]
    condition: int

    def record(self) -> Integers:
        return np.concatenate([np.rint(w * UNIT).astype(np.int64).ravel() for w in self.weights])

    @classmethod
    def recorded(cls, values: Integers, sizes: tuple[int, ...], condition: int) -> RowMaker:
        """What `record` gave."""
        target = shapes(sizes, condition)
        ends = np.cumsum([int(np.prod(shape)) for shape in target])[:-1]
        weights = (
            part.reshape(shape) / UNIT for part, shape in zip(np.split(values, ends), target, strict=True)
        )
        return cls(tuple(weights), sizes, condition)

    def rows(self, groups: Integers, shares: Sequence[Floats], random: np.random.Generator) -> CellRows:
        """(n, d) groups, with the given groups of the condition's column.

        shares: of each column's groups. The offsets are first moved until rows have them about, as training may have
        lost them.
        """
        chosen = random.permutation(groups.size)[:LOOKED_AT]
        logits = self._logits(groups[chosen], random)
        moved = np.zeros(sum(self.sizes))
        for _ in range(CORRECTIONS):
            for place, target in zip(self.places(), shares, strict=True):
                likely = _softmax(logits[:, place] + moved[place]).mean(axis=0)
                moved[place] += np.log((target + _LEAST) / (likely + _LEAST))
        result = empty_rows(groups.size, self.sizes)
        for start in range(0, groups.size, AT_ONCE):
            part = slice(start, min(start + AT_ONCE, groups.size))
            result[part] = self._picked(self._logits(groups[part], random) + moved, random)
        result[:, self.condition] = groups
        for column, share in zip(result.T, shares, strict=True):
            column[:] = evened(column, share, random)
        return result

    def places(self) -> list[slice]:
        """Where each column's groups lie among all of them."""
        ends = np.cumsum(self.sizes)
        return [slice(int(end) - size, int(end)) for end, size in zip(ends, self.sizes, strict=True)]

    def _logits(self, groups: Integers, random: np.random.Generator) -> Floats:
        first, first_offset, second, second_offset, last, last_offset = self.weights
        chance = random.standard_normal((groups.size, CHANCE))
        hidden = _leaky(chance @ first[:, :CHANCE].T + first[:, CHANCE:].T[groups] + first_offset)
        hidden = _leaky(hidden @ second.T + second_offset)
        logits: Floats = hidden @ last.T + last_offset
        return logits

    def _picked(self, logits: Floats, random: np.random.Generator) -> Integers:
        columns = []
        for place in self.places():
            ends = _softmax(logits[:, place]).cumsum(axis=1)
            columns.append((random.random((len(logits), 1)) * ends[:, -1:] > ends[:, :-1]).sum(axis=1))
        return np.column_stack(columns)


def evened(groups: np.ndarray, shares: Floats, random: np.random.Generator) -> np.ndarray:
    """(n,) groups in which each has its share of rows, up to whole numbers; as few rows as can be are moved, by lot."""
    target = systematic(shares[None, :], np.array([groups.size]), random)[0]
    over = np.bincount(groups, minlength=target.size) - target
    order = random.permutation(groups.size)
    order = order[np.argsort(groups[order], kind="stable")]
    first = np.cumsum(over + target) - over - target
    leaving = np.concatenate([order[f : f + max(0, o)] for f, o in zip(first, over.tolist(), strict=True)])
    moved = groups.copy()
    moved[random.permutation(leaving)] = np.repeat(np.arange(target.size), np.maximum(-over, 0))
    return moved


def _leaky(values: Floats) -> Floats:
    return np.where(values > 0, values, LEAK * values)


def _softmax(logits: Floats) -> Floats:
    raised = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares: Floats = raised / raised.sum(axis=1, keepdims=True)
    return shares
