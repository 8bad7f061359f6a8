"""A release: draft, job, what was measured, what was published."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from contextlib import AbstractContextManager
from functools import lru_cache

from django.db import models
from django.urls import reverse
from django.utils.translation import gettext, gettext_lazy as _, gettext_noop

from dpportal.accounts import audit
from dpportal.accounts.models import User
from dpportal.budgets.charged_publication import ChargedPublication
from dpportal.budgets.counted_rows import CountedRows
from dpportal.budgets.models import LedgerEntry
from dpportal.charts.counted_word import counted_word, counting_rows
from dpportal.datasets.models import Dataset, DomainVersion
from dpportal.history.watched import WatchedQuerySet
from dpportal.jobs.announcements import AnnouncedJob
from dpportal.platform.json_digest import json_digest
from dpportal.platform.json_types import Json
from dpportal.platform.sealed import SealedField
from dpportal.publications.downloads import PublishedFile
from dpportal.releases import titles
from mechanisms.accounting import PrivacyUnit
from mechanisms.domain import Attribute, Domain


class Releases(WatchedQuerySet["Release"]):
    """Many releases."""

    def estimated_people(self) -> int | None:
        """How many people there are by the curator's last word, in a draft or a release; None where nobody said."""
        return self.exclude(people=None).values_list("people", flat=True).first()

    def keep_estimate(self, people: int, dataset: Dataset, by: User) -> None:
        """Remember how many people the curator thinks there are, in the draft that the next one begins with."""
        if people == self.estimated_people():
            return
        untouched = Release.objects.untouched().filter(dataset=dataset, created_by=by)
        if not untouched.update(people=people):
            Release.objects.create(dataset=dataset, created_by=by, people=people)
        audit.record(by, gettext_noop("estimated the people"), dataset)

    def untouched(self) -> Releases:
        """Drafts in which nothing was chosen yet."""
        drafts = self.filter(state=Release.State.DRAFT, title="", mechanism="", amount=None)
        return drafts.filter(columns=[], parameters={})

    def drafts(self) -> Releases:
        """Drafts in which something was chosen, the newest first."""
        chosen = self.filter(state=Release.State.DRAFT).exclude(pk__in=Release.objects.untouched())
        return chosen.order_by("-changed_at")

    def confirmed(self) -> Releases:
        """What budget was set aside for, as its curator sees it: what waits to be published first."""
        waits = models.Q(state=Release.State.READY, published_at=None)
        order = models.Case(models.When(waits, then=0), default=1, output_field=models.IntegerField())
        return self.exclude(state=Release.State.DRAFT).order_by(order, "-created_at")


LONGEST_TITLE = titles.LONGEST


class Release(ChargedPublication):
    """One differentially private release of a dataset; its id is the identity of its job and of its charge."""

    PUBLISHABLE_SINCE = "measured_at"

    class State(models.TextChoices):
        DRAFT = "draft", _("Draft")
        REQUESTED = "requested", _("In work")
        MEASURED = "measured", _("Being written")
        READY = "ready", _("Ready")
        FAILED = "failed", _("Failed")
        CANCELLED = "cancelled", _("Cancelled")

    class Product(models.TextChoices):
        HISTOGRAM = "histogram", _("Histogram and synthetic table")
        QUERIES = "queries", _("Answers to many queries")
        MICRODATA = "microdata", _("Synthetic table of many columns")
        MEANS = "means", _("Totals and means")
        SUMMARY = "summary", _("Summary (Table 1)")
        SELECTION = "selection", _("Private choice")
        RESPONSE = "response", _("Randomised answers")

    class Purpose(models.TextChoices):
        CELLS = "cells", _("Single cells")
        RANGES = "ranges", _("Ranges: sums over any interval of neighbouring cells")
        TOTALS = "totals", _("Running totals: sums from the first cell on")

    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="releases")
    title = models.CharField(_("title"), max_length=LONGEST_TITLE, blank=True)
    product = models.CharField(max_length=20, choices=Product.choices, default=Product.HISTOGRAM)
    columns = models.JSONField(default=list)
    parameters = models.JSONField(default=dict)
    purpose = models.CharField(max_length=10, choices=Purpose.choices, default=Purpose.CELLS)
    people = models.PositiveBigIntegerField(_("your estimate of the number of people"), null=True)
    state = models.CharField(max_length=10, choices=State.choices, default=State.DRAFT)
    skipped_steps = models.JSONField(default=list)

    domain_version = models.ForeignKey(
        DomainVersion, null=True, on_delete=models.PROTECT, related_name="releases"
    )
    charge = models.OneToOneField(LedgerEntry, null=True, on_delete=models.PROTECT, related_name="release")
    # Said with the confirmation: publish it as soon as there is something to publish.
    publishes_itself = models.BooleanField(default=False)
    measured_at = models.DateTimeField(null=True)
    measurement = models.CharField(max_length=200, blank=True)
    measurement_sha256 = SealedField(null=True)
    true_counts = models.CharField(max_length=200, blank=True)
    # Of a table that lies elsewhere: engine, table and time, as JSON.
    read_from = models.CharField(max_length=400, blank=True)
    # What its public page shows, see `results`; empty before there are files.
    result = models.CharField(max_length=200, blank=True)
    # Digests of what the files of its bundle say besides numbers, see `DisplayTexts`; empty before there are any.
    words = models.CharField(max_length=64, blank=True, editable=False)
    promises = models.CharField(max_length=64, blank=True, editable=False)
    spending = models.CharField(max_length=64, blank=True, editable=False)
    # When these were read, or readers were first given them, see `WrittenFiles`.
    words_at = models.DateTimeField(null=True, editable=False)

    objects = Releases.as_manager()

    def __str__(self) -> str:
        return self.title or str(self.id)

    def get_absolute_url(self) -> str:
        return reverse("releases:public", args=[self.pk])

    @property
    def proposed_title(self) -> str:
        """What it is called unless its curator says otherwise."""
        counted = counted_word(self.unit.max_rows)
        return titles.proposed(self.product, self.columns, self._question, counted, self._own_titles)

    @property
    def columns_named(self) -> str:
        """What stands for its columns where there is a line for them."""
        return titles.named(self.columns, self._question) if self.columns else ""

    @property
    def columns_shown(self) -> str:
        """The same with what readers see in place of the columns' names."""
        return self.columns_called(self._own_titles) if self.columns else ""

    @property
    def all_columns(self) -> str:
        """The names of many of them, where `columns_shown` has the first alone."""
        return titles.all_named(self.columns, self._own_titles)

    def columns_called(self, own: Mapping[str, str]) -> str:
        """The same where the titles that columns were declared with are known, by name."""
        return titles.worded(self.columns, self._question, own) if self.columns else ""

    @property
    def _own_titles(self) -> dict[str, str]:
        """Of those columns that were declared with one. Their values are not read, of which there may be thousands."""
        version = self.domain_version or self.dataset.current_domain()
        if version is None:
            return {}
        lines = version.attributes.filter(column__in=self.columns, declaration__has_key="title")
        titled = lines.values_list("column", "declaration__title")
        return {column: title for column, title in titled if title}

    @property
    def _question(self) -> Json:
        if self.product == self.Product.QUERIES:
            return {"workload": self.parameters.get("workload", "")}
        asking = (self.Product.SELECTION, self.Product.MEANS, self.Product.SUMMARY)
        return self.parameters if self.product in asking else {}

    def skip(self, *steps: str) -> None:
        """Of a draft: the portal has made the choices of these steps of the wizard."""
        self.skipped_steps = list(dict.fromkeys((*self.skipped_steps, *steps)))

    def go_through(self, step: str) -> None:
        """Of a draft: its person has sent the page of a step, so that its choices are theirs."""
        self.skipped_steps = [name for name in self.skipped_steps if name != step]

    @property
    def counted_columns(self) -> list[str]:
        columns: list[str] = self.columns
        return columns

    @property
    def declaration(self) -> DomainVersion:
        """The declared domains of the whole table, as the release was confirmed."""
        assert self.domain_version is not None
        return self.domain_version

    @property
    def unit(self) -> PrivacyUnit:
        """Whom it protects, as it was confirmed; of a draft whom the newest declaration does."""
        version = self.domain_version or self.dataset.current_domain()
        return version.unit if version else PrivacyUnit()

    @property
    def domain(self) -> Domain:
        """The domain of its columns, as the release was confirmed."""
        return self.declaration.domain().project(self.columns)

    @property
    def confirmed_charge(self) -> LedgerEntry:
        """What it costs, from the confirmation on."""
        assert self.charge is not None
        return self.charge

    @property
    def person_column(self) -> str:
        """Whose equal values are one person's rows, as it was confirmed; empty where each person has one row."""
        return self.declaration.unit_column

    @property
    def picks_row(self) -> bool:
        """Whether a person can have several rows, of which one counts, drawn at random; of a draft as declared now."""
        version = self.domain_version or self.dataset.current_domain()
        return version is not None and bool(version.unit_column) and version.max_rows == 1

    def counting(self) -> AbstractContextManager[None]:
        """Within it charts say what its counts are counts of."""
        return counting_rows(self.unit.max_rows, picks_row=self.picks_row)

    @property
    def leaving_columns(self) -> list[str]:
        """The columns of which a closed one leaves rows out: of a summary that of the groups, which comes first."""
        columns: list[str] = self.columns
        return columns[: bool(self.parameters.get("group"))] if self.is_summary else columns

    @property
    def leaving_attributes(self) -> tuple[Attribute, ...]:
        """Those columns as they were declared."""
        return self.domain.project(self.leaving_columns).attributes

    @property
    def counted_rows(self) -> CountedRows:
        return _counted_rows(self.pk, is_of_now=bool(self.read_from))

    @property
    def is_cancelled(self) -> bool:
        """Whether its curator stopped it before anything was measured."""
        return self.state == self.State.CANCELLED

    @property
    def is_selection(self) -> bool:
        """Whether it is a private choice."""
        return self.product == self.Product.SELECTION

    @property
    def is_means(self) -> bool:
        """Whether it is totals and means."""
        return self.product == self.Product.MEANS

    @property
    def is_summary(self) -> bool:
        """Whether it is a summary of many columns."""
        return self.product == self.Product.SUMMARY

    @property
    def is_response(self) -> bool:
        """Whether it is randomised answers."""
        return self.product == self.Product.RESPONSE

    @property
    def is_ready(self) -> bool:
        return self.state == self.State.READY

    @property
    def is_publishable(self) -> bool:
        return self.is_ready


@lru_cache(maxsize=1024)
def _counted_rows(release_id: uuid.UUID, *, is_of_now: bool) -> CountedRows:
    """Of a release that was confirmed, whose declaration stays: a reader's page does not read hundreds of columns.

    is_of_now: see `CountedRows`.
    """
    rows = Release.objects.select_related("domain_version").defer(*Release.UNLISTED)
    release = rows.get(pk=release_id)
    declaration = release.declaration
    return CountedRows(
        frozenset((a.name, json_digest(a.to_json())) for a in release.domain.attributes),
        tuple(a.shown_name for a in release.leaving_attributes if a.leaves_out),
        declaration.max_rows if declaration.unit_column else None,
        is_of_now,
    )


class ReleaseJob(AnnouncedJob):
    """The job that makes a requested release; it exists from the confirmation on."""

    release = models.OneToOneField(Release, primary_key=True, on_delete=models.CASCADE, related_name="job")
    # How often what is left after the measurement was put off, after as many interruptions as a job may have.
    put_off = models.PositiveSmallIntegerField(default=0)
    to_dataset = "release__dataset"
    to_person = "release__created_by"

    def __str__(self) -> str:
        return gettext("Job of %(subject)s") % {"subject": self.release_id}

    def get_absolute_url(self) -> str:
        return reverse("releases:job", args=[self.release_id])

    @property
    def is_news(self) -> bool:
        """Files that are written anew, with other words, are none."""
        return self.release.state in (Release.State.REQUESTED, Release.State.MEASURED)

    @property
    def ids(self) -> dict[str, str]:
        return {"dataset": str(self.release.dataset_id), "release": str(self.release_id)}

    @property
    def requester(self) -> User:
        return self.release.created_by

    @property
    def title(self) -> str:
        return str(self.release)

    @property
    def dataset(self) -> Dataset:
        return self.release.dataset


class ChangedPromise(models.Model):
    """That a dataset was charged since files were compared with what is promised beside them. Written by `tasks`.

    mark: another one with each charge, so that whoever compared deletes no later one.
    """

    dataset = models.OneToOneField(Dataset, primary_key=True, on_delete=models.CASCADE, related_name="+")
    mark = models.UUIDField(default=uuid.uuid4, editable=False)

    def __str__(self) -> str:
        return gettext("Changed promise of %(subject)s") % {"subject": self.dataset_id}


class Artifact(PublishedFile):
    """One file of a release's bundle."""

    release = models.ForeignKey(Release, on_delete=models.CASCADE, related_name="artifacts")
    sha256 = SealedField(null=True)
    about = models.CharField(max_length=200)

    class Meta(PublishedFile.Meta):
        constraints = [models.UniqueConstraint(fields=["release", "name"], name="one_artifact_per_name")]

    @property
    def publication(self) -> Release:
        return self.release
