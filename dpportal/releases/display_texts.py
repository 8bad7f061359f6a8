"""What a release's files say besides its numbers; all of it can be changed, or taken back, after they were written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from dpportal.budgets.promises import OtherPromises
from dpportal.datasets.models import PublicDescription
from dpportal.jobs.claims import JobState
from dpportal.publications.metadata import About
from dpportal.releases.models import Artifact, Release


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
            release.created_by.public_name,
            release.dataset.about if about is None else about,
            release.other_promises if others is None else others,
        )

    @property
    def digest(self) -> str:
        texts: list[object] = [self.title, self.dataset, self.curator, self.about.facts()]
        if self.others != OtherPromises():
            texts.append(self.others.facts())
        return hashlib.sha256(json.dumps(texts, sort_keys=True).encode()).hexdigest()


def current_files(release: Release) -> Sequence[Artifact]:
    """The files of a finished release that say what its page says: all, or none while they are written again."""
    return list(release.artifacts.all()) if release.words == DisplayTexts.of(release).digest else []


def forget_lost(release: Release) -> None:
    """Have the files of a release written again: one that its rows name is not there any more."""
    Release.objects.filter(pk=release.pk).update(words="")


def outdated(releases: QuerySet[Release]) -> list[Release]:
    """Those whose files were made, say something else by now, and are not being made anew."""
    finished = releases.filter(state=Release.State.READY, job__state=JobState.DONE)
    shown = {each.dataset_id: each.about() for each in PublicDescription.objects.filter(shown=True)}
    promises: dict[int | None, OtherPromises] = {}  # the same for all that one account has paid
    changed = []
    for release in finished.select_related(
        "dataset", "created_by", "domain_version", "charge__budget"
    ).prefetch_related("charge__budget__dataset__budgets"):
        paying = release.account.pk if release.account else None
        if paying not in promises:
            promises[paying] = release.other_promises
        about = shown.get(release.dataset_id, About())
        if release.words != DisplayTexts.of(release, about, promises[paying]).digest:
            changed.append(release)
    return changed
