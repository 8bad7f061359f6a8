"""PrivTree: blocks are halved while their counts look large, at a cost that does not grow with the depth."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import ClassVar

import numpy as np

from mechanisms.arrays import Flags
from mechanisms.histogram.blocks import Boxes, SummedArea, halving_codes
from mechanisms.histogram.partitioned import Blocks, PartitionedHistogram, PartitionInputs
from mechanisms.histogram.spending import Stage, laplace_law, pure_epsilon, share_of
from mechanisms.noise import DiscreteLaplace, Noise
from mechanisms.protocol import CellCost, Parameter, Plan
from mechanisms.validation import WITHIN_BINS

TREE_SHARE = Fraction(1, 2)
# θ of the paper: a block is halved while its biased noisy count is above it.
THRESHOLD = 0

SPLIT = Parameter(
    name="split",
    label="How blocks are divided",
    help="Halving one column at a time makes a k-d tree; halving all at once makes a quadtree.",
    default="longest",
    choices=(("longest", "Halve the longest column"), ("every", "Halve every column")),
)


class PrivTree(PartitionedHistogram):
    """Halves a block at its middle while max(c - depth·δ, θ - δ) + noise > θ; then counts the leaves.

    Measurement: for each block of more than one cell, level by level, 1 if it is halved, else 0 (a block's
    children follow it in order); then the noisy counts of the leaves, in the order in which they became leaves.
    The noisy counts of the decisions themselves are not kept: the proof covers their comparisons only.
    Source: Zhang, Xiao, Xie 2016, Theorem 3.1, with discrete Laplace noise.

    Proof for integers. Let θ and δ >= λ ln β be integers, K discrete Laplace of scale λ, r = e^(-1/λ). A
    block of biased count b = max(c - depth·δ, θ - δ) is halved with probability S(u) = P(K > -u), u = b - θ:
    S(u) = r^(1-u)/(1+r) for u <= 0 and 1 - r^u/(1+r) for u >= 1. So ln(S(u)/S(u-1)) = 1/λ for u <= 1, and for
    u >= 2 it is at most r^(u-1)(1-r)/(1+r-r^(u-1)) <= r^(u-1)(1-r) <= r^(u-1)/λ, as r^(u-1) <= r.
    Add one row. It raises c by 1 in the blocks on one path from the root; b rises by 1 where afterwards
    u > -δ, and stays elsewhere. Along the path c does not grow and depth·δ grows by δ, so these u lie at least
    δ apart: at most one in -δ+1..0, which changes the logarithm by 1/λ, and the others, from below, at least
    1, 1 + δ, 1 + 2δ, ..., by at most (1/λ) Σ r^(iδ) <= (1/λ) Σ β^(-i) = (1/λ) β/(β-1). Halvings become likelier by
    a factor of at most e to the sum, (2β-1)/((β-1)λ) = ε; the one block that stays whole becomes likelier to
    be halved, which moves the probability of the tree the other way, by at most 1/λ. Removing a row is the same
    read backwards. Blocks of one cell are decided without data; the bound holds for any number of children.
    Neighbours are at most Δ₁ such rows apart (of the cells: see `counting`), which multiplies ε: λ = Δ₁(2β-1)/((β-1)ε).
    """

    name: ClassVar[str] = "privtree"
    title: ClassVar[str] = "PrivTree"
    summary: ClassVar[str] = (
        "Halves blocks only where many lie, however deep; meant for ordered columns with dense and empty places."
    )
    cost_per_cell: ClassVar[CellCost] = CellCost(2.6, 100)
    parameters: ClassVar[tuple[Parameter, ...]] = (WITHIN_BINS, SPLIT)

    def _stages(self, inputs: PartitionInputs) -> list[Stage]:
        tree = share_of(inputs.loss, TREE_SHARE)
        scale = split_scale(fan_out(inputs), pure_epsilon(tree) / inputs.sensitivity.l1)
        splits = Stage("splits", TREE_SHARE, laplace_law(tree, scale))
        return [splits, inputs.count_stage("leaves", 1 - TREE_SHARE)]

    def _facts(self, inputs: PartitionInputs) -> dict[str, object]:
        law = self._stages(inputs)[0].law
        assert isinstance(law, DiscreteLaplace)
        return {"fan_out": fan_out(inputs), "decay": decay(fan_out(inputs), law.scale)}

    def _how(self, inputs: PartitionInputs) -> str:
        step = self._facts(inputs)["decay"]
        return (
            f"A block is halved while its count, less {step:,} rows for each halving before, looks positive "
            "under noise, which takes half of the cost; the other half counts the blocks that remain."
        )

    def _measured(self, plan: Plan, counts: np.ndarray, noise: Noise) -> list[np.ndarray]:
        laws, bias = plan.stage_laws, int(plan.details["decay"])
        table = SummedArea(counts, plan.domain.shape)

        def halve(boxes: Boxes, depth: int) -> Flags:
            biased = np.maximum(table.sums(boxes) - depth * bias, THRESHOLD - bias)
            halved: Flags = biased + noise.draw(laws["splits"], len(boxes)) > THRESHOLD
            return halved

        leaves, decisions = _grown(plan, halve)
        return [decisions, table.sums(leaves) + noise.draw(laws["leaves"], len(leaves))]

    def _blocks(self, plan: Plan, values: np.ndarray) -> Blocks:
        used = 0

        def halve(boxes: Boxes, depth: int) -> Flags:
            nonlocal used
            used += len(boxes)
            halved: Flags = values[used - len(boxes) : used] == 1
            return halved

        leaves, _ = _grown(plan, halve)
        codes = halving_codes(leaves.lower, np.array(plan.domain.shape))
        return Blocks(values[used:], leaves.labels(plan.domain.shape), codes)


def split_scale(beta: int, epsilon: Fraction) -> Fraction:
    """λ = (2β-1)/((β-1)ε), for rows that change by one."""
    return Fraction(2 * beta - 1, beta - 1) / epsilon


def decay(beta: int, scale: Fraction) -> int:
    """The least integer δ that is surely at least λ ln β; at least 1."""
    return max(1, math.floor(float(scale) * math.log(beta) * (1 + 1e-12)) + 1)


def fan_out(inputs: PartitionInputs) -> int:
    """β: children of a block when every column that is halved has at least two cells."""
    return 2 if inputs.parameters[SPLIT.name] == "longest" else 2**inputs.free_axes


def _grown(plan: Plan, halve: Callable[[Boxes, int], np.ndarray]) -> tuple[Boxes, np.ndarray]:
    """The leaves of the tree that `halve` (boxes, depth -> (k,) bool) decides, and all decisions as 0 and 1."""
    cut = _halved_longest if plan.parameters[SPLIT.name] == "longest" else _halved_every
    boxes, depth = Boxes.covering(plan.domain.shape), 0
    leaves, decisions = boxes[np.zeros(0, dtype=np.int64)], []
    while len(boxes):
        single = boxes.widths.max(axis=1) == 1
        leaves, boxes = leaves.followed_by(boxes[single]), boxes[~single]
        chosen = halve(boxes, depth)
        decisions.append(chosen.astype(np.int64))
        leaves, boxes = leaves.followed_by(boxes[~chosen]), cut(boxes[chosen])
        depth += 1
    return leaves, np.concatenate(decisions)


def _halved_longest(boxes: Boxes) -> Boxes:
    return boxes.halved(boxes.widths.argmax(axis=1))


def _halved_every(boxes: Boxes) -> Boxes:
    """Halve along each axis in turn, where a box has at least two cells of it."""
    for axis in range(boxes.widths.shape[1]):
        wide = boxes.widths[:, axis] > 1
        if wide.any():
            halves = boxes[wide].halved(np.full(int(wide.sum()), axis))
            boxes = boxes[~wide].followed_by(halves)
    return boxes
