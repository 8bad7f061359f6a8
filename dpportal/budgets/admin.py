"""Budgets and the ledger in the admin, to read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.utils.translation import gettext_lazy as _

from dpportal.accounts.admin import PersonFilter, ReadOnlyAdmin
from dpportal.budgets.amounts import plain, with_delta
from dpportal.budgets.charged_publication import ChargedPublication
from dpportal.budgets.models import Budget, LedgerEntry
from dpportal.platform.stored_texts import translated
from mechanisms import registry

P = TypeVar("P", bound=ChargedPublication)


class MethodFilter(admin.AllValuesFieldListFilter):
    """Methods by their titles."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.title = _("method")

    def choices(self, changelist: ChangeList) -> Iterator[Any]:
        """As pages call them, where the database has their names."""
        for choice in super().choices(changelist):
            yield {
                **choice,
                "display": translated(registry.title(str(choice["display"]))) or choice["display"],
            }


class PaidAdmin(ReadOnlyAdmin[P]):
    """What a budget paid for: its cost, and whether everyone sees it."""

    date_hierarchy = "created_at"
    list_select_related = ["dataset", "charge__budget", "created_by"]
    view_on_site = True

    def get_view_on_site_url(self, obj: P | None = None) -> str | None:
        """Of the page that everyone sees; where there is none, an administrator sees none, either."""
        return super().get_view_on_site_url(obj) if obj is not None and obj.is_public else None

    @admin.display(description=_("cost"), ordering="amount")
    def cost(self, paid: P) -> str:
        symbol = f"{paid.account.symbol} " if paid.account else ""
        return "" if paid.amount is None else f"{symbol}{plain(paid.amount)}"

    @admin.display(description=_("public"), boolean=True)
    def is_public(self, paid: P) -> bool:
        return paid.is_public

    @admin.display(description=_("method"), ordering="mechanism")
    def method(self, paid: P) -> str:
        """By its title; a draft may have none yet."""
        return translated(registry.title(paid.mechanism)) if paid.mechanism else ""

    @admin.display(description=_("withheld"))
    def withheld(self, paid: P) -> str:
        return paid.withheld


@admin.register(Budget)
class BudgetAdmin(ReadOnlyAdmin[Budget]):
    """One line a dataset: granted, spent, reserved, left."""

    list_display = [
        "dataset",
        "owner",
        "protects",
        "definition",
        "granted",
        "spent_amount",
        "reserved_amount",
        "left_amount",
    ]
    list_filter = ["definition"]
    search_fields = ["dataset__name", "dataset__owner__username"]
    list_select_related = ["dataset__owner"]

    @admin.display(ordering="dataset__owner__username")
    def owner(self, budget: Budget) -> str:
        return budget.dataset.owner.get_username()

    @admin.display(description=_("protects"))
    def protects(self, budget: Budget) -> str:
        return str(budget.protection)

    @admin.display(ordering="total")
    def granted(self, budget: Budget) -> str:
        return with_delta(f"{budget.symbol} {plain(budget.total)}", budget.delta_total)

    @admin.display(description=_("spent"), ordering="spent")
    def spent_amount(self, budget: Budget) -> str:
        return with_delta(plain(budget.spent), budget.delta_spent)

    @admin.display(description=_("reserved"), ordering="reserved")
    def reserved_amount(self, budget: Budget) -> str:
        return with_delta(plain(budget.reserved), budget.delta_reserved)

    @admin.display(description=_("left"))
    def left_amount(self, budget: Budget) -> str:
        return with_delta(plain(budget.left), budget.delta_left)


@admin.register(LedgerEntry)
class LedgerAdmin(ReadOnlyAdmin[LedgerEntry]):
    """The ledger, to read: grants are made on a page of their own, and nothing is ever changed or deleted."""

    list_display = ["at", "dataset", "protects", "kind", "amount_text", "state", "reason", "by", "withheld"]
    list_filter = ["kind", "state", ("by", PersonFilter)]
    search_fields = ["dataset__name", "reason", "by__username"]
    date_hierarchy = "at"
    list_select_related = ["dataset", "by", "budget", "release", "stream"]

    @admin.display(description=_("withheld"))
    def withheld(self, entry: LedgerEntry) -> str:
        return entry.withheld

    @admin.display(description=_("protects"))
    def protects(self, entry: LedgerEntry) -> str:
        return str(entry.budget.protection)

    @admin.display(description=_("amount"), ordering="amount")
    def amount_text(self, entry: LedgerEntry) -> str:
        return entry.cost
