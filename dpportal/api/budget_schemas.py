"""What is said and answered about budgets."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from ninja import Field, Schema

from dpportal.api.schemas import Strict
from dpportal.api.value_choice_schemas import ValueChoiceInput


class BudgetShown(Schema):
    """A budget for one protection. Amounts are of ε or ρ, as `counted_in` says; those of δ are spent besides."""

    protects: str
    counted_in: str
    granted: str
    spent: str
    reserved: str
    left: str
    delta_granted: str
    delta_left: str
    is_current: bool


class BudgetRequestShown(Schema):
    """The newest question for a budget, and what became of it. cost: of what it is to pay for, with its δ, if named."""

    state: str
    reason: str
    cost: str
    answer: str
    at: datetime


class BudgetsShown(Schema):
    """The budgets of a dataset, and the newest question for one."""

    budgets: list[BudgetShown]
    asked: BudgetRequestShown | None


class BudgetInput(Strict):
    """Why a budget is asked for; `release`, `stream` or `values` names what it is to pay for."""

    reason: str = Field(max_length=500)
    release: UUID | None = None
    stream: UUID | None = None
    values: ValueChoiceInput | None = None
