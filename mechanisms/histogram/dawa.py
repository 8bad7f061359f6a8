"""DAWA: flat stretches of cells are found privately and counted as one."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from mechanisms.calibration import count_law
from mechanisms.histogram.block_tree import BlockTreeHistogram, BlockTreeInputs, partition_share
from mechanisms.histogram.partition import private_partition
from mechanisms.histogram.spending import laplace_law
from mechanisms.noise import DiscreteLaplace, Noise
from mechanisms.protocol import CellCost, Parameter, Plan
from mechanisms.sensitivity import histogram_sensitivity

# The least of many noisy costs lies below the true ones; every block is charged for that, in units of the noise.
NOISE_CHARGE = 1.5

_EXCHANGE = "More finds better stretches and counts them less exactly."
SHARE = partition_share(
    "partition_share", "finding flat stretches", _EXCHANGE, default=25, minimum=5, maximum=75
)


class DawaHistogram(BlockTreeHistogram):
    """Partitions the cells into nearly flat dyadic blocks, then counts the blocks by a weighted hierarchy.

    The partition's privacy is argued in `partition.private_partition`. Its charge for a block is public: the
    standard error of the block's count alone, plus 1.5 scales of the partition's own noise.
    Source: Li, Hay, Miklau, Wang 2014.
    """

    name: ClassVar[str] = "dawa-histogram"
    title: ClassVar[str] = "Histogram by flat stretches (DAWA)"
    summary: ClassVar[str] = (
        "Finds stretches of nearly equal cells privately and counts each as one; good where an ordered column has long "
        "even or empty stretches (of several columns, neighbours in cell order are grouped)."
    )
    cost_per_cell: ClassVar[CellCost] = CellCost(5.1, 95)
    parameters: ClassVar[tuple[Parameter, ...]] = (*BlockTreeHistogram.parameters, SHARE)
    partition_name: ClassVar[str] = "partition"
    share: ClassVar[Parameter] = SHARE

    def _partition_law(self, inputs: BlockTreeInputs) -> DiscreteLaplace:
        return laplace_law(inputs.loss, 2 * inputs.rows / inputs.partition_epsilon)

    def _facts(self, inputs: BlockTreeInputs) -> dict[str, object]:
        return {"block_cost": _block_cost(inputs, self._partition_law(inputs))}

    def _partition(self, plan: Plan, law: DiscreteLaplace, padded: np.ndarray, noise: Noise) -> np.ndarray:
        return private_partition(padded, law, int(plan.details["block_cost"]), noise)

    def _how(self, inputs: BlockTreeInputs) -> str:
        law = self._partition_law(inputs)
        return (
            f"{100 * inputs.share} % of the cost (ε = {float(inputs.partition_epsilon):.6g}) finds blocks of nearly "
            f"equal cells: one row changes how uneven a block is by at most 1, and noise of scale "
            f"{float(law.scale):.6g} hides it for the {inputs.rows} that one person can change."
        )


def _block_cost(inputs: BlockTreeInputs, law: DiscreteLaplace) -> int:
    alone = count_law(inputs.count_loss, histogram_sensitivity(inputs.loss.unit)).standard_error
    return math.ceil(alone + NOISE_CHARGE * float(law.scale))
