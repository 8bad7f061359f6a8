"""A dataset's privacy budget and the ledger of everything that changed it."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterable
from decimal import Decimal
from typing import Any, NoReturn

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from dpportal.budgets.amounts import AmountField
from dpportal.datasets.models import Dataset
from mechanisms.accounting import SYMBOL, Definition, zcdp_to_epsilon


class Budget(models.Model):
    """What an administrator granted a dataset, and how much of it is spent or reserved. Written by `ledger` only."""

    class Kind(models.TextChoices):
        PURE = Definition.PURE.value, _("pure ε")
        ZCDP = Definition.ZCDP.value, _("zCDP ρ")

    dataset = models.OneToOneField(Dataset, on_delete=models.PROTECT, related_name="budget")
    definition = models.CharField(max_length=5, choices=Kind.choices, default=Kind.PURE)
    delta_exponent = models.PositiveSmallIntegerField(
        default=6, help_text=_("zCDP is also shown as (ε, δ) with δ = 10^-this.")
    )
    total = AmountField(default=Decimal(0))
    spent = AmountField(default=Decimal(0))
    reserved = AmountField(default=Decimal(0))

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(total__gte=F("spent") + F("reserved")), name="budget_is_never_overspent"
            ),
            models.CheckConstraint(
                condition=Q(spent__gte=0, reserved__gte=0), name="budget_parts_not_negative"
            ),
        ]

    def __str__(self) -> str:
        return f"Budget of {self.dataset}"

    @property
    def left(self) -> Decimal:
        return self.total - self.spent - self.reserved

    @property
    def symbol(self) -> str:
        return SYMBOL[Definition(self.definition)]

    @property
    def delta(self) -> float:
        return 10.0**-self.delta_exponent

    @property
    def total_as_epsilon(self) -> float | None:
        """The ε, at this budget's δ, of spending a zCDP budget to the end; for display."""
        if self.definition != Definition.ZCDP or not self.total:
            return None
        return zcdp_to_epsilon(float(self.total), self.delta)

    @property
    def spent_percent(self) -> float:
        return self._percent(self.spent)

    @property
    def reserved_percent(self) -> float:
        return self._percent(self.reserved)

    @property
    def left_percent(self) -> float:
        return self._percent(self.left)

    def _percent(self, part: Decimal) -> float:
        return round(float(100 * part / self.total), 2) if self.total else 0.0


class AppendOnlyError(TypeError):
    """The ledger was asked to forget or to change a line."""


class LedgerQuerySet(models.QuerySet["LedgerEntry"]):
    """Reads and appends. Changing or deleting lines is refused, whoever asks."""

    def update(self, **kwargs: Any) -> NoReturn:
        raise AppendOnlyError("Ledger lines are never changed; add a line that corrects.")

    def delete(self) -> NoReturn:
        raise AppendOnlyError("Ledger lines are never deleted; add a line that corrects.")

    def bulk_update(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise AppendOnlyError("Ledger lines are never changed; add a line that corrects.")

    def bulk_create(
        self,
        objs: Iterable[Any],
        batch_size: int | None = None,
        ignore_conflicts: bool = False,
        update_conflicts: bool = False,
        update_fields: Collection[str] | None = None,
        unique_fields: Collection[str] | None = None,
    ) -> list[Any]:
        """Append lines. An upsert would change lines that are there, and a skipped one would be forgotten."""
        if ignore_conflicts or update_conflicts:
            raise AppendOnlyError("Ledger lines are never replaced or left out; append new ones.")
        return super().bulk_create(objs, batch_size=batch_size)

    def _settle(self, entry: LedgerEntry, state: str, at: Any) -> bool:
        """The one legal change: a reserved charge becomes spent or void. For `ledger` only."""
        reserved = self.filter(pk=entry.pk, state=LedgerEntry.State.RESERVED)
        return models.QuerySet.update(reserved, state=state, settled_at=at) == 1


class LedgerEntry(models.Model):
    """A line of a dataset's privacy ledger. Written by `budgets.ledger` only."""

    class Kind(models.TextChoices):
        GRANT = "grant", _("Grant")
        REDUCTION = "reduction", _("Reduction")
        CHARGE = "charge", _("Charge")

    class State(models.TextChoices):
        RESERVED = "reserved", _("Reserved")
        SPENT = "spent", _("Spent")
        VOID = "void", _("Void")
        BOOKED = "booked", _("Booked")

    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="ledger")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    state = models.CharField(max_length=10, choices=State.choices)
    amount = AmountField()
    reason = models.CharField(_("reason"), max_length=300)
    key = models.UUIDField(_("charged for"), default=uuid.uuid4, unique=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)
    settled_at = models.DateTimeField(null=True)

    objects = LedgerQuerySet.as_manager()

    class Meta:
        ordering = ["-at", "-pk"]
        base_manager_name = "objects"
        verbose_name_plural = "ledger entries"
        constraints = [models.CheckConstraint(condition=Q(amount__gt=0), name="ledger_amounts_are_positive")]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.amount}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if self.pk is not None:
            raise AppendOnlyError("Ledger lines are never changed; add a line that corrects.")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise AppendOnlyError("Ledger lines are never deleted; add a line that corrects.")
