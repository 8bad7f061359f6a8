"""What releases and streams have in common that a budget pays for: their price, their charge, whom it protects."""

from __future__ import annotations

import uuid
from decimal import Decimal
from typing import TYPE_CHECKING

from django.db import models

from dpportal.budgets.amounts import AmountField
from dpportal.budgets.counted_rows import CountedRows
from dpportal.budgets.models import Budget, LedgerEntry
from dpportal.budgets.promises import OtherPromises
from dpportal.datasets.models import DomainVersion
from dpportal.platform.json_types import Json
from dpportal.publications.draft import Publication
from mechanisms.accounting import SYMBOL, Definition, PrivacyUnit


class ChargedPublication(Publication):
    """What a budget pays for: a release or a stream, with its charge once it is confirmed.

    priced_in: what its amount was chosen in, ε or ρ; empty where that was not kept.
    is_amount_proposed: whether the portal proposed the amount, and nobody typed, picked or dialled another.
    is_method_proposed: whether it proposed the method, and nobody picked one.
    """

    PRICE = ("amount", "priced_in", "is_amount_proposed")
    METHOD = ("mechanism", "is_method_proposed")

    if TYPE_CHECKING:
        charge: LedgerEntry | None
        charge_id: int | None
        dataset_id: uuid.UUID
        domain_version: DomainVersion | None
        domain_version_id: int

    amount = AmountField(null=True)
    priced_in = models.CharField(max_length=5, choices=Budget.Kind.choices, blank=True)
    is_amount_proposed = models.BooleanField(default=False)
    is_method_proposed = models.BooleanField(default=False)

    class Meta(Publication.Meta):
        abstract = True

    @property
    def counted_columns(self) -> list[str]:
        """The declared columns whose cells are counted."""
        raise NotImplementedError

    @property
    def counted_rows(self) -> CountedRows:
        """Of one that was confirmed: which rows it counts."""
        raise NotImplementedError

    @property
    def account(self) -> Budget | None:
        """The account that was charged; of a draft the one that would be."""
        return self.charge.budget if self.charge else Budget.of(self.dataset)

    @property
    def symbol(self) -> str:
        """What its amount is counted in, ε or ρ; also of a draft that was priced before there was a budget."""
        if self.priced_in and not self.charge:
            return SYMBOL[Definition(self.priced_in)]
        return self.account.symbol if self.account else ""

    @property
    def is_method_picked(self) -> bool:
        """Whether a person chose how it is made."""
        return bool(self.mechanism) and not self.is_method_proposed

    def price(self, amount: Decimal, budget: Budget, *, is_proposed: bool = False) -> None:
        """Choose what a draft costs, in what its budget counts. is_proposed: whether the portal chose it."""
        self.amount, self.priced_in, self.is_amount_proposed = amount, budget.definition, is_proposed

    def forget_proposal(self) -> None:
        """Of a draft whose questions change: what nobody chose is proposed anew, what somebody did stays."""
        if self.is_amount_proposed:
            self.amount, self.priced_in, self.is_amount_proposed = None, "", False
        if self.is_method_proposed:
            self.mechanism, self.is_method_proposed = "", False

    def amount_of(self, budget: Budget) -> Decimal | None:
        """A draft's cost; None where none was chosen yet, or only in what its budget does not count: ε is not ρ."""
        return self.amount if self.priced_in in ("", budget.definition) else None

    @property
    def other_promises(self) -> OtherPromises:
        """The promises of other protections that it stands beside, or as a draft will, with a budget or before."""
        return OtherPromises.of(self.account or Budget.for_planning(self.dataset))

    def protects(self, unit: PrivacyUnit, others: OtherPromises) -> Json:
        """The people whom the charged loss is about, for programs. unit: that of its plan."""
        assert self.charge is not None
        account = self.charge.budget
        return {
            "neighbours": unit.neighbours.value,
            "person_column": account.unit_column,
            "ignore_case": account.ignore_case,
            "max_rows": unit.max_rows,
            "number_of_rows_is_public": unit.total_public,
            **others.facts(),
        }

    @property
    def delta(self) -> float:
        """The δ at which a charged zCDP loss is also read as (ε, δ)."""
        assert self.charge is not None
        return self.charge.budget.delta
