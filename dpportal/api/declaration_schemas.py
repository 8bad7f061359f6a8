"""What the API takes and gives of declarations."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from ninja import Field, Schema
from pydantic import StrictBool

from dpportal.api.codebook_example import EXAMPLE
from dpportal.api.number_types import JsonInteger
from dpportal.api.schemas import JobShown, Strict


class Unit(Strict):
    """Who is protected. unit_column: names a person who has several rows, at most max_rows of which count."""

    neighbours: Literal["add-remove", "replace-one"] = "add-remove"
    unit_column: Annotated[str, Field(max_length=200)] = ""
    max_rows: Annotated[JsonInteger, Field(ge=1, le=1000)] = 1
    ignore_case: StrictBool = False


class DeclarationInput(Strict):
    """What is declared. columns: a codebook in JSON, an object from a column's name to its declaration.

    Its `title` is what readers see in place of the name; one that says none keeps that of before.

    Decimals, of kind `real`, have `lower`, `upper` and, as cells, a number of `bins`, the `step` from each bin to the
    next, of which a whole number fits between the limits, or own `edges`. Whole numbers (`integer`) have a `width`.
    Days (`date`) have a `step`: day, week, month, quarter or year. A list is the values of a `categorical` column.
    """

    unit: Unit | None = None
    columns: dict[str, Any] = Field(default_factory=dict, examples=[EXAMPLE])


class DeclarationShown(Schema):
    """What is declared now. left_out: columns of a codebook that the table does not have.

    promises: what was spent so far means for a person; to be read before somebody else is protected.
    """

    version: int | None
    frozen: bool
    unit: Unit
    promises: list[str]
    columns: dict[str, Any]
    left_out: list[str] = []


class FitShown(Schema):
    """How the table fits its declarations: true numbers, for the curator only. fit: None until a worker has looked."""

    job: JobShown | None
    fit: dict[str, Any] | None
