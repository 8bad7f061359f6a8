"""How far one person can move a vector of counts: the one place where every mechanism's sensitivity comes from."""

from __future__ import annotations

from dataclasses import dataclass

from mechanisms.accounting import Neighbours, PrivacyUnit


@dataclass(frozen=True)
class Sensitivity:
    """Largest change of a vector of counts between neighbours, in integers.

    l1: largest L1 change. l2_squared: largest squared L2 change.
    """

    l1: int
    l2_squared: int


def unit_sensitivity(unit: PrivacyUnit, column: Sensitivity, replaced: Sensitivity) -> Sensitivity:
    """How far one person moves the sums Ax of counts x, for a strategy A with a column a_i for each cell.

    column: the largest norms ‖a_i‖: of one row that enters or leaves. replaced: the largest distances ‖a_i - a_j‖, or
    bounds on them: of one row that changes its cell.

    Neighbours' counts differ by u - v, the person's rows before and after: u, v >= 0, |u|₁ <= m, |v|₁ <= m. Add-remove:
    u = 0 or v = 0. Replace-one with a public total: u = e_i, v = e_j. Replace-one otherwise: any u and v; as a norm of
    A(u - v) is convex, it is largest where each of them is 0 or m rows in one cell.
    """
    m = unit.max_rows
    if unit.neighbours is Neighbours.ADD_REMOVE:
        row = column
    elif unit.total_public:
        row = replaced
    else:
        row = Sensitivity(max(column.l1, replaced.l1), max(column.l2_squared, replaced.l2_squared))
    return Sensitivity(m * row.l1, m * m * row.l2_squared)


def histogram_sensitivity(unit: PrivacyUnit) -> Sensitivity:
    """Sensitivity of counts over disjoint cells: their strategy is the identity, whose columns are 1 long."""
    return unit_sensitivity(unit, Sensitivity(1, 1), Sensitivity(2, 2))
