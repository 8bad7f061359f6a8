"""A stream: running counts that are published again every period, and the secrets that make them private."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.urls import reverse
from django.utils.translation import gettext, gettext_lazy as _

from dpportal.accounts.models import User
from dpportal.accounts.program_tokens import ProgramToken
from dpportal.budgets.charged_publication import ChargedPublication
from dpportal.budgets.counted_rows import CountedRows
from dpportal.budgets.models import LedgerEntry
from dpportal.datasets.models import Dataset, DomainVersion
from dpportal.history.watched import WatchedManager
from dpportal.jobs.announcements import AnnouncedJob
from dpportal.jobs.claims import ACTIVE, Job, JobState
from dpportal.platform.json_types import Json
from dpportal.platform.listed_names import joint
from dpportal.platform.sealed import SealedField
from dpportal.publications.downloads import PublishedFile
from dpportal.streams.calendar import Calendar
from mechanisms.continual.mechanism import StreamPlan


class Stream(ChargedPublication):
    """Running counts of a dataset's people; its id is the identity of its charge.

    column: of the rows that are counted; empty for every row. cells: those of the column that count, as places in
    its declaration. split: instead, a running count for each cell. summed: a whole-number column whose values are
    added up instead of counting rows. labels: one for each running count, fixed when the stream is opened.
    """

    PUBLISHABLE_SINCE = "opened_at"
    UNLISTED = (*ChargedPublication.UNLISTED, "cells", "labels")

    class State(models.TextChoices):
        DRAFT = "draft", _("Draft")
        OPENING = "opening", _("Being opened")
        OPEN = "open", _("Open")
        CLOSED = "closed", _("Closed")
        FAILED = "failed", _("Failed")

    class Step(models.TextChoices):
        DAY = "day", _("Day")
        WEEK = "week", _("Week, from Monday")
        MONTH = "month", _("Month")
        NEXT = "next", _("No calendar: just the next period")

    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="streams")
    name = models.CharField(_("name"), max_length=160)
    description = models.TextField(_("description"), blank=True)
    column = models.CharField(max_length=200, blank=True)
    cells = models.JSONField(default=list)
    split = models.BooleanField(default=False)
    summed = models.CharField(max_length=200, blank=True)
    largest_increment = models.PositiveBigIntegerField(null=True)
    step = models.CharField(max_length=5, choices=Step.choices, default=Step.MONTH)
    first_day = models.DateField(null=True)
    horizon = models.PositiveIntegerField(null=True)
    # The curator's own estimate of the last running count, for what to expect; published nowhere.
    expected = models.PositiveBigIntegerField(null=True)
    state = models.CharField(max_length=8, choices=State.choices, default=State.DRAFT)

    domain_version = models.ForeignKey(
        DomainVersion, null=True, on_delete=models.PROTECT, related_name="streams"
    )
    labels = models.JSONField(default=list)
    charge = models.OneToOneField(LedgerEntry, null=True, on_delete=models.PROTECT, related_name="stream")
    token_sha256 = models.CharField(max_length=64, blank=True)
    opened_at = models.DateTimeField(null=True)
    closed_at = models.DateTimeField(null=True)
    # Closed since the database was put back from an older copy that lacks periods that people have seen.
    closed_by_restore = models.BooleanField(default=False)
    # When its decisions were erased in the memory; null before its end, and while the memory cannot be reached.
    forgotten_at = models.DateTimeField(null=True, editable=False)

    objects = WatchedManager()

    class Meta(ChargedPublication.Meta):
        verbose_name = _("running count")
        verbose_name_plural = _("running counts")

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("streams:public", args=[self.pk])

    @property
    def counted_columns(self) -> list[str]:
        return [self.column] if self.column else []

    @property
    def counted_rows(self) -> CountedRows:
        return CountedRows(is_of_periods=True)

    @property
    def is_opening(self) -> bool:
        """Whether a worker is to open it."""
        return self.state == self.State.OPENING

    @property
    def is_closed(self) -> bool:
        """Whether no further period is published."""
        return self.state == self.State.CLOSED

    @property
    def is_failed(self) -> bool:
        """Whether it could not be opened."""
        return self.state == self.State.FAILED

    @property
    def is_open(self) -> bool:
        return self.state == self.State.OPEN

    @property
    def was_opened(self) -> bool:
        return self.opened_at is not None

    @property
    def calendar(self) -> Calendar:
        return Calendar(self.step, self.first_day)

    @property
    def plan(self) -> StreamPlan:
        """The plan that was frozen when the stream was opened."""
        plan: Json | None = self.plan_json
        if plan is None:
            raise ValueError("a stream has a plan once it was confirmed")
        return StreamPlan.from_json(plan)


class Period(models.Model):
    """One published period: what everyone may see of it. Nothing of it depends on what it was made from but by noise.

    key: the digest of the request that published it, where that has a key; see `publications.idempotency_keys`.
    """

    class Source(models.TextChoices):
        TYPED = "typed", _("Typed")
        PROGRAM = "program", _("Program")
        RECORDS = "records", _("Records")
        COUNTS = "counts", _("Many periods")

    stream = models.ForeignKey(Stream, on_delete=models.CASCADE, related_name="periods")
    index = models.PositiveIntegerField()
    released = models.JSONField()
    half_width = models.BigIntegerField()
    key = models.CharField(max_length=64, blank=True)
    source = models.CharField(max_length=7, choices=Source.choices)
    published_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["index"]
        constraints = [models.UniqueConstraint(fields=["stream", "index"], name="a_period_is_published_once")]

    def __str__(self) -> str:
        return gettext("Period %(number)s of %(subject)s") % {"number": self.index, "subject": self.stream_id}


class Token(ProgramToken):
    """Until when a stream's token opens it; its digest stands in the stream. `tokens` writes it."""

    stream = models.OneToOneField(Stream, primary_key=True, on_delete=models.CASCADE, related_name="token")
    # The token of the API that a program asked for it with, which it ends with.
    made_with = models.UUIDField(null=True)

    objects = WatchedManager()

    def __str__(self) -> str:
        return f"Token of {self.stream_id}"


class SealedState(models.Model):
    """A stream's secret noise and true sums, sealed; `version` counts its changes. Written by `vault` only."""

    stream = models.OneToOneField(
        Stream, primary_key=True, on_delete=models.CASCADE, related_name="sealed_state"
    )
    version = models.PositiveBigIntegerField(default=0)
    sealed = models.BinaryField()

    def __str__(self) -> str:
        return f"Sealed state of {self.stream_id}"


class SealedSums(models.Model):
    """The true running counts after a period, sealed; only the curator's compare page opens them."""

    period = models.OneToOneField(
        Period, primary_key=True, on_delete=models.CASCADE, related_name="sealed_sums"
    )
    sealed = models.BinaryField()

    def __str__(self) -> str:
        return f"Sealed sums of {self.period_id}"


class PeriodSketch(models.Model):
    """What the file held that a period was counted from; sealed. Written and read by `repeated_files` only."""

    period = models.OneToOneField(Period, primary_key=True, on_delete=models.CASCADE, related_name="sketch")
    content = SealedField()

    def __str__(self) -> str:
        return f"Sketch of {self.period_id}"


class StreamJob(AnnouncedJob):
    """What a worker does for a stream: open it, or publish periods from a file.

    index: the period that a file of records is for. file: in the dataset's private folder while the job needs it.
    """

    class Kind(models.TextChoices):
        OPEN = "open", _("Opening")
        RECORDS = "records", _("Count a file of records")
        COUNTS = "counts", _("Add many periods")

    to_dataset = "stream__dataset"
    to_person = "created_by"
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    stream = models.ForeignKey(Stream, on_delete=models.CASCADE, related_name="jobs")
    kind = models.CharField(max_length=7, choices=Kind.choices)
    index = models.PositiveIntegerField(null=True)
    file = models.CharField(max_length=200, blank=True)
    file_name = models.CharField(max_length=255, blank=True)
    options = SealedField(default=dict)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")

    class Meta(AnnouncedJob.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["stream"],
                condition=models.Q(state__in=ACTIVE),
                name="one_job_of_a_stream_at_a_time",
            )
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}{joint(':')}{self.stream_id}"

    def get_absolute_url(self) -> str:
        return reverse("streams:home", args=[self.stream_id])

    @property
    def opens(self) -> bool:
        """Whether it opens its stream; every other one publishes periods."""
        return self.kind == self.Kind.OPEN

    @property
    def counts_records(self) -> bool:
        """Whether it counts a file of records, so that its progress is in rows."""
        return self.kind == self.Kind.RECORDS

    @property
    def failure_for_administrators(self) -> str:
        """Not why a file of records failed: where a line is at fault, its number says how many there are at least."""
        if self.counts_records and self.failure:
            return str(_("Whoever sent the file reads why on the running count's page."))
        return super().failure_for_administrators

    @property
    def repeats(self) -> list[str]:
        """The periods whose file held nearly the same rows, while the curator has not said whether these are new.

        All with a file where the rows were not compared; see `repeated_files`.
        """
        return [self.stream.calendar.name(index) for index in self._open_questions.get("repeats", ())]

    @property
    def preview(self) -> dict[str, int]:
        """What a file of many periods would publish, while the curator has not said that it shall; see `preview`."""
        preview: dict[str, int] = self._open_questions.get("preview", {})
        return preview

    @property
    def is_confirmed(self) -> bool:
        """Whether the curator has said that it shall be published."""
        return isinstance(self.options, dict) and bool(self.options.get("confirmed"))

    @property
    def asks(self) -> bool:
        """Whether it waits for the curator's word."""
        return bool(self._open_questions.get("repeats") or self._open_questions.get("preview"))

    @property
    def _open_questions(self) -> Json:
        return self.options if self.state == JobState.DONE and isinstance(self.options, dict) else {}

    @property
    def ids(self) -> dict[str, str]:
        return {"dataset": str(self.stream.dataset_id), "stream": str(self.stream_id)}

    @property
    def requester(self) -> User:
        return self.created_by

    @property
    def title(self) -> str:
        return f"{self.stream.name}{joint(':')}{self.get_kind_display()}"

    @property
    def dataset(self) -> Dataset:
        return self.stream.dataset


class SeriesBundle(Job):
    """The job that writes the files of a stream's download, from what is published; written by `downloads` only.

    periods: how many the present files hold, 0 while there are none. texts: the digest of what they say besides
    numbers, by which it is known whether the page still says the same. promises, spending: the digests of what is
    promised beside the stream, and of how much was spent under that (see `OtherPromises`). texts_at: when what the
    present files say was read, or readers were first given it; None if that is not known.
    """

    stream = models.OneToOneField(Stream, primary_key=True, on_delete=models.CASCADE, related_name="bundle")
    periods = models.PositiveIntegerField(default=0)
    texts = models.CharField(max_length=64, blank=True)
    promises = models.CharField(max_length=64, blank=True)
    spending = models.CharField(max_length=64, blank=True)
    texts_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return gettext("Files of %(subject)s") % {"subject": self.stream_id}


class SeriesFile(PublishedFile):
    """One file of a stream's download. replaced_at: since when there is a newer one; readers may still be at it."""

    stream = models.ForeignKey(Stream, on_delete=models.CASCADE, related_name="files")
    sha256 = models.CharField(max_length=64)
    about = models.CharField(max_length=300)
    replaced_at = models.DateTimeField(null=True, db_index=True)

    class Meta(PublishedFile.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["stream", "name"],
                condition=models.Q(replaced_at=None),
                name="one_present_file_per_name",
            )
        ]

    @property
    def publication(self) -> Stream:
        return self.stream
