"""The files of a stream's download: written by a worker for its newest period, stored, and given out as they are.

A request never writes one. Where periods came since, or a name, a permission or what was spent beside changed, readers
get the former files until the new ones take their place, all at once; the page says so. When they are closed instead
says `publications/written_files.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from uuid import UUID

from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Now

from dpportal.budgets.confirmed import require_confirmed
from dpportal.history import watched
from dpportal.history.imprints import ForgedRowError
from dpportal.jobs.claims import Claim, JobState, reset_fields
from dpportal.jobs.clock import database_now, db_ago
from dpportal.jobs.runner import JobKind, register
from dpportal.platform import storage
from dpportal.publications.downloads import FAILED_PAUSE_SECONDS, store
from dpportal.publications.draft import PUBLIC
from dpportal.publications.written_files import TextDigests, WrittenFiles
from dpportal.streams import bundle, file_imprints, period_imprints
from dpportal.streams.models import Period, SeriesBundle, SeriesFile, Stream
from dpportal.streams.series import Series, published
from dpportal.value_choices.disclosure import require_texts

FOLDER = "streams"
# Files that stand first on the public page; the others are unfolded.
FOR_READERS = (".zip", "series.csv", ".xlsx")
# However many periods come, files are written for them so often at most: after so many seconds, and after so many times
# as long as the last writing took.
PAUSE_SECONDS, PAUSE_FACTOR = 15.0, 10.0
# What is asked of a stream to know what its files should say.
OF_TEXTS = ("charge__budget", "dataset", "domain_version", "created_by")
# A reader may still be at a file that was replaced.
REPLACED_SECONDS = 900.0


@dataclass(frozen=True)
class Offered:
    """What readers can have now. files: none before the first are written. periods, last: how far they go.

    are_former: whether the page says something else since they were written. to_come: whether those of the newest
    period are still to be written.
    """

    files: tuple[SeriesFile, ...] = ()
    periods: int = 0
    last: str = ""
    are_former: bool = False
    to_come: bool = False

    @property
    def for_readers(self) -> list[SeriesFile]:
        """The archive, and its tables as programs and spreadsheets open them."""
        return [file for file in self.files if file.name.endswith(FOR_READERS)]


def with_newest(streams: QuerySet[Stream]) -> QuerySet[Stream]:
    """Each with the number `newest` of its newest period, by the index of periods alone; None before the first."""
    newest = Period.objects.filter(stream=OuterRef("pk")).order_by("-index").values("index")
    return streams.annotate(newest=Subquery(newest[:1]))


def offered(stream: Stream) -> Offered:
    """The present files; newer ones are asked for where they are due."""
    written = SeriesBundle.objects.filter(pk=stream.pk).first()
    digests = bundle.text_digests(stream)
    _request(stream, written, digests)
    newest = _newest(stream)
    if written is None or not written.periods or not _files_of(written).stay(stream, digests):
        return Offered(to_come=newest is not None)
    files = tuple(stream.files.filter(replaced_at=None))
    last = stream.calendar.name(written.periods)
    are_former = _files_of(written).digests != digests
    return Offered(files, written.periods, last, are_former, are_former or written.periods != newest)


def _newest(stream: Stream) -> int | None:
    return stream.periods.order_by("-index").values_list("index", flat=True).first()


def _files_of(written: SeriesBundle) -> WrittenFiles:
    digests = TextDigests(written.texts, written.promises, written.spending)
    return WrittenFiles(digests, written.texts_at, written.state == JobState.FAILED)


def note_published(stream: Stream) -> None:
    """Note that readers are given the present files, if these say what the page says; in publishing's transaction."""
    fresh = Stream.objects.select_related(*OF_TEXTS).get(pk=stream.pk)
    says = bundle.text_digests(fresh)._asdict()
    SeriesBundle.objects.filter(pk=stream.pk, **says).update(texts_at=fresh.published_at)


def request(stream: Stream) -> None:
    """Have the files written if they are not those of the newest period, or say something else than the page."""
    written = SeriesBundle.objects.filter(pk=stream.pk).first()
    _request(stream, written, bundle.text_digests(stream))


def _request(stream: Stream, written: SeriesBundle | None, digests: TextDigests) -> None:
    newest = _newest(stream)
    if newest is None or (written is not None and not _is_due(written, newest, digests)):
        return
    with transaction.atomic():
        if written is None:
            written, _new = SeriesBundle.objects.get_or_create(
                stream=stream, defaults={"state": JobState.DONE}
            )
        idle = SeriesBundle.objects.filter(pk=stream.pk, state=written.state, fence=written.fence)
        if not written.active and idle.update(**reset_fields()):
            DOWNLOADS.hint_on_commit(stream.pk)


def _is_due(written: SeriesBundle, newest: int, digests: TextDigests) -> bool:
    """Whether they are to be written now. Texts do not wait for the next time; periods and what was spent beside do."""
    is_current = (written.texts, written.promises) == (digests.texts, digests.promises)
    if written.active or (is_current and (written.periods, written.spending) == (newest, digests.spending)):
        return False
    ended, begun = written.finished_at, written.started_at
    if ended is None or begun is None:
        return True
    since = (database_now() - ended).total_seconds()
    if written.state == JobState.FAILED:
        return since > FAILED_PAUSE_SECONDS
    pause = max(PAUSE_SECONDS, PAUSE_FACTOR * (ended - begun).total_seconds())
    return not is_current or since > pause


class Downloads(JobKind[SeriesBundle]):
    """The files of streams, of which each stream has one job for good."""

    name = "SeriesBundle"
    model = SeriesBundle
    too_long = "The files could not be written within an hour."
    refusals = (ForgedRowError,)

    def work(self, job: SeriesBundle, claim: Claim) -> None:
        _write(job.stream_id, claim)


DOWNLOADS = register(Downloads())


def _write(stream_id: UUID, claim: Claim) -> None:
    claim.step("writing")
    stream, series = watched.read_again(lambda: _as_published(stream_id))
    # Read before the files are written: what changes meanwhile shows itself at the next look.
    at, digests = database_now(), bundle.text_digests(stream)
    files: list[SeriesFile] = []
    if series is not None:
        with storage.scratch_folder() as folder:
            written = bundle.write(stream, series, folder)
            files = store(partial(SeriesFile, stream=stream), written, folder_of(stream.pk))
    watched.read_again(lambda: _as_published(stream_id))
    with transaction.atomic():
        claim.write(periods=int(series.periods[-1]) if series else 0, texts_at=at, **digests._asdict())
        stream.files.filter(replaced_at=None).update(replaced_at=Now())
        SeriesFile.objects.bulk_create(files)
        file_imprints.note(stream, files)
        claim.finish(JobState.DONE)


def _as_published(stream_id: UUID) -> tuple[Stream, Series | None]:
    """A stream and its series, whatever the database says meanwhile. Raises ForgedRowError."""
    stream = Stream.objects.select_related(*OF_TEXTS, "dataset__owner").get(pk=stream_id)
    watched.require_written(stream)
    require_texts(stream)
    require_confirmed(stream, stream.plan.loss)
    series = published(stream)
    if series is not None:
        rows = zip(series.released.tolist(), series.half_widths.tolist(), strict=True)
        period_imprints.require_written(stream, dict(zip(series.periods.tolist(), rows, strict=True)))
    return stream, series


def forget_lost(stream: Stream) -> None:
    """Files that rows name and the storage lacks, as after a restore: they are written again."""
    SeriesBundle.objects.filter(pk=stream.pk).exclude(texts="").update(texts="")


def request_due() -> None:
    """For every public stream that has periods which its files lack."""
    public = Stream.objects.filter(PUBLIC)
    behind = with_newest(public).filter(
        Q(bundle=None, newest__isnull=False) | ~Q(newest=F("bundle__periods"))
    )
    for stream in behind.select_related(*OF_TEXTS):
        request(stream)


def request_all() -> None:
    """For every public stream whose texts changed, too: too many to do so every few seconds."""
    for stream in Stream.objects.filter(PUBLIC):
        request(stream)


def delete_replaced() -> None:
    """Delete the files that nobody is given any more."""
    for file in SeriesFile.objects.filter(replaced_at__lt=db_ago(REPLACED_SECONDS)):
        default_storage.delete(file.stored)
        file.delete()


def folder_of(stream_id: UUID) -> str:
    """Where all files of a stream lie."""
    return f"{FOLDER}/{stream_id}"


def stored_names() -> set[str]:
    """Of the files that rows point to."""
    return set(SeriesFile.objects.values_list("stored", flat=True))
