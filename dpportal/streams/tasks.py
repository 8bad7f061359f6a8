"""What the sweep does for streams besides their jobs, and what an administrator sets going again."""

from uuid import UUID

from dpportal.jobs import claims
from dpportal.streams import closing, downloads
from dpportal.streams.job_execution import STREAM_JOBS, void_left
from dpportal.streams.models import StreamJob


def resume_on_hold(dataset_id: UUID) -> None:
    """Go on with the jobs of a dataset's streams that waited for an administrator."""
    claims.resume_on_hold(StreamJob.objects.filter(stream__dataset=dataset_id), STREAM_JOBS.hint_on_commit)


def sweep() -> None:
    """Have files written for the periods that came, delete those that nobody is given any more, forget what ended."""
    void_left()
    closing.sweep()
    downloads.request_due()
    downloads.delete_replaced()
