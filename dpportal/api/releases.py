"""Releases: drafted, paid for, followed, compared, and their files."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext_lazy
from ninja import Router
from ninja.responses import Status

from dpportal.accounts.permissions import current_user
from dpportal.api.authentication import READ, RELEASE
from dpportal.api.confirmed_by_token import confirm
from dpportal.api.planning import plan_shown
from dpportal.api.planning_schemas import ChoicesInput, PlanShown
from dpportal.api.problems import RefusedError
from dpportal.api.refused_forms import require_valid
from dpportal.api.release_schemas import CompareShown, ReleaseInput, ReleasePage, ReleaseShown
from dpportal.api.repeating import HAS_A_KEY, RepeatableRequest
from dpportal.api.schemas import FileShown, Spend
from dpportal.api.searching import searching
from dpportal.api.shown import PageNumber, Wait, files_shown, job_shown, page_of, price_of
from dpportal.datasets.access import dataset_for, open_datasets
from dpportal.datasets.models import Right
from dpportal.platform.form_data import form_data
from dpportal.releases import drafts, public, services
from dpportal.releases.access import release_for
from dpportal.releases.comparing import comparison_for
from dpportal.releases.display_texts import current_files
from dpportal.releases.forms import TitleForm
from dpportal.releases.models import Release
from dpportal.releases.wizard import choosing
from dpportal.serving import long_polling
from mechanisms.tabular.file_types import FILE_TYPES

router = Router(tags=["releases"])
DRAFT, SPENDING = "release", "spend on"
ALREADY = gettext_lazy("This release was already confirmed; its choices can no longer be changed.")


@router.get("", auth=READ, response=ReleasePage)
def releases(request: HttpRequest, dataset: UUID | None = None, page: PageNumber = 1) -> object:
    """The releases and drafts of datasets that the token's person may release from, the newest first."""
    rows = Release.objects.filter(dataset__in=open_datasets(request, Right.RELEASE))
    rows = rows.select_related("dataset", "charge__budget", "job").order_by("-created_at")
    chosen = rows.filter(dataset=dataset) if dataset else rows
    return page_of(request, chosen, page, lambda row: shown(request, row, []))


@router.post("", auth=RELEASE, response={200: ReleaseShown, 201: ReleaseShown}, openapi_extra=HAS_A_KEY)
def draft(request: HttpRequest, payload: ReleaseInput) -> object:
    """Draft a release: nothing is spent before it is confirmed. Choices that are left out can be made later."""
    sent = RepeatableRequest(request, DRAFT, payload.dict())
    if (known := sent.earlier()) is not None:
        return shown(request, release_for(request, known))
    dataset = dataset_for(request, payload.dataset, Right.RELEASE)
    if reason := services.why_not_started(dataset):
        raise RefusedError(409, reason)
    begun = Release(dataset=dataset, created_by=current_user(request))
    with searching():
        choosing.choose(begun, payload.dict(exclude={"dataset"}))
    with transaction.atomic():
        begun.save(force_insert=True)
        sent.remember(begun.pk)
    return Status(201, shown(request, begun))


@router.get("/{uuid:release_id}", auth=READ, response=ReleaseShown)
def release(request: HttpRequest, response: HttpResponse, release_id: UUID, wait: Wait = 0) -> object:
    """One release. wait: while its job is at work, the answer waits for the end, so many seconds at most."""
    visible = release_for(request, release_id)
    if wait and not visible.is_draft and visible.job.active:
        long_polling.wait(request, response, wait)
    return shown(request, visible)


@router.patch("/{uuid:release_id}", auth=RELEASE, response=ReleaseShown)
def choose(request: HttpRequest, release_id: UUID, payload: ChoicesInput) -> object:
    """Change a draft's choices; of a confirmed release, its title alone."""
    release = release_for(request, release_id)
    if not release.is_draft:
        if payload.product or payload.choices or payload.method:
            raise RefusedError(409, str(ALREADY))
        if payload.title and payload.title.strip():
            form = TitleForm(form_data({"title": payload.title}))
            require_valid(form)
            services.rename(release, form.cleaned_data["title"], current_user(request))
        return shown(request, release_for(request, release_id))
    with searching():
        choosing.choose(release, payload.dict())
    if not release.keep(choosing.EVERYTHING):
        raise RefusedError(409, str(ALREADY))
    return shown(request, release)


@router.delete("/{uuid:release_id}", auth=RELEASE, response={204: None})
def discard(request: HttpRequest, release_id: UUID) -> object:
    """Delete a draft; nothing was spent on it."""
    services.discard(release_for(request, release_id))
    return Status(204, None)


@router.get("/{uuid:release_id}/plan", auth=READ, response=PlanShown)
def review(request: HttpRequest, release_id: UUID) -> object:
    """A draft's complete plan, as it is read before a budget is spent. No data is looked at."""
    release = release_for(request, release_id)
    if not release.is_draft:
        raise RefusedError(409, str(ALREADY))
    with searching() as search:
        return search.answer(release, lambda: plan_shown(release))


@router.post(
    "/{uuid:release_id}/spend",
    auth=RELEASE,
    response={200: ReleaseShown, 202: ReleaseShown},
    openapi_extra=HAS_A_KEY,
)
def spend(request: HttpRequest, release_id: UUID, payload: Spend) -> object:
    """Spend the budget on what was reviewed, for good, and have a worker make the release.

    Sent again with the same Idempotency-Key, it spends nothing and is answered with the release.
    """
    release = release_for(request, release_id)
    sent = RepeatableRequest(request, f"{SPENDING} {release_id}", payload.for_comparison)
    if sent.earlier() is not None:
        return shown(request, release)
    if not release.is_draft:
        raise RefusedError(409, str(ALREADY))
    with searching():
        version, plan = drafts.plan_of(release)
        confirm(sent, payload, release, services.reviewed_as(version, plan))
    return Status(202, shown(request, release_for(request, release_id)))


@router.post("/{uuid:release_id}/cancel", auth=RELEASE, response=ReleaseShown)
def cancel(request: HttpRequest, release_id: UUID) -> object:
    """Cancel a job that has not begun; the reserved budget is free again."""
    services.cancel(release_for(request, release_id), current_user(request))
    return shown(request, release_for(request, release_id))


@router.post("/{uuid:release_id}/resume", auth=RELEASE, response=ReleaseShown)
def resume(request: HttpRequest, release_id: UUID) -> object:
    """Do what is left after the measurement, of a job that stopped: nothing more is spent."""
    services.resume(release_for(request, release_id), current_user(request))
    return shown(request, release_for(request, release_id))


@router.post("/{uuid:release_id}/again", auth=RELEASE, response={201: ReleaseShown})
def again(request: HttpRequest, release_id: UUID, dataset: UUID | None = None) -> object:
    """A draft with the same choices, of the same dataset or of another one that declares the same columns."""
    release = release_for(request, release_id)
    other = None if dataset is None else dataset_for(request, dataset, Right.RELEASE)
    if other is not None and (reason := services.why_not_started(other)):
        raise RefusedError(409, reason)
    return Status(201, shown(request, services.duplicate(release, current_user(request), other)))


@router.get("/{uuid:release_id}/comparison", auth=RELEASE, response=CompareShown)
def compare(request: HttpRequest, release_id: UUID) -> object:
    """Released beside true counts, for the curator alone. The look is recorded."""
    comparison = comparison_for(release_for(request, release_id), current_user(request))
    header = [str(name) for name in comparison["header"]]
    return CompareShown(header=header, table=[list(row) for row in comparison["table"]])


@router.get("/{uuid:release_id}/files", auth=READ, response=list[FileShown])
def files(request: HttpRequest, release_id: UUID) -> object:
    """The files of a finished release, published or not; none while they are being written."""
    release = release_for(request, release_id)
    return _files(request, release) if release.is_ready else []


@router.get(
    "/{uuid:release_id}/files/{str:name}",
    auth=READ,
    openapi_extra={
        "responses": {
            200: {
                "description": "The file.",
                "content": {kind: {} for kind in sorted(set(FILE_TYPES.values()))},
            }
        }
    },
)
def file(request: HttpRequest, release_id: UUID, name: str) -> HttpResponseBase:
    """One file of a finished release, published or not; that one was taken before publication is recorded."""
    return public.pages.download(request, release_id=release_id, name=name)


def _files(request: HttpRequest, release: Release) -> list[FileShown]:
    def address_of(name: str) -> str:
        return request.build_absolute_uri(reverse("api:file", args=[release.pk, name]))

    return files_shown(list(current_files(release)), address_of)


def shown(request: HttpRequest, release: Release, files: Sequence[FileShown] | None = None) -> ReleaseShown:
    """A release as its curator follows it. files: those of a list are left out."""
    is_ready = release.is_ready and files is None
    return ReleaseShown(
        id=release.pk,
        dataset=release.dataset.pk,
        address=request.build_absolute_uri(release.get_absolute_url()),
        title=release.title or release.proposed_title,
        product=release.product,
        columns=release.columns,
        state=release.state,
        **price_of(release),
        job=None if release.is_draft else job_shown(release.job),
        is_public=release.is_public,
        published_at=release.published_at,
        withdrawn_at=release.withdrawn_at,
        files=_files(request, release) if is_ready else [],
    )
