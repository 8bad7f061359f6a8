"""How a dataset's file is read, its first rows, and datasets that begin without a file."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from django.http import HttpRequest
from ninja import Field, Router
from ninja.responses import Status

from dpportal.accounts.permissions import current_user
from dpportal.api.authentication import ADMINISTER, READ
from dpportal.api.dataset_schemas import (
    ConnectedTableInput,
    CountedInput,
    DatasetShown,
    ReadingInput,
    ReadingShown,
    RowsShown,
    TableShown,
)
from dpportal.api.datasets import shown
from dpportal.api.refused_forms import require_known, require_valid
from dpportal.datasets import attach_table, manual_counts, services
from dpportal.datasets.access import dataset_for
from dpportal.datasets.first_rows import MOST_ROWS, first_rows
from dpportal.datasets.forms import RemoteTableForm
from dpportal.datasets.manual_counts_views import TablelessForm
from dpportal.datasets.models import Dataset, Right
from dpportal.datasets.parse_options_forms import ReadingForm, reading_form
from dpportal.platform.form_data import form_data
from dpportal.platform.json_types import Json
from dpportal.tables.connections.models import SharedTable

router = Router(tags=["datasets"])


@router.get("/{uuid:dataset_id}/reading", auth=READ, response=ReadingShown)
def reading(request: HttpRequest, dataset_id: UUID) -> object:
    """How a dataset's file is read, by the names and values of the upload page."""
    dataset = dataset_for(request, dataset_id, Right.OWN)
    return ReadingShown(
        options=_options(reading_form(dataset)),
        sheets=[sheet["name"] for sheet in dataset.facts.get("sheets", [])],
        can_change=dataset.can_change_parse_options,
    )


@router.patch("/{uuid:dataset_id}/reading", auth=ADMINISTER, response=DatasetShown)
def change_reading(request: HttpRequest, dataset_id: UUID, payload: ReadingInput) -> object:
    """Change how a file is read, until the first release or running count; a worker may read it again."""
    dataset = dataset_for(request, dataset_id, Right.OWN)
    now, sent = _options(reading_form(dataset)), payload.dict(exclude_unset=True)
    require_known(sent, now)
    form = reading_form(dataset, form_data({**now, **sent}))
    require_valid(form)
    services.change_parse_options(dataset, form.options(), current_user(request))
    return _as_it_is(request, dataset_id)


def _options(form: ReadingForm) -> Json:
    return {name: form.initial.get(name) for name in form.fields}


@router.post("/{uuid:dataset_id}/reading/cancel", auth=ADMINISTER, response=DatasetShown)
def cancel_reading(request: HttpRequest, dataset_id: UUID) -> object:
    """Stop the reading of a file."""
    services.cancel_reading(dataset_for(request, dataset_id, Right.OWN), current_user(request))
    return _as_it_is(request, dataset_id)


@router.post("/{uuid:dataset_id}/reading/again", auth=ADMINISTER, response=DatasetShown)
def read_again(request: HttpRequest, dataset_id: UUID) -> object:
    """Have a file read once more as it was being read before."""
    services.read_again(dataset_for(request, dataset_id, Right.OWN), current_user(request))
    return _as_it_is(request, dataset_id)


@router.get("/{uuid:dataset_id}/rows", auth=ADMINISTER, response=RowsShown)
def rows(
    request: HttpRequest, dataset_id: UUID, first: Annotated[int, Field(ge=1, le=MOST_ROWS)] = MOST_ROWS
) -> object:
    """The first rows of a table, for its owners alone; the look is recorded."""
    dataset = dataset_for(request, dataset_id, Right.OWN)
    sample = first_rows(dataset, first, current_user(request))
    return RowsShown(columns=[column["name"] for column in dataset.columns], rows=sample)


@router.post("/counted", auth=ADMINISTER, response={201: DatasetShown})
def begin_counted(request: HttpRequest, payload: CountedInput) -> object:
    """Begin a dataset without a table, of people whom their curator counts, for running counts."""
    form = TablelessForm(form_data({**payload.dict(), "values": "\n".join(payload.values)}))
    require_valid(form)
    dataset = manual_counts.create(
        form.save(commit=False), form.who(), form.categories(), current_user(request)
    )
    return Status(201, _as_it_is(request, dataset.pk))


@router.get("/offered-tables", auth=READ, response=list[TableShown])
def offered_tables(request: HttpRequest) -> object:
    """The tables in other databases that administrators offer to the token's person."""
    offered = SharedTable.offered_to(current_user(request))
    return [TableShown(id=table.pk, title=table.title) for table in offered]


@router.post("/connected", auth=ADMINISTER, response={201: DatasetShown})
def connect_table(request: HttpRequest, payload: ConnectedTableInput) -> object:
    """Begin a dataset of a table that stays in its own database."""
    by = current_user(request)
    form = RemoteTableForm(form_data(payload.dict()), offered=SharedTable.offered_to(by))
    require_valid(form)
    dataset = attach_table.connect(form.save(commit=False), form.cleaned_data["table"], by)
    return Status(201, _as_it_is(request, dataset.pk))


def _as_it_is(request: HttpRequest, dataset_id: UUID) -> DatasetShown:
    dataset: Dataset = dataset_for(request, dataset_id, Right.SEE)
    return shown(request, dataset)
