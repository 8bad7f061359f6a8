"""Budgets in the admin: totals to look at, and changes that are ledger lines with a reason."""

from __future__ import annotations

from typing import TypeVar

from django.contrib import admin
from django.db.models import Sum
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _

from dpportal.accounts.admin import ReadOnlyAdmin
from dpportal.accounts.permissions import current_user
from dpportal.budgets.amounts import plain
from dpportal.budgets.forms import BudgetChangeForm, dataset_of
from dpportal.budgets.models import Budget, ChargedPublication, LedgerEntry
from dpportal.platform.json_types import Json

P = TypeVar("P", bound=ChargedPublication)


class PaidAdmin(ReadOnlyAdmin[P]):
    """What a budget paid for: its cost, and whether everyone sees it."""

    date_hierarchy = "created_at"
    list_select_related = ["dataset", "charge__budget", "created_by"]

    @admin.display(description=_("cost"), ordering="amount")
    def cost(self, paid: P) -> str:
        symbol = f"{paid.account.symbol} " if paid.account else ""
        return "" if paid.amount is None else f"{symbol}{plain(paid.amount)}"

    @admin.display(description=_("public"), boolean=True)
    def is_public(self, paid: P) -> bool:
        return paid.is_public

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
        return f"{budget.symbol} {plain(budget.total)}"

    @admin.display(description=_("spent"), ordering="spent")
    def spent_amount(self, budget: Budget) -> str:
        return plain(budget.spent)

    @admin.display(description=_("reserved"), ordering="reserved")
    def reserved_amount(self, budget: Budget) -> str:
        return plain(budget.reserved)

    @admin.display(description=_("left"))
    def left_amount(self, budget: Budget) -> str:
        return plain(budget.left)


@admin.register(LedgerEntry)
class LedgerAdmin(ReadOnlyAdmin[LedgerEntry]):
    """The ledger. "Add" writes a grant or a reduction; nothing is ever changed or deleted."""

    form = BudgetChangeForm
    list_display = ["at", "dataset", "protects", "kind", "amount_text", "state", "reason", "by", "withheld"]
    list_filter = ["kind", "state", "by"]
    search_fields = ["dataset__name", "reason", "by__username"]
    date_hierarchy = "at"
    list_select_related = ["dataset", "by", "budget", "release", "stream"]
    change_list_template = "admin/budgets/ledger_list.html"

    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.is_active and request.user.is_staff

    @admin.display(description=_("withheld"))
    def withheld(self, entry: LedgerEntry) -> str:
        return entry.withheld

    @admin.display(description=_("protects"))
    def protects(self, entry: LedgerEntry) -> str:
        return str(entry.budget.protection)

    @admin.display(description=_("amount"), ordering="amount")
    def amount_text(self, entry: LedgerEntry) -> str:
        return f"{entry.budget.symbol} {plain(entry.amount)}"

    def get_changeform_initial_data(self, request: HttpRequest) -> Json:
        """The dataset that the office names, with whom it protects now, and how its account counts."""
        initial: Json = super().get_changeform_initial_data(request)
        dataset = dataset_of(initial.pop("dataset", ""))
        if dataset is None:
            return initial
        account = Budget.of(dataset)
        counts = (
            {"definition": account.definition, "delta_exponent": account.delta_exponent} if account else {}
        )
        field = BudgetChangeForm.base_fields["dataset"]
        return {**initial, **counts, "dataset": field.prepare_value(dataset)}

    def save_model(
        self, request: HttpRequest, obj: LedgerEntry, form: ModelForm[LedgerEntry], change: bool
    ) -> None:
        assert isinstance(form, BudgetChangeForm)
        obj.pk = form.save_as(current_user(request)).pk

    def changelist_view(self, request: HttpRequest, extra_context: Json | None = None) -> HttpResponse:
        sums = Budget.objects.values("definition").annotate(
            granted=Sum("total"), gone=Sum("spent"), held=Sum("reserved")
        )
        return super().changelist_view(request, {**(extra_context or {}), "totals": sums})
