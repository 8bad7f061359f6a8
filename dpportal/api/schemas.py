"""What the API takes and gives, as its description says."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from ninja import Field, Schema
from pydantic import StrictBool

from dpportal.api.codebook_example import EXAMPLE
from dpportal.api.number_types import JsonInteger, Number


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


class MethodInput(Strict):
    """A method, what it may cost, and its own parameters. counted_in: "pure" (ε) or "zcdp" (ρ), to be safe."""

    mechanism: str
    amount: Annotated[str, Field(examples=["0.5"])] = ""
    purpose: str | None = None
    parameters: dict[str, str | JsonInteger] = Field(default_factory=dict)
    counted_in: Literal["pure", "zcdp"] | None = None


ChosenValue = str | int | float | bool | list[str] | list[JsonInteger] | None


class ChoicesInput(Strict):
    """What to release, as the steps of the wizard ask. choices: the fields that `products` lists."""

    product: str | None = None
    title: Annotated[str | None, Field(max_length=160)] = None
    choices: dict[str, ChosenValue] | None = None
    method: MethodInput | None = None


class ReleaseInput(ChoicesInput):
    """A release to draft."""

    dataset: UUID


class PlanInput(ChoicesInput):
    """A plan to ask for. amount: of all methods together, for offers. half_width: a wanted error, instead of a cost."""

    amount: str | None = None
    half_width: Number | None = Field(None, gt=0, le=1e12)


class FieldShown(Schema):
    """A field of a product's second step. choices: what it may be; empty where that is open."""

    name: str
    label: str
    help: str
    kind: str
    required: bool
    choices: list[str]


class ParameterShown(Schema):
    """A method's own parameter."""

    name: str
    label: str
    help: str
    kind: str
    default: str | int | None
    choices: list[str]


class MethodShown(Schema):
    """A method of a product. definitions: of the loss that it can be planned with, "pure" (ε) or "zcdp" (ρ)."""

    name: str
    title: str
    summary: str
    definitions: list[str]
    parameters: list[ParameterShown]


class ProductShown(Schema):
    """A kind of release, with what its choices are and how it can be measured."""

    name: str
    title: str
    summary: str
    fields: list[FieldShown]
    methods: list[MethodShown]
    has_automatic: bool


class OfferShown(Schema):
    """A method at a cost. error: of the kind that `error_label` names; None where it depends on the data."""

    mechanism: str
    title: str
    error: float | None
    refusal: str


class OffersShown(Schema):
    """Every method at one cost, without a look at the data. recommended: the one to begin with."""

    amount: str
    counted_in: str
    meaning: str
    error_label: str
    offers: list[OfferShown]
    recommended: str


class PlanShown(Schema):
    """A complete plan, without a look at the data. reviewed: what a confirmation says that it has read."""

    product: str
    mechanism: str
    method: str
    amount: str
    counted_in: str
    epsilon_delta: str
    meaning: str
    error: float | None
    error_label: str
    margin: str
    verdict: str | None
    expectation: str
    statement: str
    left: str
    reviewed: str


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


class FileShown(Schema):
    """A file of a bundle. address: where it is downloaded. size: in bytes."""

    name: str
    about: str
    size: int
    sha256: str
    address: str


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
