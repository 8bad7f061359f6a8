"""Blocks around centres found by private k-means (Lloyd's algorithm with noisy counts and sums)."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np
from scipy.spatial import KDTree

from mechanisms.accounting import PrivacyUnit
from mechanisms.arrays import Floats, Integers
from mechanisms.calibration import count_law
from mechanisms.histogram.blocks import Shape, block_sums
from mechanisms.histogram.partitioned import Blocks, PartitionedHistogram, PartitionInputs
from mechanisms.histogram.spending import Stage, share_of
from mechanisms.noise import Noise
from mechanisms.protocol import CellCost, Parameter, Plan, PlanError
from mechanisms.sensitivity import Sensitivity, unit_sensitivity
from mechanisms.validation import WITHIN_BINS

ROUNDS_SHARE = Fraction(1, 2)
DEFAULT_CLUSTERS = 64
# Every column is stretched to about this length, if it is not longer by itself.
_REACH = 2**22
_CHUNK = 1 << 14

_BLOCKS = "How many blocks to form around centres; 0 takes 64, or fewer where there are fewer cells."
CLUSTERS = Parameter.integer("clusters", "Number of clusters", _BLOCKS, default=0, minimum=0, maximum=1024)
_MOVES = "How often the centres move; every round shares half of the cost."
ROUNDS = Parameter.integer("rounds", "Rounds", _MOVES, default=3, minimum=1, maximum=20)


class ClusteredHistogram(PartitionedHistogram):
    """k-means on the cells' positions, every column scaled to the same length; then counts of the clusters.

    Measurement: for each round, the noisy number of rows of each of k clusters, then for each column of more
    than one cell the noisy sum of their coordinates; at last the noisy count of each cluster that has cells.
    The coordinate of cell i of w is the integer 2i - (w - 1), which is at most w - 1 in size: one row moves a
    sum by at most w - 1. Starting centres are spread evenly without data; a round's centres follow from
    the noisy numbers of the round before; so each round's clusters are a fixed partition of the cells, and
    rounds compose. Within a round the count and each column's sum get equal shares.
    Source: Blum, Dwork, McSherry, Nissim 2005 (SuLQ k-means).
    """

    name: ClassVar[str] = "clustered-histogram"
    title: ClassVar[str] = "Clusters"
    summary: ClassVar[str] = (
        "Counts blocks around centres that move to where many lie; made for tables of a few clouds in numeric "
        "columns, and never advised for others."
    )
    cost_per_cell: ClassVar[CellCost] = CellCost(5.3, 110)
    fewest_columns: ClassVar[int] = 2
    # Good only where nearly everybody is in a few clouds.
    may_be_advised: ClassVar[bool] = False
    parameters: ClassVar[tuple[Parameter, ...]] = (WITHIN_BINS, CLUSTERS, ROUNDS)

    def _stages(self, inputs: PartitionInputs) -> list[Stage]:
        cells, clusters = inputs.domain.size, _clusters(inputs)
        if clusters > cells:
            raise PlanError(
                "{clusters:,} clusters are asked for, but the chosen columns have only {cells:,} cells. Ask "
                "for at most {cells:,} clusters.",
                clusters=clusters,
                cells=cells,
            )
        rounds = int(inputs.parameters[ROUNDS.name])
        moving = _free_axes(inputs.domain.shape)
        share = ROUNDS_SHARE / rounds / (1 + len(moving))
        part = share_of(inputs.loss, share)
        sums = [
            Stage(_sum_stage(axis), share, count_law(part, sum_sensitivity(inputs.loss.unit, width)), rounds)
            for axis, width in moving
        ]
        rows = Stage("rows", share, count_law(part, inputs.sensitivity), rounds)
        return [rows, *sums, inputs.count_stage("clusters", 1 - ROUNDS_SHARE)]

    def _facts(self, inputs: PartitionInputs) -> dict[str, object]:
        return {"clusters": _clusters(inputs)}

    def _how(self, inputs: PartitionInputs) -> str:
        clusters, rounds = _clusters(inputs), int(inputs.parameters[ROUNDS.name])
        return (
            f"{clusters:,} centres start evenly spread and move in {rounds} rounds to the noisy middle of the "
            "people nearest to them, for half of the cost; the other half counts the cells nearest to each."
        )

    def _measured(self, plan: Plan, counts: np.ndarray, noise: Noise) -> list[np.ndarray]:
        laws, clusters = plan.stage_laws, int(plan.details["clusters"])
        space = _Space(plan.domain.shape)
        centres, parts = starting_centres(clusters, space), []
        for _ in range(int(plan.parameters[ROUNDS.name])):
            labels = space.nearest(centres)
            sums = [block_sums(counts, labels, clusters)]
            sums += [block_sums(counts * c, labels, clusters) for c in space.coordinates]
            laws_of_round = [laws["rows"], *(laws[_sum_stage(axis)] for axis, _ in space.axes)]
            noisy = [s + noise.draw(law, clusters) for s, law in zip(sums, laws_of_round, strict=True)]
            centres = space.moved(centres, np.stack(noisy))
            parts += noisy
        labels, blocks = _numbered(space.nearest(centres))
        return [*parts, block_sums(counts, labels, blocks) + noise.draw(laws["clusters"], blocks)]

    def _blocks(self, plan: Plan, values: np.ndarray) -> Blocks:
        clusters, rounds = int(plan.details["clusters"]), int(plan.parameters[ROUNDS.name])
        space = _Space(plan.domain.shape)
        centres, each = starting_centres(clusters, space), (1 + len(space.axes)) * clusters
        for i in range(rounds):
            noisy = values[i * each : (i + 1) * each].reshape(-1, clusters)
            centres = space.moved(centres, noisy)
        labels, blocks = _numbered(space.nearest(centres))
        return Blocks(values[rounds * each :], labels, np.arange(blocks))


def sum_sensitivity(unit: PrivacyUnit, width: int) -> Sensitivity:
    """Of the clusters' sums of coordinates of a column of `width` cells, each at most width - 1 in size.

    A replaced row may move one cluster's sum from end to end.
    """
    end = width - 1
    return unit_sensitivity(unit, Sensitivity(end, end**2), Sensitivity(2 * end, (2 * end) ** 2))


class _Space:
    """Cells as points with integer coordinates, and the centres among them as (k, axes) integers."""

    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        self.axes = _free_axes(shape)
        self._units = np.array([max(1, _REACH // width) for _, width in self.axes], dtype=np.int64)
        self._ends = np.array([width - 1 for _, width in self.axes], dtype=np.int64)

    @cached_property
    def coordinates(self) -> list[np.ndarray]:
        """For each axis of more than one cell, 2i - (w - 1) of every cell: (n,) int64."""
        index = np.unravel_index(np.arange(np.prod(self._shape)), self._shape)
        return [2 * index[axis] - (width - 1) for axis, width in self.axes]

    def nearest(self, centres: np.ndarray) -> np.ndarray:
        """(n,) the nearest centre of each cell, the first among equals; exact, so the same on any machine.

        Coordinates are integers of at most 2^24 on one axis and 2^22 on three more, so squared distances
        are below 2^52 and exact in floats.
        """
        cells = math.prod(self._shape)
        if not self.axes or len(centres) == 1:
            return np.zeros(cells, dtype=np.int64)
        # In order of first appearance, so that the least number is the first among equals.
        first = np.sort(np.unique(centres, axis=0, return_index=True)[1])
        tree = KDTree(centres[first])
        points = np.stack(self.coordinates, axis=1) * self._units
        labels = np.empty(cells, dtype=np.int64)
        for start in range(0, cells, _CHUNK):
            part = slice(start, start + _CHUNK)
            labels[part] = _first_nearest(tree, points[part])
        return first[labels]

    def moved(self, centres: np.ndarray, noisy: np.ndarray) -> np.ndarray:
        """Each centre at the noisy mean of its rows; it stays where the noisy number of rows is below 1.

        noisy: (1 + axes, k) integers, numbers of rows, then sums of coordinates.
        """
        rows, sums = noisy[0].astype(np.float64), noisy[1:].T.astype(np.float64)
        mean = sums / np.maximum(rows, 1)[:, None]
        position = np.rint(np.clip(mean, -self._ends, self._ends) * self._units).astype(np.int64)
        return np.where(rows[:, None] >= 1, position, centres)

    def at(self, fractions: Floats) -> Integers:
        """(k, axes) in 0..1 as positions."""
        return np.rint((2 * fractions - 1) * self._ends * self._units).astype(np.int64)


def _first_nearest(tree: KDTree, points: Integers) -> Integers:
    """(m,) the first of the nearest of the tree's points; where two are equally near, all are compared."""
    if tree.n == 1:
        return np.zeros(len(points), dtype=np.int64)
    distance, nearest = tree.query(points, k=2)
    tied = distance[:, 0] == distance[:, 1]
    labels: Integers = nearest[:, 0]
    gaps = points[tied, None] - tree.data[None]
    labels[tied] = (gaps**2).sum(axis=2).argmin(axis=1)
    return labels


def starting_centres(clusters: int, space: _Space) -> np.ndarray:
    """(k, axes) positions spread evenly without data: the additive recurrence of the generalised golden ratio.

    Source: Roberts 2018, the R_d sequence.
    """
    return space.at((0.5 + np.arange(1, clusters + 1)[:, None] * _golden_steps(len(space.axes))) % 1)


@lru_cache(maxsize=8)
def _golden_steps(axes: int) -> np.ndarray:
    golden = 1.5
    for _ in range(64):
        golden = (1 + golden) ** (1 / (axes + 1))
    return golden ** -np.arange(1, axes + 1, dtype=np.float64)


def _clusters(inputs: PartitionInputs) -> int:
    """k, as it was asked for or chosen."""
    return int(inputs.parameters[CLUSTERS.name]) or min(DEFAULT_CLUSTERS, inputs.domain.size)


def _free_axes(shape: Shape) -> list[tuple[int, int]]:
    """Axis and width of every column that has more than one cell."""
    return [(axis, width) for axis, width in enumerate(shape) if width > 1]


def _sum_stage(axis: int) -> str:
    return f"sums of column {axis + 1}"


def _numbered(labels: np.ndarray) -> tuple[np.ndarray, int]:
    """Labels without gaps (a centre with no nearest cell makes no block), and how many there are."""
    used = np.bincount(labels) > 0
    return (np.cumsum(used) - 1)[labels], int(used.sum())
