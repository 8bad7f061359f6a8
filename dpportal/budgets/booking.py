"""What is decided with a grant, and what a line of the ledger is for."""

from __future__ import annotations

import uuid
from collections.abc import Collection
from dataclasses import dataclass
from decimal import Decimal

from dpportal.budgets.models import BudgetRequest


@dataclass(frozen=True)
class GrantTerms:
    """What an administrator decides with a grant beside its amount.

    delta_exponent: n of the δ = 10⁻ⁿ at which ρ is read. knowing: the datasets with nearly the same table of which the
    administrator was told. answers: the question that the grant was made for. delta: how much of δ may be spent from
    now on besides.
    """

    delta_exponent: int = 6
    knowing: Collection[uuid.UUID] = ()
    answers: BudgetRequest | None = None
    delta: Decimal = Decimal(0)


@dataclass(frozen=True)
class Booking:
    """The purpose of a line. key: names its job. total_public: whether it makes the exact number of rows public.

    delta: what it is of δ, beside its amount of ε or ρ.
    """

    key: uuid.UUID
    reason: str
    total_public: bool = False
    delta: Decimal = Decimal(0)


def own_booking(reason: str, delta: Decimal = Decimal(0)) -> Booking:
    """The booking of a line that pays for no job."""
    return Booking(uuid.uuid4(), reason, delta=delta)
