"""The end of a job that rings its curator's bell, as an event."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _

from dpportal.jobs.announcements import AnnouncedJob
from dpportal.jobs.claims import JobKey, JobState
from dpportal.notices.announcing import announce
from dpportal.notices.events import Event, EventKind
from dpportal.platform.stored_texts import in_site_language


def job_ended(sender: type[Any], pk: JobKey, state: JobState, **_signal: object) -> None:
    """Announce the end of a job to whoever started it, in the transaction that ends it."""
    if not issubclass(sender, AnnouncedJob) or state not in (JobState.DONE, JobState.FAILED):
        return
    job: Any = sender._base_manager.get(pk=pk)
    if job.is_news:
        announce(_event(job, state), [job.requester])


@in_site_language
def _event(job: Any, state: JobState) -> Event:
    ended = "waiting" if job.asks else state.value
    texts = {
        "done": _("A job of yours has ended."),
        "failed": _("A job of yours could not be done."),
        "waiting": _("A job of yours waits for your word."),
    }
    return Event(
        EventKind.JOB,
        {**job.ids, "state": ended},
        job.get_absolute_url(),
        texts[ended],
        f"{job.title}\n{texts[ended]}",
    )
