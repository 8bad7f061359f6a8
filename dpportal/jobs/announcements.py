"""Jobs whose end is announced at the curator's bell."""

from __future__ import annotations

from typing import ClassVar, Self, TypeVar

from django.db import models
from django.db.models import Q

from dpportal.jobs.claims import JobState
from dpportal.jobs.sealed_failure import WHY_DELETED, RecordsJob

M = TypeVar("M", bound=models.Model)


class AnnouncedJob(RecordsJob):
    """A job whose end rings the curator's bell.

    A subclass has a `title`, its `dataset`, the `ids` of what it works for, its `requester`, and by `get_absolute_url`
    a page that shows how it ended. to_dataset: the names that lead from the job to its dataset; to_person: to whoever
    asked for it. seen: whether that person looked since it ended.
    """

    to_dataset: ClassVar[str]
    to_person: ClassVar[str]
    seen = models.BooleanField(default=False)

    class Meta(RecordsJob.Meta):
        abstract = True

    @property
    def is_news(self) -> bool:
        """Whether its requester waits for its end; asked in the transaction that ends it."""
        return True

    @property
    def asks(self) -> bool:
        """Whether it ended with a question to its requester."""
        return False

    @classmethod
    def ended(cls, person: models.Model, datasets: models.QuerySet[M]) -> models.QuerySet[Self]:
        """The jobs on these datasets that this person asked for and that came to an end, the newest first."""
        theirs = {cls.to_person: person, f"{cls.to_dataset}__in": datasets}
        ended = Q(state__in=(JobState.DONE, JobState.FAILED), **theirs)
        return cls._default_manager.filter(ended).select_related(cls.to_dataset).order_by("-finished_at")

    @classmethod
    def forget_failures(cls, dataset: models.Model) -> None:
        """When a dataset's records are erased: that its jobs failed stays, and why goes."""
        failed = cls._base_manager.filter(**{cls.to_dataset: dataset}, state=JobState.FAILED)
        failed.update(failure=WHY_DELETED)


def announced() -> list[type[AnnouncedJob]]:
    """Every kind of job that rings the bell."""
    return AnnouncedJob.__subclasses__()
