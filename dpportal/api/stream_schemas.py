"""What the API takes and gives of running counts."""

from __future__ import annotations

from datetime import date
from typing import Literal
from uuid import UUID

from ninja import Field, Schema

from dpportal.api.schemas import Strict


class StreamSaid(Strict):
    """A running count to draft: what the steps of its wizard ask, by the names of their fields."""

    dataset: UUID
    name: str = Field(max_length=160)
    description: str = ""
    mode: Literal["every", "chosen", "each"] = "every"
    column: str = ""
    summed: str = ""
    largest_increment: int | None = None
    cells: list[int] = Field(default_factory=list)
    step: Literal["day", "week", "month", "next"] = "month"
    first_day: date | None = None
    horizon: int | None = None
    expected: int | None = None
    amount: str
    mechanism: str = ""


class StreamShown(Schema):
    """A running count or its draft. periods: the address at which a program sends and reads periods."""

    id: UUID
    dataset: UUID
    address: str
    periods: str
    name: str
    state: str
    labels: list[str]
    mechanism: str
    amount: str | None
    counted_in: str | None
    half_width: float | None
    expectation: str
    reviewed: str | None
    is_public: bool


class TokenShown(Schema):
    """A stream's own token, shown this once."""

    token: str
