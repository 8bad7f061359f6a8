"""How much one curator can put into the portal."""

from __future__ import annotations

from django.conf import settings
from django.db.models import QuerySet, Sum
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext as _, gettext_noop

from dpportal.accounts.models import AuditEntry, User
from dpportal.datasets.begun_uploads import BegunUpload
from dpportal.datasets.faults import DatasetError
from dpportal.datasets.models import Dataset, DirectUpload
from dpportal.jobs.clock import db_ago

UPLOADED, CONNECTED = gettext_noop("uploaded"), gettext_noop("connected a table")
OPENED = gettext_noop("opened without a table")


def megabytes(size: int) -> int:
    """The size of a file, rounded up: exact bytes would tell whether somebody is in it."""
    return -(-size // 2**20)


def require_room(by: User, megabytes: int) -> None:
    """Refuse an upload where a curator's tables are too many in a day, too many at once, or too large together."""
    User.objects.select_for_update(no_key=True).get(pk=by.pk)  # two at once are counted one after the other
    mine = Dataset.objects.filter(owner=by)
    coming = [rows.filter(owner=by) for rows in _coming()]
    waiting = sum(rows.count() for rows in (mine.filter(state=Dataset.State.CONVERTING), *coming))
    if waiting >= settings.WAITING_UPLOADS:
        raise DatasetError(
            _("%(most)s of your uploads wait to be read. Upload this one when some of them have been read.")
            % {"most": settings.WAITING_UPLOADS}
        )
    stored = sum(
        rows.aggregate(stored=Sum("megabytes", default=0))["stored"]
        for rows in (mine.exclude(state=Dataset.State.ERASED), *coming)
    )
    if (stored + megabytes) * 2**20 > settings.CURATOR_BYTES:
        raise DatasetError(
            _(
                "With this file your tables would take more than %(most)s, which is what the portal keeps for one "
                "person. Delete the records of a table that you do not need any more, or ask an administrator."
            )
            % {"most": filesizeformat(settings.CURATOR_BYTES)}
        )
    count_upload(by)


def _coming() -> tuple[QuerySet[DirectUpload], QuerySet[BegunUpload]]:
    """Files that were announced and are not whole yet."""
    return DirectUpload.objects.all(), BegunUpload.objects.filter(finished=False)


def count_upload(by: User) -> None:
    """Refuse one upload too many of a curator in a day, whatever is in the files."""
    actions = {"by": by, "action__in": (UPLOADED, CONNECTED, OPENED)}
    today = AuditEntry.objects.filter(**actions, at__gt=db_ago(24 * 3600)).count()
    if today + sum(rows.filter(owner=by).count() for rows in _coming()) >= settings.UPLOADS_PER_DAY:
        raise DatasetError(
            _(
                "You have uploaded %(most)s tables within a day, the most that this portal takes from one person. "
                "Upload this one tomorrow, or ask an administrator to raise the limit."
            )
            % {"most": settings.UPLOADS_PER_DAY}
        )
