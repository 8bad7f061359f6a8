"""What a program does not do where a site wants two people."""

from __future__ import annotations

from dpportal.api.problems import RefusedError
from dpportal.budgets import second_person
from dpportal.budgets.models import Budget, ChargedPublication


def require_one_person(draft: ChargedPublication) -> None:
    """Raises RefusedError where a second person has to approve: what is spent then would be no token's."""
    if second_person.asks_first(draft, Budget.for_planning(draft.dataset)):
        raise RefusedError(409, second_person.missing_text())
