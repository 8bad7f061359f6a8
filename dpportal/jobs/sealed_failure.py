"""Jobs that read records: why one failed is sealed, and goes with them.

A message has no value of the data, but where a line is at fault its number says how many there are at least.
"""

from __future__ import annotations

from django.utils.translation import gettext_noop

from dpportal.jobs.claims import Job
from dpportal.platform.sealed import SealedField

WHY_DELETED = gettext_noop("The reason was deleted with the records.")


class RecordsJob(Job):
    """A job that reads people's records."""

    failure = SealedField(default=str)

    class Meta(Job.Meta):
        abstract = True
