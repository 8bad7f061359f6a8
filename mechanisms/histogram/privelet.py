"""Privelet: noise on the Haar wavelet coefficients of a histogram."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from mechanisms.accounting import Definition
from mechanisms.histogram.strategy import CellStrategy, StrategyHistogram
from mechanisms.linear.haar import Haar, best_haar
from mechanisms.protocol import CellCost, NoisySums, Plan


class PriveletHistogram(StrategyHistogram):
    """Measures the total and the difference between the halves of every dyadic block.

    The weight of every scale is the one of least expected error for the declared purpose, in closed form.
    Source: Xiao, Wang, Gehrke 2010; weights for a workload: Li et al. 2015.
    """

    name: ClassVar[str] = "privelet-histogram"
    title: ClassVar[str] = "Wavelet histogram (Privelet)"
    summary: ClassVar[str] = (
        "Measures differences between halves of ever smaller blocks; best with Gaussian noise on many "
        "ordered cells (of several columns, neighbours in cell order are grouped)."
    )
    cost_per_cell: ClassVar[CellCost] = CellCost(5.0, 110)

    def best(self, purpose: str, cells: int, definition: Definition) -> Haar:
        return best_haar(purpose, cells, definition)

    def strategy(self, plan: Plan) -> Haar:
        return Haar(tuple(plan.details["weights"]))

    def noisy_sums(self, plan: Plan, values: np.ndarray) -> list[NoisySums]:
        """The total, to which a row adds a weight, and differences, to which it adds one or takes it away."""
        *differences, total = plan.details["weights"]
        most = max(differences, default=0)
        return [
            NoisySums(values[:1], plan.noise, 0, total),
            NoisySums(values[1:], plan.noise, -most, most),
        ]

    def _how(self, strategy: CellStrategy) -> str:
        return (
            f"Measures the total of {strategy.size:,} cells and, at {strategy.scales} scales, the differences between "
            "the halves of blocks, each cell once at every scale."
        )
