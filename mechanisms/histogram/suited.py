"""Which methods are made for a table's columns, from their declarations and plans alone."""

from __future__ import annotations

from mechanisms.histogram.strategy import counts_cells_alone
from mechanisms.histogram.tree import Tree
from mechanisms.protocol import Plan

# Blocks of them are squares, or clouds; on a line other methods do the same better.
FOR_SEVERAL_COLUMNS = ("uniform-grid", "quadtree", "clustered-histogram")
# They count cells together that stand side by side, since such cells are often alike.
FOR_ORDERED_COLUMNS = (
    "dawa-histogram",
    "binned-histogram",
    "bisection-histogram",
    "uniform-grid",
    "adaptive-grid",
    "quadtree",
    "privtree",
    "clustered-histogram",
)


def unsuited(plan: Plan) -> str:
    """Why a method is not made for this, though it could count it; empty if it is."""
    mechanism, domain = plan.mechanism, plan.domain
    if mechanism == "hierarchical-histogram" and counts_cells_alone(Tree(tuple(plan.details["weights"]))):
        return "For this purpose and so many cells it counts each cell by itself, just as the noisy histogram does."
    if mechanism in FOR_ORDERED_COLUMNS and not any(a.ordered for a in domain.attributes):
        return "It joins cells that stand side by side, which tells nothing where no column has an order."
    if mechanism in FOR_SEVERAL_COLUMNS and len(domain.attributes) == 1:
        return "It is made for two columns or more."
    return ""
