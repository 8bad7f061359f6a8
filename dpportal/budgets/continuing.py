"""Whether what a budget was asked for can still be gone on with: it is there, and nothing was spent on it yet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from django.urls import Resolver404, resolve

if TYPE_CHECKING:
    from dpportal.budgets.charged_publication import ChargedPublication
    from dpportal.budgets.models import BudgetRequest

# The question, and what its address names.
IsOpen = Callable[["BudgetRequest", Mapping[str, Any]], bool]
_rooms: dict[str, IsOpen] = {}


def declare(view: str, is_open: IsOpen) -> None:
    """Called once by the room whose page goes on with what was asked for, when it is made ready."""
    _rooms[view] = is_open


def declare_drafts(view: str, drafts: type[ChargedPublication], name: str) -> None:
    """The same of a review page. name: of the draft's id in its address."""

    def is_open(_budget_request: BudgetRequest, ids: Mapping[str, Any]) -> bool:
        draft = drafts._default_manager.filter(pk=ids[name]).first()
        return draft is not None and draft.is_draft

    declare(view, is_open)


def can_continue(budget_request: BudgetRequest) -> bool:
    """Whether its address leads to something that waits for the budget."""
    try:
        page = resolve(urlsplit(budget_request.address).path)
    except Resolver404:
        return False
    is_open = _rooms.get(page.view_name)
    return is_open is not None and is_open(budget_request, page.kwargs)
