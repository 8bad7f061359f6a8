"""What the API takes and gives of what is published."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from ninja import Field, Schema

from dpportal.api.schemas import FileShown

ShortText = Annotated[str, Field(max_length=200)]
Year = Annotated[int, Field(ge=1, le=9999)]


class CatalogueSearch(Schema):
    """What is looked for in the catalogue; each may be left out."""

    words: ShortText = ""
    kind: str = ""
    year: Year | None = None
    place: str = ""
    publisher: str = ""
    covered: Year | None = None
    column: str = ""


class EntryShown(Schema):
    """Something published, in the catalogue."""

    id: UUID
    kind: str
    title: str
    dataset: UUID
    dataset_name: str
    publisher: str
    published_at: datetime
    columns: list[str]
    loss: str
    place: str
    address: str


class CataloguePage(Schema):
    """Some of what is published, newest first."""

    items: list[EntryShown]
    count: int
    next: str | None


class PublishedShown(Schema):
    """A published release or running count, as its page says it.

    files_to_come: whether files of a running count's newest period are still to be written; till then the former stay.
    """

    id: UUID
    kind: str
    title: str
    address: str
    dataset: UUID
    author: str
    citation: str
    published_at: datetime | None
    columns: list[str]
    loss: str
    epsilon_delta: str
    statement: str
    licence: str
    doi: str
    newer: str | None
    files: list[FileShown]
    files_to_come: bool
