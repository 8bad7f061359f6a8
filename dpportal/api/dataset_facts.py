"""What an owner says of a dataset: what everyone may know of it, the day of erasure, with whom it is shared."""

from __future__ import annotations

from uuid import UUID

from django.forms.models import model_to_dict
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Router
from ninja.responses import Status

from dpportal.accounts.permissions import current_user
from dpportal.api.authentication import ADMINISTER, READ
from dpportal.api.dataset_schemas import (
    DescriptionInput,
    DescriptionShown,
    ErasureInput,
    ErasureShown,
    ShareInput,
    ShareShown,
)
from dpportal.api.problems import RefusedError, nothing_here
from dpportal.api.refused_forms import require_valid
from dpportal.datasets import receipts, retention, sharing
from dpportal.datasets.access import dataset_for
from dpportal.datasets.description_forms import DescriptionForm, description_of
from dpportal.datasets.models import Dataset, Right, Share
from dpportal.datasets.sharing_forms import ShareForm
from dpportal.platform.form_data import form_data

router = Router(tags=["datasets"])


@router.get("/{uuid:dataset_id}/description", auth=READ, response=DescriptionShown)
def description(request: HttpRequest, dataset_id: UUID) -> object:
    """What is written of a dataset for everyone, and whether they see it."""
    return description_of(dataset_for(request, dataset_id, Right.OWN))


@router.patch("/{uuid:dataset_id}/description", auth=ADMINISTER, response=DescriptionShown)
def describe(request: HttpRequest, dataset_id: UUID, payload: DescriptionInput) -> object:
    """Say what everyone may know of a dataset, under which licence, and whether they see it; it is recorded."""
    dataset = dataset_for(request, dataset_id, Right.OWN)
    written = description_of(dataset)
    sent = {**model_to_dict(written), **payload.dict(exclude_unset=True)}
    sent["keywords"] = ", ".join(sent["keywords"])
    form = DescriptionForm(form_data(sent), instance=written)
    require_valid(form)
    form.keep(current_user(request))
    return written


@router.get("/{uuid:dataset_id}/erasure", auth=READ, response=ErasureShown)
def erasure(request: HttpRequest, dataset_id: UUID) -> object:
    """When the records are deleted by themselves; of records that are deleted, the receipt."""
    return _erasure(dataset_for(request, dataset_id, Right.OWN))


@router.put("/{uuid:dataset_id}/erasure", auth=ADMINISTER, response=ErasureShown)
def choose_day(request: HttpRequest, dataset_id: UUID, payload: ErasureInput) -> object:
    """Choose the day on which the records are deleted by themselves, or none; it is recorded."""
    dataset = dataset_for(request, dataset_id, Right.OWN)
    retention.choose_day(dataset, payload.day, current_user(request))
    return _erasure(dataset)


def _erasure(dataset: Dataset) -> ErasureShown:
    receipt = receipts.receipt_of(dataset.pk)
    return ErasureShown(
        day=dataset.erase_on,
        last_day=retention.last_day(dataset),
        receipt=None if receipt is None else receipt.document,
    )


@router.get("/{uuid:dataset_id}/shares", auth=READ, response=list[ShareShown])
def shares(request: HttpRequest, dataset_id: UUID) -> object:
    """With whom a dataset is shared; who owns none of it sees the own right alone."""
    dataset = dataset_for(request, dataset_id, Right.SEE)
    rows = dataset.shares.select_related("person").order_by("pk")
    return [_share(row) for row in (rows if dataset.can_own else rows.filter(person=current_user(request)))]


@router.post("/{uuid:dataset_id}/shares", auth=ADMINISTER, response={201: ShareShown})
def share(request: HttpRequest, dataset_id: UUID, payload: ShareInput) -> object:
    """Give another curator a right to a dataset, in place of the one that they have."""
    dataset = dataset_for(request, dataset_id, Right.OWN)
    form = ShareForm(form_data(payload.dict()))
    require_valid(form)
    answers = form.cleaned_data
    given = sharing.share(dataset, answers["name"], answers["right"], current_user(request))
    return Status(201, _share(given))


@router.delete("/{uuid:dataset_id}/shares/{int:share_id}", auth=ADMINISTER, response={204: None})
def take_back(request: HttpRequest, dataset_id: UUID, share_id: int) -> object:
    """Take anyone's right back, as an owner, or give back the own one."""
    dataset, by = dataset_for(request, dataset_id, Right.SEE), current_user(request)
    given = get_object_or_404(Share.objects.select_related("person"), pk=share_id, dataset=dataset)
    if not dataset.can_own and given.person_id != by.pk:
        raise RefusedError(404, nothing_here())
    sharing.take_back(given, by)
    return Status(204, None)


def _share(row: Share) -> ShareShown:
    return ShareShown(id=row.pk, person=row.person.get_username(), right=int(row.right))
