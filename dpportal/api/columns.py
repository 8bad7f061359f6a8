"""What is said of columns besides a codebook: areas on a map, another dataset's declaration, values from the data."""

from __future__ import annotations

import json
from uuid import UUID

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from ninja import Router
from ninja.responses import Status

from dpportal.accounts.permissions import current_user
from dpportal.api.authentication import ADMINISTER
from dpportal.api.dataset_schemas import (
    AreasInput,
    AreasShown,
    CoarserInput,
    ColumnName,
    CopyInput,
    FillInput,
)
from dpportal.api.declaration_schemas import DeclarationShown
from dpportal.api.declarations import declaration_shown
from dpportal.api.problems import RefusedError
from dpportal.api.refused_forms import require_known, require_valid
from dpportal.datasets import geojson, services
from dpportal.datasets.access import dataset_for, open_datasets
from dpportal.datasets.area_files import take_areas
from dpportal.datasets.area_map import remove_areas
from dpportal.datasets.coarser import can_be_coarser
from dpportal.datasets.coarser_forms import GONE, TOO_FEW_CELLS, CoarserForm
from dpportal.datasets.declared import copied, declared_of
from dpportal.datasets.fill_column import NEEDS_CONFIRMATION, fill
from dpportal.datasets.labels import BETWEEN
from dpportal.datasets.models import Dataset, Right
from dpportal.platform.form_data import form_data
from dpportal.tables import UploadFault
from mechanisms.domain import DomainError

router = Router(tags=["datasets"])


@router.put("/{uuid:dataset_id}/areas", auth=ADMINISTER, response=AreasShown)
def declare_areas(request: HttpRequest, dataset_id: UUID, payload: AreasInput) -> object:
    """Say which areas a column's values are, for the maps of its releases, in place of those that it has."""
    dataset = dataset_for(request, dataset_id, Right.OWN)
    _require_column(dataset, payload.column)
    content = json.dumps(payload.areas).encode()
    try:
        taken = take_areas(dataset, payload.column, content, payload.credit, current_user(request))
    except geojson.GeoJsonError as wrong:
        raise RefusedError(422, str(wrong), {"areas": [str(wrong)]}) from None
    return AreasShown(column=payload.column, known=taken.known, lacking=taken.lacking)


@router.delete("/{uuid:dataset_id}/areas", auth=ADMINISTER, response={204: None})
def drop_areas(request: HttpRequest, dataset_id: UUID, column: ColumnName) -> object:
    """Take a column's map away; what was published stays without it."""
    dataset = dataset_for(request, dataset_id, Right.OWN)
    _require_column(dataset, column)
    remove_areas(dataset, column, current_user(request))
    return Status(204, None)


@router.post("/{uuid:dataset_id}/declaration/coarser", auth=ADMINISTER, response=DeclarationShown)
def declare_coarser(request: HttpRequest, dataset_id: UUID, payload: CoarserInput) -> object:
    """Put cells of a declared column together into a second, coarser declaration of it."""
    dataset = dataset_for(request, dataset_id, Right.OWN)
    finer = declared_of(dataset).get(payload.column)
    if finer is None or not can_be_coarser(finer):
        raise RefusedError(409, str(TOO_FEW_CELLS))
    sent = payload.dict(exclude={"column"}, exclude_none=True)
    if "groups" in sent:
        sent["groups"] = "\n".join(f"{value}{BETWEEN}{group}" for value, group in sent["groups"].items())
    if "edges" in sent:
        sent["edges"] = ", ".join(str(edge) for edge in sent["edges"])
    form = CoarserForm(form_data(sent), finer=finer)
    require_known(sent, form.fields)
    require_valid(form)
    try:
        form.keep(dataset, current_user(request))
    except DomainError as wrong:
        raise RefusedError(409, str(wrong)) from None
    return declaration_shown(dataset)


@router.delete("/{uuid:dataset_id}/declaration/coarser", auth=ADMINISTER, response={204: None})
def drop_coarser(request: HttpRequest, dataset_id: UUID, name: ColumnName) -> object:
    """Take a coarser column away; the one that it was made of stays."""
    dataset = dataset_for(request, dataset_id, Right.OWN)
    existing = declared_of(dataset).get(name)
    if existing is None or not existing.source:
        raise RefusedError(409, str(GONE))
    services.declare(dataset, name, None, by=current_user(request))
    return Status(204, None)


@router.post("/{uuid:dataset_id}/declaration/copy", auth=ADMINISTER, response=DeclarationShown)
def copy_declaration(request: HttpRequest, dataset_id: UUID, payload: CopyInput) -> object:
    """Take over what another dataset, which the token's person sees, declares of columns with the same names."""
    dataset = dataset_for(request, dataset_id, Right.OWN)
    attributes, filled = copied(get_object_or_404(open_datasets(request), pk=payload.source), dataset)
    services.declare_all(dataset, attributes, filled=filled, by=current_user(request))
    return declaration_shown(dataset)


@router.post("/{uuid:dataset_id}/declaration/fill", auth=ADMINISTER, response=DeclarationShown)
def fill_column(request: HttpRequest, dataset_id: UUID, payload: FillInput) -> object:
    """Take what a column can hold from the data: not private, so only if it is public knowledge."""
    dataset = dataset_for(request, dataset_id, Right.OWN)
    _require_column(dataset, payload.column)
    if not payload.public:
        raise RefusedError(422, str(NEEDS_CONFIRMATION), {"public": [str(NEEDS_CONFIRMATION)]})
    try:
        fill(dataset, payload.column, current_user(request))
    except UploadFault as fault:
        raise RefusedError(409, str(fault)) from None
    return declaration_shown(dataset)


def _require_column(dataset: Dataset, column: str) -> None:
    if column not in [each["name"] for each in dataset.columns]:
        text = _("This dataset has no column “%(column)s”.") % {"column": column}
        raise RefusedError(422, text, {"column": [text]})
