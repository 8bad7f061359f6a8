"""Small pictures of publications: drawn by workers from what everyone may see, once for each state of it."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterable
from functools import partial
from typing import Any
from uuid import UUID

from celery import shared_task
from django.db.models import Max
from django.utils.translation import gettext as _

from dpportal.budgets.models import Paid
from dpportal.catalogue.models import Thumbnail
from dpportal.charts import thumbnail
from dpportal.releases import results
from dpportal.releases.models import Release
from dpportal.running import jobs, questions
from dpportal.running.jobs import Claim, JobState, LostClaimError
from dpportal.running.questions import Kind
from dpportal.streams.models import Period, Stream

log = logging.getLogger(__name__)

# A running count's picture is drawn anew when it has grown by so much.
GROWTH = 1.25
# Its version counts up whenever pictures are drawn in another way.
DRAWING = Kind("thumbnail", 1)


def of(publications: Iterable[Paid]) -> dict[UUID, Thumbnail]:
    """The pictures of releases and running counts, by their id; those that there are not yet are asked for.

    Two queries however many, once all were asked for.
    """
    rows = list(publications)
    newest = Period.objects.filter(stream__in=[row.pk for row in rows if isinstance(row, Stream)])
    periods = dict(newest.order_by().values_list("stream").annotate(Max("index")))
    asked = {row.pk: _question(row, periods.get(row.pk, 0)) for row in rows}
    keys = {pk: questions.key_of(question) for pk, question in asked.items()}
    known = Thumbnail.objects.in_bulk(list(keys.values()))
    for pk, key in keys.items():
        if key not in known:
            known[key] = questions.ask(Thumbnail, asked[pk], draw)
    found = {pk: known[key] for pk, key in keys.items()}
    return {pk: row for pk, row in found.items() if row.state == JobState.DONE and row.marks}


def _question(publication: Paid, periods: int) -> dict[str, Any]:
    if isinstance(publication, Stream):
        return DRAWING.asks(stream=str(publication.pk), periods=_shown(periods))
    return DRAWING.asks(release=str(publication.pk))


def _shown(periods: int) -> int:
    """How many of the periods are drawn: the largest step of growth that is reached."""
    drawn = 0
    while drawn < periods and max(drawn + 1, int(drawn * GROWTH)) <= periods:
        drawn = max(drawn + 1, int(drawn * GROWTH))
    return drawn


@shared_task
def draw(key: str) -> None:
    """Draw one picture, if no other worker does."""
    questions.work_out(Thumbnail, key, _attempt)


def sweep() -> None:
    """Bring back pictures whose worker or message was lost."""
    jobs.sweep(Thumbnail, draw.delay, partial(questions.give_up, Thumbnail))


def _attempt(picture: Thumbnail, claim: Claim) -> None:
    try:
        with claim.kept_alive():
            claim.write(**_drawn(picture.question))
        claim.finish(JobState.DONE)
        questions.forget_older(Thumbnail, picture.question)
    except LostClaimError:
        raise
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        log.error(
            "thumbnail %s: %s at %s:%s", picture.key[:12], type(error).__name__, place.name, place.lineno
        )
        claim.give_back(error)


def _drawn(asked: dict[str, Any]) -> dict[str, Any]:
    """Its shapes and what they show; none of what is not public any more, or has no figure."""
    if "stream" in asked:
        return _of_stream(UUID(asked["stream"]), asked["periods"])
    release = Release.objects.get(pk=asked["release"])
    figure = results.kept_page(release).get("figure") if release.published_at else None
    if not figure:
        return {"marks": [], "about": ""}
    return {"marks": thumbnail.thumbnail(figure["json"]), "about": figure["title"]}


def _of_stream(pk: UUID, periods: int) -> dict[str, Any]:
    """The first of its running counts; older pictures of it go."""
    Thumbnail.objects.filter(question__stream=str(pk), question__periods__lt=periods).delete()
    stream = Stream.objects.get(pk=pk)
    rows = stream.periods.filter(index__lte=periods).order_by("index")
    values = [released[0] for released in rows.values_list("released", flat=True)]
    if len(values) < 2 or not stream.published_at:
        return {"marks": [], "about": ""}
    return {"marks": [thumbnail.line(values)], "about": _("Running count")}
