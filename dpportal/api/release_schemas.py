"""What the API takes and gives of releases: drafted, published, withdrawn, compared."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from ninja import Field, Schema
from pydantic import StrictBool

from dpportal.api.planning_schemas import ChoicesInput
from dpportal.api.schemas import FileShown, JobShown, Strict


class ReleaseInput(ChoicesInput):
    """A release to draft."""

    dataset: UUID


class Details(Strict):
    """Where a publication stands among others: its DOI, and which older one it is read instead of.

    doi: as such, 10.5281/zenodo.1234, or as an address at https://doi.org/. What is left out stays as it is; an empty
    text, or null, takes it away.
    """

    doi: str | None = Field(None, max_length=200)
    supersedes: UUID | None = None

    @property
    def changes(self) -> dict[str, Any]:
        """What was sent of these two, by name."""
        return self.dict(exclude_unset=True, include={"doi", "supersedes"})


class Publish(Details):
    """The last answer before everyone sees it; all_the_same: of what is of little use; again: of what was withdrawn."""

    all_the_same: StrictBool = False
    again: StrictBool = False


class Withdraw(Strict):
    """Why it is withdrawn; the reason stands in place of the page."""

    because: str = Field("", max_length=500)


class ReleaseShown(Schema):
    """A release or draft of a dataset that the token's person may release from."""

    id: UUID
    dataset: UUID
    address: str
    title: str
    product: str
    columns: list[str]
    state: str
    amount: str | None
    counted_in: str | None
    job: JobShown | None
    is_public: bool
    published_at: datetime | None
    withdrawn_at: datetime | None
    files: list[FileShown]


class ReleasePage(Schema):
    """Some releases, the newest first."""

    items: list[ReleaseShown]
    count: int
    next: str | None


class CompareShown(Schema):
    """Released beside true counts, for the curator alone; the look is recorded."""

    header: list[str]
    table: list[list[Any]]
