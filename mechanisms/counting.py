"""How far one person can move a vector of counts: the sensitivities every mechanism starts from."""

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


def histogram_sensitivity(unit: PrivacyUnit) -> Sensitivity:
    """Sensitivity of counts over disjoint cells, when a person has at most m rows.

    Add-remove: m rows enter or leave, at worst all in one cell: L1 = m, L2² = m². Replace-one: m rows
    leave one cell and m rows enter another: L1 = 2m, L2² = 2m².
    """
    m = unit.max_rows
    if unit.neighbours is Neighbours.ADD_REMOVE:
        return Sensitivity(l1=m, l2_squared=m * m)
    return Sensitivity(l1=2 * m, l2_squared=2 * m * m)
