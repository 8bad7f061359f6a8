"""What the API takes and gives of running counts."""

from __future__ import annotations

from datetime import date
from typing import Any, Literal
from uuid import UUID

from ninja import Field, Schema

from dpportal.api.number_types import JsonInteger
from dpportal.api.schemas import JobShown, Strict
from dpportal.streams.forms import MAX_PASTED


class StreamInput(Strict):
    """A running count to draft: what the steps of its wizard ask, by the names of their fields."""

    dataset: UUID
    name: str = Field(max_length=160)
    description: str = ""
    mode: Literal["every", "chosen", "each"] = "every"
    column: str = ""
    summed: str = ""
    largest_increment: JsonInteger | None = None
    cells: list[JsonInteger] = Field(default_factory=list)
    step: Literal["day", "week", "month", "next"] = "month"
    first_day: date | None = None
    horizon: JsonInteger | None = None
    expected: JsonInteger | None = None
    amount: str
    mechanism: str = ""


class PeriodsInput(Strict):
    """Many periods in lines of text, as a CSV file has them: names first, then a line for each period, in order.

    One column is called “period” or “date”; the others have the counts. column: the one with the counts, where a file
    has several and one is counted. dates: how days are written, in letters of strptime.
    """

    lines: str = Field(max_length=MAX_PASTED, examples=["period,count\n1,5\n2,3"])
    column: str = Field("", max_length=200)
    dates: Literal["%Y-%m-%d", "%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y"] = "%Y-%m-%d"


class PreviewShown(Schema):
    """What a file would publish. first, last: of its new periods. repeated: how many are published, and stay so.

    clipped: how many counts are larger than the largest that was declared, and are taken as that. missing: how many
    periods have begun after the last.
    """

    first: str
    last: str
    new: int
    repeated: int
    clipped: int
    missing: int


class PeriodFileShown(Schema):
    """A file of periods. preview, repeats: what its curator is asked about before anything of it is published.

    repeats: the periods whose files had nearly the same records.
    """

    id: UUID
    kind: str
    job: JobShown
    preview: PreviewShown | None
    repeats: list[str]


class ClippedShown(Schema):
    """How many counts were taken as the declared largest, in how many of the periods that are compared."""

    counts: int
    periods: int
    of: int


class StreamCompareShown(Schema):
    """Released beside true running counts, for the curator alone; the look is recorded.

    header, table: of the newest periods of one running count, the newest first. label: which one. The errors are over
    all of them. inside: the share within the margin.
    """

    label: str
    unit: str
    header: list[str]
    table: list[list[Any]]
    clipped: ClippedShown
    inside: float
    root_mean_error: float
    never_falling_error: float
    expected_error: float
    largest_error: int


class StreamShown(Schema):
    """A running count or its draft. periods: the address at which a program sends and reads periods.

    file: the newest file of periods that was sent, with what it asks; None where none was.
    """

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
    half_width: float | None = None
    expectation: str = ""
    reviewed: str | None = None
    is_public: bool
    file: PeriodFileShown | None = None


class StreamPage(Schema):
    """Some running counts, the newest first; their files and what a draft's review shows are at each one's address."""

    items: list[StreamShown]
    count: int
    next: str | None


class TokenShown(Schema):
    """A stream's own token, shown this once."""

    token: str
