"""What is declared of a dataset's columns, and how its table fits that."""

from __future__ import annotations

import json
from dataclasses import asdict
from uuid import UUID

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from ninja import Router

from dpportal.accounts.permissions import current_user
from dpportal.api.authentication import ADMINISTER, READ
from dpportal.api.declaration_schemas import DeclarationInput, DeclarationShown, FitShown, Unit
from dpportal.api.problems import RefusedError
from dpportal.api.refused_forms import require_valid
from dpportal.api.shown import Wait, job_shown
from dpportal.budgets.promises import before_change
from dpportal.datasets import codebooks, domain_fit, take_codebook
from dpportal.datasets.access import dataset_for
from dpportal.datasets.models import Dataset, DomainVersion, Fit, Right
from dpportal.datasets.unit_form import UnitForm
from dpportal.platform.form_data import form_data
from dpportal.serving import long_polling

router = Router(tags=["datasets"])


@router.get("/{uuid:dataset_id}/declaration", auth=READ, response=DeclarationShown)
def declaration(request: HttpRequest, dataset_id: UUID) -> object:
    """What is declared now, as a codebook in JSON, and who is protected."""
    return declaration_shown(dataset_for(request, dataset_id, Right.SEE))


@router.put("/{uuid:dataset_id}/declaration", auth=ADMINISTER, response=DeclarationShown)
def declare(request: HttpRequest, dataset_id: UUID, payload: DeclarationInput) -> object:
    """Declare columns, as an imported codebook does, and who is protected: all of it or nothing.

    What is not named stays as it is. What is declared so already changes nothing.
    """
    dataset = dataset_for(request, dataset_id, Right.OWN)
    left_out: tuple[str, ...] = ()
    with transaction.atomic():
        if payload.unit is not None:
            _declare_unit(request, dataset, payload.unit)
        if payload.columns:
            content = json.dumps(payload.columns, ensure_ascii=True).encode()
            left_out = take_codebook.take(dataset, content, current_user(request)).book.left_out
    return declaration_shown(dataset, left_out)


def _declare_unit(request: HttpRequest, dataset: Dataset, unit: Unit) -> None:
    current = dataset.current_domain() or DomainVersion(dataset=dataset)
    form = UnitForm(form_data(unit.dict()), instance=current, dataset=dataset)
    require_valid(form, "unit.")
    form.declare(current_user(request))


def declaration_shown(dataset: Dataset, left_out: tuple[str, ...] = ()) -> DeclarationShown:
    """What is declared of a dataset now. left_out: columns of a codebook that it does not have."""
    version = dataset.current_domain()
    names = ("neighbours", "unit_column", "max_rows", "ignore_case")
    unit = Unit(**{name: getattr(version, name) for name in names}) if version else Unit()
    return DeclarationShown(
        version=version.version if version else None,
        frozen=bool(version and version.frozen),
        unit=unit,
        promises=before_change(dataset),
        columns=json.loads(codebooks.as_json(take_codebook.written(dataset))),
        left_out=list(left_out),
    )


@router.post("/{uuid:dataset_id}/fit", auth=ADMINISTER, response={202: FitShown})
def look_at_fit(request: HttpRequest, dataset_id: UUID) -> object:
    """Have a worker look how the table fits what is declared. It costs nothing, and only the curator sees it."""
    dataset = _lookable(request, dataset_id)
    domain_fit.ask(dataset)
    return FitShown(job=job_shown(_job(dataset)), fit=None)


@router.get("/{uuid:dataset_id}/fit", auth=ADMINISTER, response=FitShown)
def fit(request: HttpRequest, response: HttpResponse, dataset_id: UUID, wait: Wait = 0) -> object:
    """The fit to what is declared now: true numbers, so that the look is recorded. wait: for a worker, in seconds."""
    dataset = _lookable(request, dataset_id)
    job = _job(dataset)
    if wait and job is not None and job.active:
        long_polling.wait(request, response, wait)
        return FitShown(job=job_shown(job), fit=None)
    result = domain_fit.shown(dataset, current_user(request))
    return FitShown(job=job_shown(job), fit=None if result is None else asdict(result))


def _lookable(request: HttpRequest, dataset_id: UUID) -> Dataset:
    dataset = dataset_for(request, dataset_id, Right.OWN)
    if reason := domain_fit.why_not(dataset, current_user(request)):
        raise RefusedError(409, reason)
    return dataset


def _job(dataset: Dataset) -> Fit | None:
    return Fit.objects.filter(dataset=dataset).first()
