"""What the API takes and gives of a dataset besides its declaration: descriptions, shares, how a file is read, rows."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from ninja import Field, Schema
from pydantic import StrictBool

from dpportal.api.number_types import IS_INTEGER, JsonInteger, Number
from dpportal.api.schemas import JobShown, Strict

ColumnName = Annotated[str, Field(max_length=200)]
Option = Annotated[str, Field(max_length=400)] | None


class DatasetShown(Schema):
    """A dataset that the token's person may see. right: 1 to see, 2 to release, 3 to own. reading: for owners.

    remark: why it cannot be used, and what to do; empty if it can. duplicate_of: the person's own that has its table.
    """

    id: UUID
    name: str
    description: str
    state: str
    right: int
    columns: list[str]
    declared: list[str]
    asks_for_unit: bool
    created_at: datetime
    reading: JobShown | None
    duplicate_of: UUID | None = None
    remark: str = ""


class DatasetPage(Schema):
    """Some datasets, newest first."""

    items: list[DatasetShown]
    count: int
    next: str | None


class UploadShown(Schema):
    """An upload in pieces. offset: how many bytes have come. size: in all; None of one that ended long ago."""

    id: UUID
    offset: int
    size: int | None
    expires_at: datetime
    dataset: DatasetShown | None


class DatasetChange(Strict):
    """What is to be different; what is left out stays."""

    name: str = Field("", max_length=120)
    description: str = Field("", max_length=4000)


class DescriptionInput(Strict):
    """What everyone may know of a dataset; what is left out stays. licence: an SPDX identifier.

    first, last: a year, a month or a day. shown: whether readers see it with all that is published, also before.
    """

    text: str = Field("", max_length=4000)
    keywords: list[Annotated[str, Field(max_length=60)]] = Field(default_factory=list, max_length=20)
    place: str = Field("", max_length=160)
    first: str = Field("", max_length=10)
    last: str = Field("", max_length=10)
    publisher: str = Field("", max_length=160)
    contact: str = Field("", max_length=200)
    licence: str = Field("", max_length=20)
    shown: StrictBool = False


class DescriptionShown(Schema):
    """What everyone may know of a dataset. shown: whether they see it."""

    text: str
    keywords: list[str]
    place: str
    first: str
    last: str
    publisher: str
    contact: str
    licence: str
    shown: bool


class ErasureInput(Strict):
    """The day on which the records are deleted by themselves; null for none."""

    day: date | None


class ErasureShown(Schema):
    """day: as it was chosen. last_day: on which it is done, after a warning. receipt: signed, of records deleted."""

    day: date | None
    last_day: date | None
    receipt: str | None


class ShareInput(Strict):
    """name: of a curator, as they sign in, or their e-mail address. right: 1 to see, 2 to release, 3 to own."""

    name: str = Field(max_length=254)
    right: Annotated[Literal[1, 2, 3], IS_INTEGER]


class ShareShown(Schema):
    """A right that somebody has. right: 1 to see, 2 to release, 3 to own."""

    id: int
    person: str
    right: int


class AreasInput(Strict):
    """The areas that a column's values are. areas: GeoJSON, of at most 8 MB. credit: whose they are, for readers."""

    column: ColumnName
    areas: dict[str, Any]
    credit: str = Field("", max_length=200)


class AreasShown(Schema):
    """How many values have an area, and which have none."""

    column: str
    known: int
    lacking: list[str]


class CopyInput(Strict):
    """The dataset whose declaration of columns with the same names is taken over."""

    source: UUID


class CoarserInput(Strict):
    """A second, coarser declaration of a column, called `name`; one of these says what is put together.

    groups: of texts, each value with the group that it belongs to. edges: of numbers, where groups begin, and the last
    one ends. step: of days, a calendar step.
    """

    column: ColumnName
    name: str = Field(max_length=120)
    groups: dict[str, str] | None = None
    edges: list[JsonInteger | Number] | None = Field(None, max_length=1000)
    step: str | None = Field(None, max_length=20)


class FillInput(Strict):
    """public: that the values or limits of this column are public knowledge; releases say that it was filled so."""

    column: ColumnName
    public: StrictBool


class ReadingInput(Strict):
    """How a file is read, by the names and values of the upload page; what is left out stays.

    null: as the first rows suggest.
    """

    header: Option = None
    delimiter: Option = None
    quote: Option = None
    encoding: Option = None
    sheet: Option = None
    fill_merged: Option = None
    title_lines: JsonInteger | None = None
    header_lines: JsonInteger | None = None
    fewest_filled: JsonInteger | None = None
    note_words: Option = None
    decimal: Option = None
    thousands: Option = None
    units: Option = None
    date_format: Option = None
    own_format: Option = None
    strip: Option = None
    missing: Option = None


class ReadingShown(Schema):
    """options: how the file is read. sheets: of a workbook. can_change: until the first release or running count."""

    options: dict[str, str | int | None]
    sheets: list[str]
    can_change: bool


class RowsShown(Schema):
    """The first rows as the file has them, for owners alone; the look is recorded."""

    columns: list[str]
    rows: list[list[str | None]]


class CountedInput(Strict):
    """People whom their curator counts, without a table.

    max_rows: how often a person is counted at most, whom `person` then tells apart. column, values: the categories, or
    neither.
    """

    name: str = Field(max_length=120)
    description: str = Field("", max_length=4000)
    neighbours: Literal["add-remove", "replace-one"] = "add-remove"
    max_rows: Annotated[JsonInteger, Field(ge=1, le=1000)] = 1
    person: ColumnName = ""
    column: ColumnName = ""
    values: list[Annotated[str, Field(max_length=200)]] = Field(default_factory=list, max_length=1000)


class ConnectedTableInput(Strict):
    """A table that stays in its own database, by the number that `offered_tables` has, and a name for it."""

    table: JsonInteger
    name: str = Field("", max_length=120)
    description: str = Field("", max_length=4000)


class TableShown(Schema):
    """A table in another database that administrators offer to the token's person."""

    id: int
    title: str
