"""Quadtree: grids that halve every axis from level to level, all counted, made consistent."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import ClassVar

import numpy as np

from mechanisms.accounting import Definition
from mechanisms.histogram.blocks import block_sums, grid_codes, grid_labels, halvings, nesting
from mechanisms.histogram.consistent_tree import Level, consistent_leaves
from mechanisms.histogram.partitioned import Blocks, PartitionedHistogram, PartitionInputs
from mechanisms.histogram.spending import Stage, rational_shares
from mechanisms.noise import Noise
from mechanisms.protocol import CellCost, NoisySums, Parameter, Plan
from mechanisms.validation import WITHIN_BINS

_HALVINGS = "How often every column is halved at most; fewer make larger blocks. Single cells are not halved."
DEPTH = Parameter.integer("depth", "Halvings", _HALVINGS, default=10, minimum=0, maximum=24)


class Quadtree(PartitionedHistogram):
    """Counts on 2^l intervals an axis for l = 0, ..., depth, with more of the loss for finer levels.

    Measurement: the noisy counts of level 0 (everything), 1, ..., each in C order of its grid.
    Private because the grids are fixed: each level is a histogram of disjoint blocks, and levels compose.
    Source: Cormode, Procopiuc, Srivastava, Shen, Yu 2012 (geometric budget, least squares).
    """

    name: ClassVar[str] = "quadtree"
    title: ClassVar[str] = "Quadtree"
    summary: ClassVar[str] = (
        "Counts blocks of every size, halving each column, and makes them agree: good for ranges; "
        "meant for ordered columns."
    )
    cost_per_cell: ClassVar[CellCost] = CellCost(4.2, 145)
    fewest_columns: ClassVar[int] = 2
    parameters: ClassVar[tuple[Parameter, ...]] = (WITHIN_BINS, DEPTH)

    def _stages(self, inputs: PartitionInputs) -> list[Stage]:
        grids = halvings(inputs.domain.shape, int(inputs.parameters[DEPTH.name]))
        shares = level_shares(grids, inputs.free_axes, inputs.loss.definition)
        return [inputs.count_stage(f"level {level}", share) for level, share in enumerate(shares)]

    def _facts(self, inputs: PartitionInputs) -> dict[str, object]:
        grids = halvings(inputs.domain.shape, int(inputs.parameters[DEPTH.name]))
        return {"depth": len(grids) - 1, "sides": grids[-1].tolist()}

    def _how(self, inputs: PartitionInputs) -> str:
        depth = len(halvings(inputs.domain.shape, int(inputs.parameters[DEPTH.name]))) - 1
        return (
            f"Blocks are counted at {depth + 1} levels, from all cells together to every column halved {depth} "
            "times; finer levels get more of the cost, and least squares makes the levels agree."
        )

    def _measured(self, plan: Plan, counts: np.ndarray, noise: Noise) -> list[np.ndarray]:
        parts = []
        for grid, law in zip(_grids(plan), plan.stage_laws.values(), strict=True):
            blocks = math.prod(grid.tolist())
            sums = block_sums(counts, grid_labels(plan.domain.shape, grid), blocks)
            parts.append(sums + noise.draw(law, blocks))
        return parts

    def _blocks(self, plan: Plan, values: np.ndarray) -> Blocks:
        grids = _grids(plan)
        parents = nesting(grids)
        ends = np.cumsum([math.prod(grid.tolist()) for grid in grids])
        noisy = zip(np.split(values, ends[:-1]), plan.stage_laws.values(), strict=True)
        levels = [
            Level(counts, law.variance, above)
            for (counts, law), above in zip(noisy, [np.zeros(1, dtype=np.int64), *parents], strict=True)
        ]
        labels = grid_labels(plan.domain.shape, grids[-1])
        return Blocks(consistent_leaves(levels), labels, grid_codes(grids[-1]))

    def noisy_sums(self, plan: Plan, values: np.ndarray) -> list[NoisySums]:
        """The blocks of all levels."""
        ends = np.cumsum([math.prod(grid.tolist()) for grid in _grids(plan)])
        noisy = zip(np.split(values, ends[:-1]), plan.stage_laws.values(), strict=True)
        return [NoisySums(counts, law) for counts, law in noisy]


def level_shares(grids: list[np.ndarray], free_axes: int, definition: Definition) -> list[Fraction]:
    """Shares of the loss, coarse to fine, for a query that cuts b^((d-1)/d) of the b blocks of a level.

    Least summed variance: ε_l ∝ cut^(1/3) (Cormode et al. 2012, there for d = 2), ρ_l ∝ cut^(1/2).
    """
    power = (free_axes - 1) / free_axes / (3 if definition is Definition.PURE else 2)
    return rational_shares([float(math.prod(grid.tolist())) ** power for grid in grids])


def _grids(plan: Plan) -> list[np.ndarray]:
    return halvings(plan.domain.shape, int(plan.parameters[DEPTH.name]))
