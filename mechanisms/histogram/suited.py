"""Which methods are made for a table's columns, from their declarations and plans alone."""

from __future__ import annotations

from mechanisms.domain import Domain
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
# Values of a column without order, those of the cell for others among them.
_TOLD_APART = 3


def unsuited(plan: Plan) -> str:
    """Why a method is not made for this, though it could count it; empty if it is."""
    mechanism, domain = plan.mechanism, plan.domain
    if mechanism == "hierarchical-histogram" and counts_cells_alone(Tree(tuple(plan.details["weights"]))):
        return "For this purpose and so many cells it counts each cell by itself, just as the noisy histogram does."
    if mechanism in FOR_ORDERED_COLUMNS and (mixed := _without_order(domain)):
        return f"It joins cells that stand side by side, which tells nothing of {mixed}, whose values have no order."
    if mechanism in FOR_SEVERAL_COLUMNS and len(domain.attributes) == 1:
        return "It is made for two columns or more."
    return ""


def _without_order(domain: Domain) -> str:
    """The columns of which joined cells would be a mixture; two or three values are soon told apart."""
    return ", ".join(a.name for a in domain.attributes if not a.ordered and a.size > _TOLD_APART)
