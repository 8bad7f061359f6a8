"""Grids whose fineness follows from the number of people and the loss (Qardaji, Yang, Li 2013)."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import ClassVar

import numpy as np

from mechanisms.arrays import Integers
from mechanisms.histogram.blocks import Shape, block_sums, grid_codes, grid_labels, halving_codes
from mechanisms.histogram.consistent_tree import Level, consistent_leaves
from mechanisms.histogram.partitioned import PEOPLE, Blocks, PartitionedHistogram, PartitionInputs
from mechanisms.histogram.spending import Stage
from mechanisms.noise import Noise, NoiseLaw
from mechanisms.protocol import CellCost, NoisySums, Parameter, Plan
from mechanisms.validation import WITHIN_BINS

# The paper's constant c, found by experiment: how unevenly people lie in a block, against noise.
UNEVENNESS = 10.0
# The paper's bounds on the first level of two: at least 10 × 10, else a quarter of the sides.
_COARSER, _LEAST_PULL = 16.0, 100.0
_SMALLEST_ERROR = 1e-9
# From coarse blocks of so many cells an axis on, the width of a fine block is rounded down. Chosen on drawn tables.
_WIDE = 4


class UniformGrid(PartitionedHistogram):
    """One grid, m intervals an axis: in two dimensions m = √(n ε / 10).

    Measurement: [noisy number of people, if it is not public], then the noisy count of each block.
    Private because the blocks are unions of disjoint cells, chosen from public numbers or from the noisy
    number of people; the two counts compose.
    """

    name: ClassVar[str] = "uniform-grid"
    title: ClassVar[str] = "Uniform grid"
    summary: ClassVar[str] = (
        "Counts blocks of neighbouring cells, as coarse as the noise asks; meant for ordered columns."
    )
    cost_per_cell: ClassVar[CellCost] = CellCost(1.8, 90)
    fewest_columns: ClassVar[int] = 2
    parameters: ClassVar[tuple[Parameter, ...]] = (WITHIN_BINS, PEOPLE)

    def _stages(self, inputs: PartitionInputs) -> list[Stage]:
        return [*inputs.people_stage(), inputs.count_stage("blocks", inputs.rest())]

    def _facts(self, inputs: PartitionInputs) -> dict[str, object]:
        if not inputs.people:
            return {}
        law = self._stages(inputs)[-1].law
        return {"sides": uniform_sides(inputs.domain.shape, inputs.people, law).tolist()}

    def _how(self, inputs: PartitionInputs) -> str:
        return f"One grid of blocks, its fineness from {_source(inputs)} and the cost."

    def _measured(self, plan: Plan, counts: np.ndarray, noise: Noise) -> list[np.ndarray]:
        bought = bought_people(plan, counts, noise)
        sides = self._sides(plan, bought)
        blocks = math.prod(sides.tolist())
        sums = block_sums(counts, grid_labels(plan.domain.shape, sides), blocks)
        return [bought, sums + noise.draw(plan.stage_laws["blocks"], blocks)]

    def _blocks(self, plan: Plan, values: np.ndarray) -> Blocks:
        bought, estimates = split_bought(plan, values)
        sides = self._sides(plan, bought)
        return Blocks(estimates, grid_labels(plan.domain.shape, sides), grid_codes(sides))

    def noisy_sums(self, plan: Plan, values: np.ndarray) -> list[NoisySums]:
        """The number of people, if it was bought, and all blocks."""
        bought, blocks = split_bought(plan, values)
        return [*people_sums(plan, bought), NoisySums(blocks, plan.noise)]

    def _sides(self, plan: Plan, bought: np.ndarray) -> np.ndarray:
        law = plan.stage_laws["blocks"]
        return uniform_sides(plan.domain.shape, known_people(plan, bought), law)


class AdaptiveGrid(PartitionedHistogram):
    """A coarse grid, then in each of its blocks a grid as fine as the block's noisy count allows.

    Measurement: [noisy number of people, if it is not public], the noisy count of each coarse block, then
    the noisy count of each fine block, ordered by coarse block.
    Private because every grid is made from public numbers and from counts that are already noisy; the
    stages compose, half of the loss each. Both levels are made to agree by least squares.

    Fine blocks are as wide as the noisy count allows, rounded down to whole cells, as the paper's program has it: more
    blocks than rounding their number. Where n·ε is so large that coarse blocks are narrower than 4 cells, the number is
    rounded: the width could only become a cell, even of blocks that hold few people.
    """

    name: ClassVar[str] = "adaptive-grid"
    title: ClassVar[str] = "Adaptive grid"
    summary: ClassVar[str] = (
        "A coarse grid first, then finer blocks where it counts many; meant for ordered columns."
    )
    cost_per_cell: ClassVar[CellCost] = CellCost(1.9, 105)
    parameters: ClassVar[tuple[Parameter, ...]] = (WITHIN_BINS, PEOPLE)

    def _stages(self, inputs: PartitionInputs) -> list[Stage]:
        half = inputs.rest() * Fraction(1, 2)
        return [*inputs.people_stage(), inputs.count_stage("coarse", half), inputs.count_stage("fine", half)]

    def _facts(self, inputs: PartitionInputs) -> dict[str, object]:
        return {"wide": _WIDE}

    def _how(self, inputs: PartitionInputs) -> str:
        return (
            f"A coarse grid, its fineness from {_source(inputs)} and the cost, is counted with half of the cost; "
            "each of its blocks is divided by its noisy count and counted again with the other half."
        )

    def _measured(self, plan: Plan, counts: np.ndarray, noise: Noise) -> list[np.ndarray]:
        laws = plan.stage_laws
        bought = bought_people(plan, counts, noise)
        grid = _TwoLevels(plan, known_people(plan, bought))
        coarse = block_sums(counts, grid.coarse_labels, grid.coarse_blocks)
        coarse += noise.draw(laws["coarse"], grid.coarse_blocks)
        sides = grid.fine_sides(coarse)
        blocks = int(sides.prod(axis=1).sum())
        fine = block_sums(counts, grid.fine_labels(sides), blocks)
        return [bought, coarse, fine + noise.draw(laws["fine"], blocks)]

    def _blocks(self, plan: Plan, values: np.ndarray) -> Blocks:
        laws = plan.stage_laws
        bought, counts = split_bought(plan, values)
        grid = _TwoLevels(plan, known_people(plan, bought))
        coarse, fine = counts[: grid.coarse_blocks], counts[grid.coarse_blocks :]
        sides = grid.fine_sides(coarse)
        parents = np.repeat(np.arange(coarse.size), sides.prod(axis=1))
        levels = [
            Level(coarse, laws["coarse"].variance, np.zeros_like(coarse)),
            Level(fine, laws["fine"].variance, parents),
        ]
        return Blocks(consistent_leaves(levels), grid.fine_labels(sides), grid.codes(sides))

    def noisy_sums(self, plan: Plan, values: np.ndarray) -> list[NoisySums]:
        """The number of people, if it was bought, and the blocks of both levels."""
        bought, counts = split_bought(plan, values)
        coarse, laws = _TwoLevels(plan, known_people(plan, bought)).coarse_blocks, plan.stage_laws
        levels = [NoisySums(counts[:coarse], laws["coarse"]), NoisySums(counts[coarse:], laws["fine"])]
        return [*people_sums(plan, bought), *levels]


class _TwoLevels:
    """The geometry of an adaptive grid: the coarse grid, and the fine grids that noisy counts ask for."""

    def __init__(self, plan: Plan, people: int) -> None:
        self._shape = np.array(plan.domain.shape, dtype=np.int64)
        self._fine_law = plan.stage_laws["fine"]
        # The paper takes ε for both levels together here; the coarse level's law is that of half of it.
        overall = 2 * pull(np.array([people]), plan.stage_laws["coarse"], UNEVENNESS)
        self.sides = balanced_sides(self._shape[None], np.maximum(_LEAST_PULL, overall / _COARSER))[0]
        self.coarse_labels = grid_labels(plan.domain.shape, self.sides)
        self.coarse_blocks = math.prod(self.sides.tolist())
        wide, cut = plan.details["wide"], self.sides < self._shape
        self._by_width = bool((self._shape >= wide * self.sides)[cut].all())

    def fine_sides(self, coarse: np.ndarray) -> np.ndarray:
        """(blocks, d) intervals of each coarse block's own grid, from its noisy count."""
        people = np.maximum(coarse, 0)
        lower, upper = self._bounds()
        pulls = pull(people, self._fine_law, UNEVENNESS / 2)
        return balanced_sides(upper - lower, pulls, by_width=self._by_width)

    def fine_labels(self, sides: Integers) -> Integers:
        """(n,) labels of the fine blocks, numbered coarse block by coarse block."""
        lower, upper = self._bounds()
        block = self.coarse_labels
        cells = np.unravel_index(np.arange(block.size), tuple(self._shape.tolist()))
        local = np.zeros(block.size, dtype=np.int64)
        for axis, index in enumerate(cells):
            start, side = lower[block, axis], sides[block, axis]
            local = local * side + (index - start) * side // (upper[block, axis] - start)
        fine = sides.prod(axis=1)
        labels: Integers = (np.cumsum(fine) - fine)[block] + local
        return labels

    def codes(self, sides: Integers) -> Integers:
        """(k,) of the fine blocks: coarse blocks are halved down to single ones, then each one's own grid."""
        fine = sides.prod(axis=1)
        own = np.repeat(sides, fine, axis=0)
        rest = np.arange(len(own)) - np.repeat(np.cumsum(fine) - fine, fine)
        places = np.empty_like(own)
        for axis in reversed(range(own.shape[1])):
            rest, places[:, axis] = np.divmod(rest, own[:, axis])
        inner = halving_codes(places, own)
        outer = grid_codes(self.sides)
        codes: Integers = (np.repeat(outer, fine) << int(inner.max()).bit_length()) + inner
        return codes

    def _bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """(blocks, d) first cell and one past the last: interval k of a side of s starts at ⌈k·w/s⌉."""
        place = np.unravel_index(np.arange(self.coarse_blocks), tuple(self.sides.tolist()))
        interval = np.stack(place, axis=1)
        return -(-interval * self._shape // self.sides), -(-(interval + 1) * self._shape // self.sides)


def uniform_sides(shape: Shape, people: int, law: NoiseLaw) -> Integers:
    """(d,) intervals of each axis of a uniform grid."""
    widths = np.array([shape], dtype=np.int64)
    sides: Integers = balanced_sides(widths, pull(np.array([people]), law, UNEVENNESS))[0]
    return sides


def pull(people: np.ndarray, law: NoiseLaw, unevenness: float) -> np.ndarray:
    """n ε / c, the paper's measure of how fine a grid may be, with √2 / standard error for ε.

    people: (b,) numbers of people, >= 0. Returns (b,).
    """
    return people * math.sqrt(2) / (max(law.standard_error, _SMALLEST_ERROR) * unevenness)


def balanced_sides(widths: Integers, pulls: np.ndarray, *, by_width: bool = False) -> Integers:
    """Intervals of each axis at which noise and unevenness of a block of people weigh the same.

    widths: (b, d) cells of each block's axes. pulls: (b,) n ε / c. Returns (b, d) integers, 1..width.
    With d axes of m intervals a range query meets noise ∝ m^(d/2)/ε and unevenness ∝ n/m, least together at
    m = (2nε/(dc))^(2/(d+2)): √(nε/c) for d = 2, the paper's Guideline 1. An axis that has no more than m
    cells keeps them all; it adds noise but no unevenness, and m is found anew for the others. m is rounded, or, by
    width, the cells of an interval are rounded down and as many intervals taken as hold the axis.
    """
    capped = widths <= 1
    side = np.ones(len(widths))
    for _ in range(widths.shape[1]):
        free = np.maximum(1, (~capped).sum(axis=1))
        fixed = np.where(capped, widths, 1).prod(axis=1)
        side = (2 * pulls / (free * np.sqrt(fixed))) ** (2 / (free + 2))
        capped |= widths <= side[:, None]
    side = np.clip(side, 1, 2**24)[:, None]
    if by_width:
        width = np.maximum(1, np.floor(widths / side)).astype(np.int64)
        return np.where(capped, widths, -(-widths // width))
    return np.where(capped, widths, np.minimum(np.rint(side).astype(np.int64), widths))


def bought_people(plan: Plan, counts: Integers, noise: Noise) -> Integers:
    """The noisy number of people as (1,) int64, or (0,) where it is public."""
    law = plan.stage_laws.get("people")
    if law is None:
        return np.empty(0, dtype=np.int64)
    bought: Integers = counts.sum(keepdims=True) + noise.draw(law, 1)
    return bought


def people_sums(plan: Plan, bought: np.ndarray) -> list[NoisySums]:
    """The noisy number of people, where it is not public."""
    return [NoisySums(bought, plan.stage_laws["people"])] if bought.size else []


def split_bought(plan: Plan, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A measurement's noisy number of people ((1,), or (0,) where it is public) and the rest."""
    first = int("people" in plan.stage_laws)
    return values[:first], values[first:]


def known_people(plan: Plan, bought: np.ndarray) -> int:
    """The public number of people, or the noisy one, at least 0."""
    return max(0, int(bought[0])) if bought.size else int(plan.details["people"])


def _source(inputs: PartitionInputs) -> str:
    if inputs.people:
        return f"the public number of people ({inputs.people:,})"
    return "a noisy number of people (a twentieth of the cost)"
