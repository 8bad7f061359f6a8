"""A dataset's privacy budget and the ledger of everything that changed it."""

from __future__ import annotations

import uuid
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NoReturn

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext, gettext_lazy as _

from dpportal.budgets import continuing
from dpportal.budgets.amounts import AmountField, DeltaField, plain, with_delta
from dpportal.budgets.margins import margin_shown
from dpportal.budgets.writing import Guarded, GuardedQuerySet, LedgerWriteError, require_writing
from dpportal.datasets.models import Dataset
from dpportal.datasets.protection import Protection
from dpportal.history.watched import WatchedManager, WatchedQuerySet
from dpportal.platform.stored_texts import translated
from mechanisms.accounting import SYMBOL, Definition, zcdp_to_epsilon
from mechanisms.number_text import power_of_ten

if TYPE_CHECKING:
    from dpportal.budgets.charged_publication import ChargedPublication


class AppendOnlyError(LedgerWriteError):
    """A line that is there was to be changed."""

    def __init__(self) -> None:
        super().__init__("Ledger lines are never changed; add a line that corrects.")


class BudgetQuerySet(GuardedQuerySet["Budget"], WatchedQuerySet["Budget"]):  # type: ignore[override]
    """Reads as any other, and writes while the ledger does."""


class LedgerQuerySet(GuardedQuerySet["LedgerEntry"]):
    """Reads, and appends while the ledger writes; lines that are there are not changed but from reserved on."""

    def update(self, **kwargs: object) -> NoReturn:
        raise AppendOnlyError

    def _update(self, values: object) -> NoReturn:
        raise AppendOnlyError

    def _settle(self, entry: LedgerEntry, state: str, at: datetime) -> bool:
        """The one legal change: a reserved charge becomes spent or void. For `ledger` only."""
        require_writing()
        reserved = self.filter(pk=entry.pk, state=LedgerEntry.State.RESERVED)
        return models.QuerySet.update(reserved, state=state, settled_at=at) == 1


class Budget(Guarded):
    """An account: what an administrator granted a dataset for one protection, and how much of it is spent or reserved.

    The protection is fixed by the first reservation, or by a grant for a second one; until then it is whatever the
    domain declares. Written by `ledger` only.

    δ is two things: `delta_exponent` says at which δ a ρ is read as (ε, δ), for display, and nothing is spent of it;
    delta_total, delta_spent and delta_reserved are amounts of δ that what needs one spends, as ε and ρ are spent.
    """

    class Kind(models.TextChoices):
        PURE = Definition.PURE.value, _("pure ε")
        ZCDP = Definition.ZCDP.value, _("zCDP ρ")

    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="budgets")
    is_fixed = models.BooleanField(default=False)
    neighbours = models.CharField(max_length=12, blank=True)
    unit_column = models.CharField(max_length=200, blank=True)
    ignore_case = models.BooleanField(default=False)
    definition = models.CharField(max_length=5, choices=Kind.choices, default=Kind.PURE)
    delta_exponent = models.PositiveSmallIntegerField(
        default=6, help_text=_("zCDP is also shown as (ε, δ) with δ = 10⁻ⁿ; this is n.")
    )
    total = AmountField(default=Decimal(0))
    spent = AmountField(default=Decimal(0))
    reserved = AmountField(default=Decimal(0))
    delta_total = DeltaField(default=Decimal(0), db_default=Decimal(0))
    delta_spent = DeltaField(default=Decimal(0), db_default=Decimal(0))
    delta_reserved = DeltaField(default=Decimal(0), db_default=Decimal(0))

    objects = BudgetQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        base_manager_name = "objects"
        constraints = [
            models.UniqueConstraint(
                fields=["dataset", "neighbours", "unit_column", "ignore_case"],
                condition=Q(is_fixed=True),
                name="one_budget_per_protection",
            ),
            models.UniqueConstraint(
                fields=["dataset"], condition=Q(is_fixed=False), name="one_budget_without_protection"
            ),
            models.CheckConstraint(
                condition=Q(total__gte=F("spent") + F("reserved")), name="budget_is_never_overspent"
            ),
            models.CheckConstraint(
                condition=Q(spent__gte=0, reserved__gte=0), name="budget_parts_not_negative"
            ),
            models.CheckConstraint(
                condition=Q(delta_total__gte=F("delta_spent") + F("delta_reserved")),
                name="delta_is_never_overspent",
            ),
            models.CheckConstraint(
                condition=Q(delta_spent__gte=0, delta_reserved__gte=0), name="delta_parts_not_negative"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.dataset} – {self.protection}"

    @classmethod
    def of(cls, dataset: Dataset) -> Budget | None:
        """The account that pays for what is now declared: that of its protection, or the one that has none yet."""
        protection = Protection.of(dataset.current_domain())
        budgets = list(dataset.budgets.all())
        own = (b for b in budgets if b.is_fixed and Protection.of(b) == protection)
        return next(own, None) or next((b for b in budgets if not b.is_fixed), None)

    @classmethod
    def for_planning(cls, dataset: Dataset) -> Budget:
        """The account that pays for what is now declared; where nothing was granted, an empty one that is never saved.

        It counts ε, as is recommended for a first grant, so that a draft has a price before it has a budget.
        """
        return cls.of(dataset) or cls(dataset=dataset)

    @property
    def is_granted(self) -> bool:
        """Whether an administrator has granted anything for it yet."""
        return self.pk is not None

    @property
    def protection(self) -> Protection:
        return Protection.of(self if self.is_fixed else self.dataset.current_domain())

    @property
    def is_used(self) -> bool:
        """Whether anything was promised by it: it has paid for something, or something is reserved."""
        return self.is_fixed and bool(self.spent or self.reserved)

    @property
    def left(self) -> Decimal:
        return self.total - self.spent - self.reserved

    @property
    def delta_left(self) -> Decimal:
        return self.delta_total - self.delta_spent - self.delta_reserved

    def is_moved_by(self, exponent: int) -> bool:
        """Whether another δ would change what was said of what it has paid for, in files that readers have."""
        is_read_at_delta = self.definition == Definition.ZCDP and self.delta_exponent != exponent
        return is_read_at_delta and self.entries.filter(kind=LedgerEntry.Kind.CHARGE).exists()

    @property
    def symbol(self) -> str:
        return SYMBOL[Definition(self.definition)]

    @property
    def delta(self) -> float:
        return 10.0**-self.delta_exponent

    @property
    def delta_text(self) -> str:
        """10⁻⁶."""
        return power_of_ten(-self.delta_exponent)

    @property
    def total_as_epsilon(self) -> float | None:
        """The ε, at this budget's δ, of spending a zCDP budget to the end; for display.

        By whole orders, which hold for whatever it is spent on.
        """
        if self.definition != Definition.ZCDP or not self.total:
            return None
        return zcdp_to_epsilon(float(self.total), self.delta, whole_orders=True)

    @property
    def spent_percent(self) -> float:
        return self._percent(self.spent)

    @property
    def reserved_percent(self) -> float:
        return self._percent(self.reserved)

    def _percent(self, part: Decimal) -> float:
        return round(float(100 * part / self.total), 2) if self.total else 0.0


class LedgerEntry(Guarded):
    """A line of a dataset's privacy ledger. Written by `budgets.ledger` only."""

    class Kind(models.TextChoices):
        GRANT = "grant", _("Grant")
        REDUCTION = "reduction", _("Reduction")
        CHARGE = "charge", _("Privacy cost")

    class State(models.TextChoices):
        RESERVED = "reserved", _("Reserved")
        SPENT = "spent", _("Spent")
        VOID = "void", _("Not spent")
        BOOKED = "booked", _("Entered")

    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="ledger")
    budget = models.ForeignKey(Budget, on_delete=models.PROTECT, related_name="entries")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    state = models.CharField(max_length=10, choices=State.choices)
    amount = AmountField()
    delta = DeltaField(default=Decimal(0), db_default=Decimal(0))
    reason = models.CharField(_("reason"), max_length=300)
    key = models.UUIDField(_("charged for"), default=uuid.uuid4, unique=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)
    settled_at = models.DateTimeField(null=True)
    # Of a charge: whether what it pays for makes the exact number of rows public.
    total_public = models.BooleanField(default=False)

    objects = LedgerQuerySet.as_manager()

    class Meta:
        ordering = ["-at", "-pk"]
        base_manager_name = "objects"
        verbose_name_plural = "ledger entries"
        # By which the charges that were spent are counted, and the last one is found.
        indexes = [models.Index(fields=["dataset", "state", "settled_at"], name="spent_charges")]
        constraints = [
            models.CheckConstraint(condition=Q(amount__gt=0), name="ledger_amounts_are_positive"),
            models.CheckConstraint(condition=Q(delta__gte=0), name="ledger_deltas_are_not_negative"),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.amount}"

    @property
    def cost(self) -> str:
        """How much it is of: ε 0.10, or ε 0.10, δ 10⁻⁷."""
        return with_delta(f"{self.budget.symbol} {plain(self.amount)}", self.delta)

    def save(self, *args: Any, **kwargs: Any) -> None:
        if self.pk is not None:
            raise AppendOnlyError
        super().save(*args, **kwargs)

    @property
    def purpose(self) -> str:
        """What it is for: of a choice of values in the reader's language, of all else in words that people typed."""
        choice = getattr(self, "value_choice", None)
        if choice is None:
            return self.reason
        begins = self.reason.startswith(choice.stored_title)
        return f"{choice.title}{self.reason.removeprefix(choice.stored_title) if begins else ''}"

    @property
    def is_grant(self) -> bool:
        """Whether it adds to what may be spent."""
        return self.kind == self.Kind.GRANT

    @property
    def is_charge(self) -> bool:
        """Whether it pays for a release or a stream."""
        return self.kind == self.Kind.CHARGE

    @property
    def is_reserved(self) -> bool:
        """Whether it is set aside for what is not measured yet."""
        return self.state == self.State.RESERVED

    @property
    def is_spent(self) -> bool:
        """Whether it pays for what was measured."""
        return self.state == self.State.SPENT

    @property
    def is_void(self) -> bool:
        """Whether it was given back, so that it no longer counts."""
        return self.state == self.State.VOID

    @property
    def withheld(self) -> str:
        """How what it paid for was kept from readers after somebody had seen the truth; empty if it was not."""
        paid: ChargedPublication | None = getattr(self, "release", None) or getattr(self, "stream", None)
        return paid.withheld if paid else ""


class MemoryMark(models.Model):
    """Which memory this database goes with, see `dpportal.platform.journal`; one row at most."""

    mark = models.CharField(max_length=64, primary_key=True)

    def __str__(self) -> str:
        return self.mark


class BudgetRequest(models.Model):
    """A curator's question for a budget, or for more, and what became of it. Written by `requests` only.

    Whoever has not looked yet hears of it at the bell: an administrator while it waits, then the curator (`seen`).
    Where it is for one draft or choice of values: its title, cost (`amount` of ε or ρ, as `definition` says, and
    `delta`), margin in English, and the address at which the curator goes on.
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting")
        GRANTED = "granted", _("granted")
        DECLINED = "declined", _("declined")

    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="budget_requests")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    reason = models.CharField(max_length=500)
    title = models.CharField(max_length=200, blank=True)
    amount = AmountField(null=True)
    delta = DeltaField(default=Decimal(0), db_default=Decimal(0))
    definition = models.CharField(max_length=5, choices=Budget.Kind.choices, blank=True)
    margin = models.CharField(max_length=200, blank=True)
    address = models.CharField(max_length=200, blank=True)
    at = models.DateTimeField(auto_now_add=True)
    state = models.CharField(max_length=8, choices=State.choices, default=State.WAITING)
    answer = models.CharField(max_length=500, blank=True)
    answered_at = models.DateTimeField(null=True)
    seen = models.BooleanField(default=False)

    objects = WatchedManager()

    class Meta:
        ordering = ["-at", "-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["dataset"], condition=Q(state="waiting"), name="one_waiting_request_of_a_dataset"
            )
        ]

    def __str__(self) -> str:
        return gettext("Request for %(subject)s") % {"subject": self.dataset}

    @property
    def cost(self) -> str:
        """What its draft costs, such as ε 0.29, or ε 0.29, δ 10⁻⁷; empty where it is for no one draft."""
        if self.amount is None:
            return ""
        return with_delta(f"{SYMBOL[Definition(self.definition)]} {plain(self.amount)}", self.delta)

    @property
    def purpose(self) -> str:
        """What it is for: a draft by its title, a choice of values, which alone spends δ, in the reader's language."""
        return translated(self.title) if self.delta else self.title

    @property
    def can_continue(self) -> bool:
        """Whether its address still leads to what it is for."""
        return bool(self.address) and continuing.can_continue(self)

    @property
    def margin_text(self) -> str:
        """How wrong its draft will be, in the reader's language."""
        return margin_shown(self.margin)

    @property
    def is_waiting(self) -> bool:
        """Whether no administrator has answered yet."""
        return self.state == self.State.WAITING

    @property
    def is_granted(self) -> bool:
        """Whether an administrator granted it."""
        return self.state == self.State.GRANTED

    @property
    def is_declined(self) -> bool:
        """Whether an administrator declined it."""
        return self.state == self.State.DECLINED
