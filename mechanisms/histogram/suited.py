"""Which methods are made for a table's columns, from their declarations alone."""

from __future__ import annotations

from mechanisms.domain import Domain

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


def unsuited(mechanism: str, domain: Domain) -> str:
    """Why a method is not made for these columns, though it could count them; empty if it is."""
    if mechanism in FOR_ORDERED_COLUMNS and not any(a.ordered for a in domain.attributes):
        return "It joins cells that stand side by side, which tells nothing where no column has an order."
    if mechanism in FOR_SEVERAL_COLUMNS and len(domain.attributes) == 1:
        return "It is made for two columns or more."
    return ""
