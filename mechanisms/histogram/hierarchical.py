"""The hierarchical histogram: counts of nested intervals, made consistent by least squares."""

from __future__ import annotations

from typing import ClassVar

from mechanisms.accounting import Definition
from mechanisms.histogram.strategy import CellStrategy, StrategyHistogram, counts_cells_alone
from mechanisms.linear.tree import Tree, best_tree
from mechanisms.protocol import CellCost, Plan


class HierarchicalHistogram(StrategyHistogram):
    """Counts the cells and nested intervals of them, so that a long range adds up few noisy numbers.

    The branching and the weight of every level are those of least expected error for the declared purpose. For
    single cells that is one level, the plain noisy histogram.
    Source: Hay et al. 2010; branching by expected error: Qardaji, Yang, Li 2013.
    """

    name: ClassVar[str] = "hierarchical-histogram"
    title: ClassVar[str] = "Hierarchical histogram"
    summary: ClassVar[str] = (
        "Also counts nested intervals, so ranges and running totals carry far less noise; "
        "meant for one ordered column (of several, neighbours in cell order are grouped)."
    )
    cost_per_cell: ClassVar[CellCost] = CellCost(4.9, 135)

    def best(self, purpose: str, cells: int, definition: Definition) -> Tree:
        return best_tree(purpose, cells, definition)

    def strategy(self, plan: Plan) -> Tree:
        return Tree(tuple(plan.details["weights"]))

    def unsuited(self, plan: Plan) -> str:
        if counts_cells_alone(self.strategy(plan)):
            return "For this purpose and so many cells it counts each cell by itself, just as the noisy histogram does."
        return super().unsuited(plan)

    def _how(self, strategy: CellStrategy) -> str:
        if strategy.levels == (0,):
            return "Counts each cell by itself: for this purpose intervals of cells would only add noise."
        sizes = ", ".join(f"{2**e:,}" for e in strategy.levels)
        return f"Counts intervals of {sizes} cells, each cell once at every size, and reconciles them by least squares."
