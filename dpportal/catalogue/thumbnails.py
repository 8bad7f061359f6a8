"""Small pictures of publications: drawn by workers from what everyone may see, once for each state of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from uuid import UUID

from django.db.models import Max
from django.utils.translation import gettext as _

from dpportal.budgets.charged_publication import ChargedPublication
from dpportal.charts import thumbnail
from dpportal.datasets.area_map import AreaMap
from dpportal.jobs.claims import Claim, JobState
from dpportal.jobs.memoised import QuestionKind, Topic, key_of
from dpportal.jobs.runner import register
from dpportal.platform.json_types import Json
from dpportal.releases import results
from dpportal.releases.models import Release
from dpportal.releases.public import first_figure
from dpportal.streams.models import Period, Stream

# A running count's picture is drawn anew when it has grown by so much.
GROWTH = 1.25
# Its version counts up whenever pictures are drawn, or put into words, in another way.
DRAWING = Topic("thumbnail", 7)


class Thumbnails(QuestionKind):
    """Pictures. question: the publication, and of a running count how many periods are drawn.

    answer: `marks`, the shapes, see `charts.thumbnail`; `about`, what it shows in words; `warned`, where readers are
    warned that it is mostly noise. All are text of a few kilobytes, so that they lie in the row as every answer does.
    """

    name = "Thumbnail"
    too_long = "The picture could not be drawn within an hour."

    def version_of(self, question: Mapping[str, Any]) -> int:
        return DRAWING.version

    def answer(self, question: Mapping[str, Any], claim: Claim) -> Json:
        _forget_smaller(question)
        return _picture(question)


THUMBNAILS = register(Thumbnails())


def thumbnails_of(publications: Iterable[ChargedPublication]) -> dict[UUID, Json]:
    """The pictures of releases and running counts, by their id; those that there are not yet are asked for.

    Two queries however many, once all were asked for.
    """
    rows = list(publications)
    newest = Period.objects.filter(stream__in=[row.pk for row in rows if isinstance(row, Stream)])
    periods = dict(newest.order_by().values_list("stream").annotate(Max("index")))
    questions = {row.pk: _question(row, periods.get(row.pk, 0)) for row in rows}
    keys = {pk: key_of(question) for pk, question in questions.items()}
    stored = THUMBNAILS.jobs().in_bulk(list(keys.values()))
    known = {key: picture for key, picture in stored.items() if THUMBNAILS.is_own(picture)}
    for pk, key in keys.items():
        if key not in known:
            known[key] = THUMBNAILS.ask(questions[pk])
    answers = {pk: known[key].answer for pk, key in keys.items() if known[key].state == JobState.DONE}
    return {pk: picture for pk, picture in answers.items() if picture and picture["marks"]}


def ask_for(sender: object, *, publication: ChargedPublication, **_signal: object) -> None:
    """Have the picture of what has just become public drawn, before a reader comes."""
    thumbnails_of([publication])


def forget_of(sender: object, *, instance: AreaMap, **_signal: object) -> None:
    """Have the pictures of a dataset's releases drawn anew, whose columns got a map or lost one."""
    releases = Release.objects.filter(dataset=instance.dataset_id).values_list("pk", flat=True)
    THUMBNAILS.jobs().filter(question__release__in=list(map(str, releases))).delete()


def _question(publication: ChargedPublication, periods: int) -> Json:
    if isinstance(publication, Stream):
        return DRAWING.asks(stream=str(publication.pk), periods=_shown(periods))
    return DRAWING.asks(release=str(publication.pk))


def _shown(periods: int) -> int:
    """How many of the periods are drawn: the largest step of growth that is reached."""
    shown = 0
    while shown < periods and max(shown + 1, int(shown * GROWTH)) <= periods:
        shown = max(shown + 1, int(shown * GROWTH))
    return shown


def _picture(question: Mapping[str, Any]) -> Json:
    """Its shapes and what they show; none of what was never public, or has no figure."""
    if "stream" in question:
        return _of_stream(UUID(question["stream"]), question["periods"])
    release = Release.objects.get(pk=question["release"])
    shown = results.stored_page(release) if release.published_at else {}
    if "sample" in shown:
        marks = thumbnail.table([column["counts"] for column in shown["columns"]])
        return {"marks": marks, "about": _("The first columns of the synthetic table"), **_warning(shown)}
    figure = first_figure(release) if shown else None
    if not figure:
        return {"marks": [], "about": ""}
    return {"marks": thumbnail.thumbnail(figure["json"]), "about": figure["title"], **_warning(shown)}


def _warning(shown: Json) -> Json:
    """The level of which its page warns readers, where it does."""
    return {"warned": shown["warned"]} if shown.get("warned") else {}


def _forget_smaller(question: Mapping[str, Any]) -> None:
    """Older pictures of a running count go."""
    if "stream" in question:
        older = THUMBNAILS.jobs().filter(
            question__stream=question["stream"], question__periods__lt=question["periods"]
        )
        older.delete()


def changed() -> Iterator[str]:
    """The stored pictures that are not those that are drawn of what is published, by their question."""
    for stored in THUMBNAILS.jobs().filter(state=JobState.DONE).iterator(chunk_size=100):
        subject = stored.question.get("release") or stored.question.get("stream")
        if stored.question.get("version") == DRAWING.version and not _is_current(
            stored.question, stored.answer
        ):
            yield str(subject)


def _is_current(question: Mapping[str, Any], answer: Json | None) -> bool:
    """Pictures of what is gone, and those that are empty, since nothing was public then, show nobody anything."""
    if not answer or not answer["marks"]:
        return True
    try:
        picture: Json = json.loads(json.dumps(_picture(question)))
    except (Release.DoesNotExist, Stream.DoesNotExist):
        return True
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return False
    return picture == answer


def _of_stream(pk: UUID, periods: int) -> Json:
    """The first of its running counts."""
    stream = Stream.objects.get(pk=pk)
    rows = stream.periods.filter(index__lte=periods).order_by("index")
    values = [released[0] for released in rows.values_list("released", flat=True)]
    if len(values) < 2 or not stream.published_at:
        return {"marks": [], "about": ""}
    return {"marks": [thumbnail.line(values)], "about": _("Running count")}
