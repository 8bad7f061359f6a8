"""What is said and answered about private choices of values."""

from __future__ import annotations

from uuid import UUID

from ninja import Field, Schema

from dpportal.api.schemas import JobShown, Spend, Strict


class ValueChoiceInput(Strict):
    """A column whose values are to be chosen, and what that may cost, of ε or ρ and of δ."""

    column: str = Field(max_length=200)
    amount: str = Field(max_length=40)
    delta: str = Field(max_length=40)


class ValuesSpent(Spend):
    """The same, with the last answer before a budget is spent."""

    column: str = Field(max_length=200)
    amount: str = Field(max_length=40)
    delta: str = Field(max_length=40)


class NeededShown(Schema):
    """With how many people, at least, a value is kept with this chance."""

    chance: str
    people: int


class ValuesPlanShown(Schema):
    """What a choice would do, without a look at the data. unpaid: why the budget cannot pay for it, if so.

    rules: what counts as a value, whatever the table holds, and how often one is kept that a single person has.
    warning: why δ is too large, if so. second_person: "needed" where one has to be asked for on
    the page, "waiting" once that was done, else empty.
    """

    column: str
    counted_in: str
    amount: str
    delta: str
    needed: list[NeededShown]
    rules: list[str]
    warning: str
    unpaid: str
    second_person: str
    reviewed: str


class ValuesShown(Schema):
    """A choice that was paid for. kept: null before it is made. undeclared: why they are not declared, if so."""

    id: UUID
    column: str
    cost: str
    kept: list[str] | None
    undeclared: str
    job: JobShown | None
