"""Many periods of a running count at once: sent, confirmed after a preview, stopped; and the curator's comparison."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from django.core.files.base import ContentFile
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from ninja import Field, Router
from ninja.responses import Status

from dpportal.accounts.permissions import current_user
from dpportal.api.authentication import READ, RELEASE
from dpportal.api.refused_forms import require_valid
from dpportal.api.repeating import HAS_A_KEY, RepeatableRequest
from dpportal.api.shown import Wait, job_shown
from dpportal.api.stream_schemas import PeriodFileShown, PeriodsInput, PreviewShown, StreamCompareShown
from dpportal.jobs.claims import JobState
from dpportal.platform.form_data import form_data
from dpportal.serving import long_polling
from dpportal.streams import comparison, services
from dpportal.streams.access import stream_for
from dpportal.streams.forms import ManyForm
from dpportal.streams.models import Stream, StreamJob
from dpportal.streams.preview import preview_of

router = Router(tags=["running counts"])
SENDING = "periods of"
# Of a comparison's table, by the names that its rows have.
HEADER = {
    "period": "label",
    "true": "true",
    "released": "released",
    "margin": "half_width",
    "error": "error",
    "inside": "inside",
    "clipped": "clipped",
}
# Which of a stream's labels.
CountPlace = Annotated[int, Field(ge=0, le=10**5)]


@router.post(
    "/{uuid:stream_id}/period-files",
    auth=RELEASE,
    response={200: PeriodFileShown, 202: PeriodFileShown},
    openapi_extra=HAS_A_KEY,
)
def send_periods(request: HttpRequest, stream_id: UUID, payload: PeriodsInput) -> object:
    """Send many periods in one text; a worker checks them, and nothing is published before they are confirmed.

    Periods that are published already stay as they are, whatever is sent for them. Sent again with the same
    Idempotency-Key, it is answered with the first file; what is in it is not compared.
    """
    stream = stream_for(request, stream_id)
    # Without the content: an answer never shows whether a guess is the true count.
    sent = RepeatableRequest(request, f"{SENDING} {stream_id}", {})
    if (known := sent.earlier()) is not None:
        return shown(_file_of(stream, known))
    services.require_open(stream)
    form = ManyForm(
        form_data({"pasted": payload.lines, "column": payload.column, "dates": payload.dates}), stream=stream
    )
    require_valid(form, sent_as={"pasted": "lines"})
    file = ContentFile(form.cleaned_data["pasted"].encode(), "sent.csv")
    by = current_user(request)
    job = services.queue_counts(stream, file, form.options, by, confirmed=False, and_note=sent.remember)
    return Status(202, shown(job))


@router.get("/{uuid:stream_id}/period-files/{uuid:file_id}", auth=READ, response=PeriodFileShown)
def period_file(
    request: HttpRequest, response: HttpResponse, stream_id: UUID, file_id: UUID, wait: Wait = 0
) -> object:
    """One file of periods: how far it is, and what it would publish.

    wait: while a worker is at it, the answer waits for the end, so many seconds at most.
    """
    job = _file_of(stream_for(request, stream_id), file_id)
    if wait and job.active:
        long_polling.wait(request, response, wait)
    return shown(job)


@router.post(
    "/{uuid:stream_id}/period-files/{uuid:file_id}/confirm", auth=RELEASE, response={202: PeriodFileShown}
)
def confirm_periods(request: HttpRequest, stream_id: UUID, file_id: UUID) -> object:
    """Publish what a file's preview says. One that is confirmed already stays so."""
    stream = stream_for(request, stream_id)
    if not _file_of(stream, file_id).is_confirmed:
        services.confirm_file(stream, current_user(request), file_id)
    return Status(202, shown(_file_of(stream, file_id)))


@router.post("/{uuid:stream_id}/period-files/{uuid:file_id}/stop", auth=RELEASE, response=PeriodFileShown)
def stop_periods(request: HttpRequest, stream_id: UUID, file_id: UUID) -> object:
    """Stop the work on a file and delete it; what is published of it stays."""
    stream = stream_for(request, stream_id)
    if _file_of(stream, file_id).state != JobState.CANCELLED:
        services.stop(stream, current_user(request), file_id)
    return shown(_file_of(stream, file_id))


@router.delete("/{uuid:stream_id}/period-files/{uuid:file_id}", auth=RELEASE, response={204: None})
def drop_periods(request: HttpRequest, stream_id: UUID, file_id: UUID) -> object:
    """Delete a file that waits to be confirmed; nothing of it is published."""
    stream = stream_for(request, stream_id)
    if _file_of(stream, file_id).state != JobState.CANCELLED:
        services.drop_file(stream, current_user(request), file_id)
    return Status(204, None)


@router.get("/{uuid:stream_id}/comparison", auth=RELEASE, response=StreamCompareShown)
def compare_stream(request: HttpRequest, stream_id: UUID, count: CountPlace = 0) -> object:
    """The newest periods beside the true running counts, for the curator alone; the look is recorded.

    count: which of the running count's `labels` is listed, from 0.
    """
    stream = stream_for(request, stream_id)
    if count >= max(1, len(stream.labels)):
        raise Http404
    compared = comparison.comparison_for(stream, current_user(request), str(count))
    numbers = {name: compared[name] for name in StreamCompareShown.model_fields if name in compared}
    table = [[row[name] for name in HEADER.values()] for row in compared["rows"]]
    label = stream.labels[compared["chosen"]]
    return StreamCompareShown(label=label, header=list(HEADER), table=table, **numbers)


def newest_shown(stream: Stream) -> PeriodFileShown | None:
    """The newest file that was sent to a stream."""
    job = _files(stream).order_by("-queued_at").first()
    return shown(job) if job is not None else None


def shown(job: StreamJob) -> PeriodFileShown:
    """A file of periods as its curator follows it; no count of it."""
    preview, progress = preview_of(job), job_shown(job)
    assert progress is not None
    known = {name: preview[name] for name in PreviewShown.model_fields} if preview else None
    return PeriodFileShown(
        id=job.pk,
        kind=job.kind,
        job=progress,
        preview=PreviewShown(**known) if known else None,
        repeats=job.repeats,
    )


def _files(stream: Stream) -> QuerySet[StreamJob]:
    return stream.jobs.exclude(kind=StreamJob.Kind.OPEN)


def _file_of(stream: Stream, file_id: UUID) -> StreamJob:
    """A file that was sent to this stream. Raises Http404."""
    job = _files(stream).filter(pk=file_id).first()
    if job is None:
        raise Http404
    return job
