"""What a release's files say besides its numbers; all of it can be changed, or taken back, after they were written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils.translation import override

from dpportal.budgets.promises import OtherPromises
from dpportal.datasets.models import PublicDescription
from dpportal.jobs.claims import JobState
from dpportal.jobs.clock import database_now, db_ago
from dpportal.platform.json_digest import json_digest
from dpportal.publications.downloads import FAILED_PAUSE_SECONDS
from dpportal.publications.metadata import About
from dpportal.publications.written_files import TextDigests, WrittenFiles, promises_digest
from dpportal.releases.models import Artifact, Release

# However often is spent beside a release, its files are written for that alone once in so many seconds at most; less
# than the sweep looks back.
PAUSE_SECONDS = 60.0
# Raised when files are written otherwise than before: then all are written again, and the former stay meanwhile.
FORMAT = 12


@dataclass(frozen=True)
class DisplayTexts:
    """about: what readers may know of the dataset, as it is permitted now. others: what else is promised of it."""

    title: str
    dataset: str
    curator: str
    about: About
    others: OtherPromises

    @classmethod
    def of(
        cls, release: Release, about: About | None = None, others: OtherPromises | None = None
    ) -> DisplayTexts:
        """about, others: as they are now, where they are known already."""
        return cls(
            release.title,
            release.dataset.name,
            _public_name(release),
            release.dataset.about if about is None else about,
            release.other_promises if others is None else others,
        )

    @property
    def digests(self) -> TextDigests:
        """What a bundle says that is written now. `FORMAT` counts as something that was spent beside."""
        texts: list[object] = [self.title, self.dataset, self.curator, self.about.facts()]
        if others := self.others.named:
            texts.append(others)
        promises = promises_digest(others, self.about)
        return TextDigests(json_digest(texts), promises, json_digest([FORMAT, self.others.spending]))

    def are_in(self, release: Release) -> bool:
        """Whether its files say all of it."""
        return _text_digests_of(release) == self.digests


def _text_digests_of(release: Release) -> TextDigests:
    return TextDigests(release.words, release.promises, release.spending)


def _public_name(release: Release) -> str:
    """The curator's, as files have it: they are written in the site's language, whoever reads now."""
    with override(settings.LANGUAGE_CODE):
        return release.created_by.public_name


def offered_files(release: Release, words: DisplayTexts) -> Sequence[Artifact]:
    """The files of a finished release as readers get them: all, or none.

    Where the page says something else since they were written, these are the former files until the new ones are
    there; see `WrittenFiles`.
    """
    written = WrittenFiles(_text_digests_of(release), release.words_at, release.job.state == JobState.FAILED)
    return list(release.artifacts.all()) if written.stay(release, words.digests) else []


def note_published(release: Release) -> None:
    """Note that readers are given the present files, if these say what the page says; in publishing's transaction."""
    fresh = Release.objects.select_related("dataset", "created_by", "charge__budget").get(pk=release.pk)
    if DisplayTexts.of(fresh).are_in(fresh):
        Release.objects.filter(pk=release.pk).update(words_at=fresh.published_at)


def current_files(release: Release) -> Sequence[Artifact]:
    """See `offered_files`, with the words of now."""
    return offered_files(release, DisplayTexts.of(release))


def forget_lost(release: Release) -> None:
    """Have the files of a release written again: one that its rows name is not there any more."""
    Release.objects.filter(pk=release.pk).update(words="")


def outdated(releases: QuerySet[Release]) -> list[Release]:
    """Those whose files were made, say something else by now, and are not being made anew.

    Where more was spent beside them only, they are left out until their pause is over; where making them failed, for a
    while.
    """
    now = database_now()
    failed = Q(job__state=JobState.FAILED, job__finished_at__lt=db_ago(FAILED_PAUSE_SECONDS))
    ended = Q(job__state=JobState.DONE) | failed
    finished = releases.filter(ended, state=Release.State.READY)
    shown = {each.dataset_id: each.about() for each in PublicDescription.objects.filter(shown=True)}
    promises: dict[int | None, OtherPromises] = {}  # the same for all that one account has paid
    changed = []
    for release in finished.select_related(
        "dataset", "created_by", "domain_version", "charge__budget", "job"
    ).prefetch_related("charge__budget__dataset__budgets"):
        paying = release.account.pk if release.account else None
        if paying not in promises:
            promises[paying] = release.other_promises
        about = shown.get(release.dataset_id, About())
        words = DisplayTexts.of(release, about, promises[paying])
        # Texts and promises do not wait for the next time.
        pauses = _text_digests_of(release)[:2] == words.digests[:2] and _pauses(release, now)
        if not words.are_in(release) and not pauses:
            changed.append(release)
    return changed


def _pauses(release: Release, now: datetime) -> bool:
    """Whether its files were written so lately that readers are given them some seconds more."""
    ended = release.job.finished_at
    return ended is not None and (now - ended).total_seconds() < PAUSE_SECONDS
