"""Running counts: drafted and opened here; periods are sent and read at the stream's own address."""

from __future__ import annotations

from contextlib import suppress
from uuid import UUID

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext_lazy
from ninja import Router
from ninja.responses import Status

from dpportal.accounts.permissions import current_user
from dpportal.api import tokens
from dpportal.api.authentication import READ, RELEASE, token_of
from dpportal.api.confirmed_by_token import confirm
from dpportal.api.period_files import newest_shown
from dpportal.api.problems import RefusedError
from dpportal.api.refused_forms import require_valid
from dpportal.api.repeating import HAS_A_KEY, RepeatableRequest
from dpportal.api.schemas import Spend
from dpportal.api.searching import searching
from dpportal.api.shown import PageNumber, Wait, page_of, price_of
from dpportal.api.stream_schemas import StreamInput, StreamPage, StreamShown, TokenShown
from dpportal.datasets.access import dataset_for, open_datasets
from dpportal.datasets.models import Right
from dpportal.serving import long_polling
from dpportal.streams import choosing, drafts, services, strategy_page
from dpportal.streams.access import stream_for
from dpportal.streams.measure import StreamDraftError
from dpportal.streams.models import Stream

router = Router(tags=["running counts"])
DRAFT, OPENING = "stream", "open"
ALREADY = gettext_lazy("This running count was already confirmed; its choices can no longer be changed.")


@router.get("", auth=READ, response=StreamPage)
def streams(request: HttpRequest, dataset: UUID | None = None, page: PageNumber = 1) -> object:
    """The running counts and drafts of datasets that the token's person may release from, the newest first."""
    rows = Stream.objects.filter(dataset__in=open_datasets(request, Right.RELEASE))
    rows = rows.select_related("dataset", "charge__budget").defer(*Stream.UNLISTED).order_by("-created_at")
    chosen = rows.filter(dataset=dataset) if dataset else rows
    return page_of(request, chosen, page, lambda row: _facts(request, row))


@router.post("", auth=RELEASE, response={200: StreamShown, 201: StreamShown}, openapi_extra=HAS_A_KEY)
def draft_stream(request: HttpRequest, payload: StreamInput) -> object:
    """Draft a running count with all that its wizard asks; nothing is spent before it is opened."""
    sent = RepeatableRequest(request, DRAFT, payload.dict())
    if (known := sent.earlier()) is not None:
        return shown(request, stream_for(request, known))
    dataset = dataset_for(request, payload.dataset, Right.RELEASE)
    if reason := services.why_not_started(dataset):
        raise RefusedError(409, reason)
    draft = Stream(dataset=dataset, created_by=current_user(request))
    with searching():
        try:
            choosing.choose(draft, payload.dict(exclude={"dataset"}))
        except choosing.StreamChoiceError as error:
            require_valid(error.form)
    with transaction.atomic():
        draft.save(force_insert=True)
        sent.remember(draft.pk)
    return Status(201, shown(request, draft))


@router.get("/{uuid:stream_id}", auth=READ, response=StreamShown)
def stream(request: HttpRequest, response: HttpResponse, stream_id: UUID, wait: Wait = 0) -> object:
    """One running count. wait: while a worker opens it, the answer waits for the end, so many seconds at most."""
    visible = stream_for(request, stream_id)
    if wait and visible.is_opening:
        long_polling.wait(request, response, wait)
    return shown(request, visible)


@router.delete("/{uuid:stream_id}", auth=RELEASE, response={204: None})
def discard_stream(request: HttpRequest, stream_id: UUID) -> object:
    """Delete a draft; nothing was spent on it."""
    services.discard(stream_for(request, stream_id))
    return Status(204, None)


@router.post(
    "/{uuid:stream_id}/open",
    auth=RELEASE,
    response={200: StreamShown, 202: StreamShown},
    openapi_extra=HAS_A_KEY,
)
def open_stream(request: HttpRequest, stream_id: UUID, payload: Spend) -> object:
    """Spend the budget on what was reviewed, for good, and have a worker open the running count."""
    stream = stream_for(request, stream_id)
    sent = RepeatableRequest(request, f"{OPENING} {stream_id}", payload.for_comparison)
    if sent.earlier() is not None:
        return shown(request, stream)
    if not stream.is_draft:
        raise RefusedError(409, str(ALREADY))
    with searching():
        version, plan = drafts.plan_of(stream)
        confirm(sent, payload, stream, services.reviewed_as(stream, version, plan))
    return Status(202, shown(request, stream_for(request, stream_id)))


@router.post("/{uuid:stream_id}/close", auth=RELEASE, response=StreamShown)
def close_stream(request: HttpRequest, stream_id: UUID) -> object:
    """End a running count before its horizon and delete its secret noise; what is published stays."""
    services.close(stream_for(request, stream_id), current_user(request))
    return shown(request, stream_for(request, stream_id))


@router.post("/{uuid:stream_id}/token", auth=RELEASE, response={201: TokenShown})
def stream_token(request: HttpRequest, stream_id: UUID) -> object:
    """A new token that opens this running count alone, to send its periods with; the one before it ends.

    It works no longer than the token that asks for it.
    """
    stream = stream_for(request, stream_id)
    with transaction.atomic():
        calling = tokens.locked_token(token_of(request))
        token = services.renew_token(stream, current_user(request), calling)
    return Status(201, TokenShown(token=token))


@router.post("/{uuid:stream_id}/again", auth=RELEASE, response={201: StreamShown})
def stream_again(request: HttpRequest, stream_id: UUID) -> object:
    """A draft with the same choices."""
    copy = services.duplicate(stream_for(request, stream_id), current_user(request))
    return Status(201, shown(request, copy))


def shown(request: HttpRequest, stream: Stream) -> StreamShown:
    """A running count as its curator follows it; of a draft, what its review shows."""
    facts = _facts(request, stream)
    facts.file = newest_shown(stream)
    if stream.is_draft:
        # One that was begun in a browser may lack a step.
        with searching(), suppress(StreamDraftError):
            version, plan = drafts.plan_of(stream)
            assert stream.amount is not None
            expected = strategy_page.expected_verdict(stream, plan, stream.amount)["verdict"]
            facts.half_width, facts.expectation = strategy_page.half_width(plan), expected.text
            facts.reviewed = services.reviewed_as(stream, version, plan)
    return facts


def _facts(request: HttpRequest, stream: Stream) -> StreamShown:
    """What a list says of a running count."""
    return StreamShown(
        id=stream.pk,
        dataset=stream.dataset.pk,
        address=request.build_absolute_uri(stream.get_absolute_url()),
        periods=request.build_absolute_uri(reverse("streams:periods", args=[stream.pk])),
        name=stream.name,
        state=stream.state,
        labels=stream.labels,
        mechanism=stream.mechanism,
        **price_of(stream),
        is_public=stream.is_public,
    )
