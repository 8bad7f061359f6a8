"""When the files of releases are written again, and what an administrator sets going again."""

from uuid import UUID

from django.db.models import Q, QuerySet

from dpportal.accounts.models import User
from dpportal.datasets.models import Dataset, PublicDescription
from dpportal.jobs import claims
from dpportal.jobs.claims import reset_fields
from dpportal.jobs.clock import db_ago
from dpportal.releases.display_texts import outdated
from dpportal.releases.execution import RELEASES, void_left
from dpportal.releases.models import ChangedPromise, Release, ReleaseJob

# For so long a job's end is looked at again: words may have changed while it wrote.
JUST_ENDED_SECONDS = 600


def resume_on_hold(dataset_id: UUID) -> None:
    """Go on with the releases of a dataset that waited for an administrator."""
    claims.resume_on_hold(ReleaseJob.objects.filter(release__dataset=dataset_id), RELEASES.hint_on_commit)


def rewrite_files(releases: QuerySet[Release]) -> None:
    """Have the files of those releases written again that say something else than their pages by now."""
    for release in outdated(releases):
        ended = ReleaseJob.objects.filter(pk=release.pk, state=release.job.state)
        if ended.update(**reset_fields()):
            RELEASES.hint_on_commit(release.pk)


def sweep_words() -> None:
    """Look at all releases: too many to do so every few seconds."""
    rewrite_files(Release.objects.all())


def dataset_saved(instance: Dataset, **_signal: object) -> None:
    """Its name may be another one."""
    rewrite_files(Release.objects.filter(dataset=instance))


def records_erased(sender: object, dataset: Dataset, **_signal: object) -> None:
    """Why its jobs failed goes with what they read."""
    ReleaseJob.forget_failures(dataset)


def description_saved(instance: PublicDescription, **_signal: object) -> None:
    """It may say something else, or not be for readers any more."""
    rewrite_files(Release.objects.filter(dataset=instance.dataset_id))


def budget_charged(dataset: Dataset, **_signal: object) -> None:
    """What else is promised of the same people stands in the files of other releases, of all that is bound together.

    Only noted: everyone who charges one of these datasets waits for this transaction. The sweep compares.
    """
    noted = [ChangedPromise(dataset=dataset)]
    ChangedPromise.objects.bulk_create(
        noted, update_conflicts=True, unique_fields=["dataset"], update_fields=["mark"]
    )


def _compare_charged() -> None:
    """Look at the files of all that is bound to what was charged; what is charged meanwhile stays noted."""
    noted = list(ChangedPromise.objects.select_related("dataset"))
    bound = {each.pk for change in noted for each in change.dataset.bound_together}
    if bound:
        rewrite_files(Release.objects.filter(dataset__in=bound))
    for change in noted:
        ChangedPromise.objects.filter(pk=change.pk, mark=change.mark).delete()


def person_saved(instance: User, update_fields: frozenset[str] | None, **_signal: object) -> None:
    """Readers may know them by another name."""
    if update_fields is None or "display_name" in update_fields:
        rewrite_files(Release.objects.filter(created_by=instance))


def sweep() -> None:
    """Have files written again that said what was not said any more when their job ended.

    Every other change is heard of; what was not, `sweep_words` finds.
    """
    _compare_charged()
    rewrite_files(Release.objects.filter(Q(words="") | Q(job__finished_at__gt=db_ago(JUST_ENDED_SECONDS))))
    void_left()
