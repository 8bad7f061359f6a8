"""What answers of several nouns have in common; what one noun takes and gives is in its own `…_schemas.py`."""

from __future__ import annotations

from typing import Any

from ninja import Field, Schema
from pydantic import StrictBool


class Strict(Schema):
    """What a program sends: a name that is not known is a mistake, and no wish that is passed over."""

    model_config = {"extra": "forbid"}


class Problem(Schema):
    """What went wrong, by RFC 9457. errors: sentences by the name of what was sent.

    page: the address of the page on which a person can do what a program may not.
    """

    type: str
    title: str
    status: int
    detail: str
    errors: dict[str, list[str]] | None = None
    page: str | None = None


class JobShown(Schema):
    """How far a job is. percent: of the present step. failure: why it was given up."""

    state: str
    step: str
    percent: int | None
    failure: str


class Spend(Strict):
    """The last answer before a budget is spent. reviewed: from the plan that was read. one_row: each person has one.

    nevertheless: although most rows of a column fit nothing declared, as a look at the fit has shown.
    """

    reviewed: str = Field(max_length=64)
    agreed: StrictBool
    one_row: StrictBool = False
    nevertheless: StrictBool = False

    @property
    def for_comparison(self) -> dict[str, Any]:
        """What is asked for: what a request that comes again is compared by.

        Not the answer to a question that was read: what the plan rests on changes once it was done.
        """
        return self.dict(exclude={"reviewed", "agreed"})


class FileShown(Schema):
    """A file of a bundle. address: where it is downloaded. size: in bytes."""

    name: str
    about: str
    size: int
    sha256: str
    address: str
