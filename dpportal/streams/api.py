"""A stream for programs: send a period with the stream's token, read the series. JSON in, JSON out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar
from uuid import UUID

import numpy as np
from django.db import transaction
from django.http import HttpRequest, JsonResponse, UnreadablePostError
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from dpportal.accounts import audit, sign_ins
from dpportal.accounts.audit_words import clause
from dpportal.accounts.program_tokens import TooManyRequestsError
from dpportal.platform import strict_json
from dpportal.platform.json_types import Json
from dpportal.publications import idempotency_keys
from dpportal.publications.idempotency_keys import KeyRefusedError
from dpportal.streams import execution, tokens
from dpportal.streams.access import visible_stream
from dpportal.streams.calendar import CalendarError
from dpportal.streams.execution import PeriodRefusedError, PublishedPeriod, RefusalReason, Update
from dpportal.streams.measure import StreamDraftError, largest_increment, read_increments
from dpportal.streams.models import Period, Stream
from dpportal.streams.tokens import TokenRefusedError
from dpportal.streams.vault import VaultError
from mechanisms import registry

# A period of a thousand running counts takes a tenth of it.
MAX_BODY = 2**20
# Of a series, at a time: the page is computed while whoever asks waits.
PAGE_PERIODS, PAGE_COUNTS = 1_000, 5_000
BEARER = "bearer "
T = TypeVar("T")


class RequestRefusedError(Exception):
    """A request that is answered with a status and a text."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


# A program has no session and sends no cookie, so there is nothing that another site could ride on.
@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
def periods(request: HttpRequest, stream_id: UUID) -> JsonResponse:
    """GET the published series; POST the next period."""
    try:
        return _post(request, stream_id) if request.method == "POST" else _get(request, stream_id)
    except RequestRefusedError as refusal:
        response = JsonResponse({"error": str(refusal)}, status=refusal.status)
    except (CalendarError, StreamDraftError, KeyRefusedError) as wrong:
        response = JsonResponse({"error": str(wrong)}, status=400)
    except PeriodRefusedError as refusal:
        status = 422 if refusal.why is RefusalReason.KEY else 409
        response = JsonResponse({"error": str(refusal), "why": refusal.why.value}, status=status)
    except VaultError as shut:
        response = JsonResponse({"error": str(shut)}, status=503)
    except TokenRefusedError as refusal:
        response = JsonResponse({"error": str(refusal)}, status=refusal.status)
    except TooManyRequestsError as refusal:
        wait = {"Retry-After": str(refusal.wait)}
        response = JsonResponse({"error": str(refusal)}, status=429, headers=wait)
    if response.status_code == 401:
        response["WWW-Authenticate"] = "Bearer"
    return response


def _known_sender(request: HttpRequest, stream_id: UUID) -> int:
    """How many bytes whoever asks may send, before any is read: those of a period with the stream's token."""
    stream = Stream.objects.filter(pk=stream_id).first()
    return MAX_BODY if tokens.opens(_token(request) or "", stream) else 0


periods.known_sender = _known_sender  # type: ignore[attr-defined]


def _token(request: HttpRequest) -> str | None:
    """The token that was sent, None if none was."""
    header = request.headers.get("Authorization", "")
    return header[len(BEARER) :].strip() if header[: len(BEARER)].lower() == BEARER else None


def _post(request: HttpRequest, stream_id: UUID) -> JsonResponse:
    """Publish a period: 201 with what is released; 200 with what was, if it is published, whatever was sent for it."""
    stream = _authorised(request, stream_id)
    sent = _json(request)
    if not isinstance(sent, dict) or set(sent) != {"period", "counts"}:
        raise RequestRefusedError(
            400,
            _('Send an object with exactly these two: {"period": 7, "counts": 12}; see the stream\'s page.'),
        )
    index = stream.calendar.read(sent["period"])
    increments = read_increments(stream, sent["counts"])
    sent_key = idempotency_keys.read(request.headers.get(idempotency_keys.HEADER))
    key = idempotency_keys.digest(str(stream.pk), sent_key)
    update = Update(index, increments, Period.Source.PROGRAM, key)
    execution.catch_up(stream.pk)
    published = _publish(stream, update)
    [answer] = as_json(stream, [published.period])
    # The same after every period, clipped or not: whoever sent a count compares it with this.
    answer["largest"] = largest_increment(stream)
    return JsonResponse(answer, status=201 if published.new else 200)


@transaction.atomic
def _publish(stream: Stream, update: Update) -> PublishedPeriod:
    """Publish it, and record for whom."""
    by = stream.token.by
    [published] = execution.publish(stream.pk, [update], by=by)
    if published.new:
        audit.record(by, "published by token", stream, clause(execution.PERIOD, index=update.index))
    return published


def _get(request: HttpRequest, stream_id: UUID) -> JsonResponse:
    """The series from a period on, at most PAGE_PERIODS and PAGE_COUNTS of it, and where it goes on."""
    stream = visible_stream(request, stream_id)
    if stream is None:
        raise RequestRefusedError(404, _("There is no published stream at this address."))
    text = request.GET.get("from", "1")
    first = int(text) if text.isdecimal() and len(text) < 10 else 1
    most = min(PAGE_PERIODS, max(1, PAGE_COUNTS // len(stream.labels)))
    rows = list(stream.periods.filter(index__gte=first)[: most + 1])
    more = rows[most].index if len(rows) > most else None
    series = {
        "stream": str(stream.pk),
        "name": stream.name,
        "horizon": stream.horizon,
        "periods": as_json(stream, rows[:most]),
        "next": more and f"{request.path}?from={more}",
    }
    return JsonResponse(series)


def as_json(stream: Stream, rows: Sequence[Period]) -> list[Json]:
    """Neighbouring published periods: counts, what is new, their 95 % intervals; by name where there are several."""
    if not rows:
        return []
    plan, places = stream.plan, np.array([period.index for period in rows], dtype=np.int64)
    halves_new = registry.stream(plan.mechanism).increment_half_widths(plan, places).tolist()
    earlier = stream.periods.filter(index=rows[0].index - 1).values_list("released", flat=True).first()
    before: list[int] = earlier or [0] * len(stream.labels)
    answers = []
    for period, half_new in zip(rows, halves_new, strict=True):
        new = [count - last for count, last in zip(period.released, before, strict=True)]
        before = period.released
        answers.append(
            {
                "period": period.index,
                "begins": stream.calendar.label(period.index),
                "released": _named(stream, period.released),
                "interval": _named(stream, _intervals(period.released, period.half_width)),
                "new": _named(stream, new),
                "new_interval": _named(stream, _intervals(new, half_new)),
            }
        )
    return answers


def _intervals(numbers: Sequence[int], half_width: int) -> list[list[int]]:
    return [[number - half_width, number + half_width] for number in numbers]


def _named(stream: Stream, values: Sequence[T]) -> T | dict[str, T]:
    """One value for each running count, by its name; the value itself where there is one only."""
    labels: list[str] = stream.labels
    return values[0] if labels == [""] else dict(zip(labels, values, strict=True))


def _authorised(request: HttpRequest, stream_id: UUID) -> Stream:
    """The stream whose token was sent. A wrong token and a stream that does not exist get one answer."""
    token = _token(request)
    if token is None:
        raise RequestRefusedError(401, _("Send the stream's token in the header “Authorization: Bearer …”."))
    stream = Stream.objects.select_related("dataset__owner").filter(pk=stream_id).first()
    if not tokens.opens(token, stream) or stream is None:
        sign_ins.note_wrong_token(request)
        raise RequestRefusedError(
            403,
            _("This token does not open this stream. Its curator can make a new one on the stream's page."),
        )
    tokens.admit(stream)
    return stream


def _json(request: HttpRequest) -> object:
    """The body as JSON, read only if it is small."""
    length = request.headers.get("Content-Length", "")
    if not length.isdecimal():
        raise RequestRefusedError(411, _("Send the length of the body in the header “Content-Length”."))
    if len(length) > len(str(MAX_BODY)) or int(length) > MAX_BODY:
        raise RequestRefusedError(
            413, _("The body is larger than 1 MB; a period is far smaller. Send one period at a time.")
        )
    try:
        return strict_json.read(request.read(MAX_BODY))
    except (ValueError, RecursionError, UnreadablePostError):
        raise RequestRefusedError(
            400, _('The body is not JSON. Send for example {"period": 7, "counts": 12}.')
        ) from None
