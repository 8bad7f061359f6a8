"""How a release becomes public: by its curator's word now, or by the one that they gave with the confirmation."""

from __future__ import annotations

from contextlib import suppress

from django.db import transaction
from django.utils.translation import gettext as _

from dpportal.accounts.models import User
from dpportal.budgets import confirming
from dpportal.datasets.access import require_releaser
from dpportal.platform.journal import MemoryFaultError
from dpportal.publications import publishing
from dpportal.releases.display_texts import note_published
from dpportal.releases.models import Release


class StaysPrivateError(Exception):
    """It cannot be published now; the message says why."""


def publish(release: Release, by: User, refused: type[Exception] = StaysPrivateError) -> None:
    """Show the release to everyone; one that is public stays as it is. Raises `refused` with why it cannot be."""

    def require() -> None:
        if not release.is_publishable:
            raise refused(_("Only a finished release can be published."))
        require_releaser(release.dataset, by.pk, refused)
        confirming.require_all_charges(release.dataset, refused)

    try:
        with transaction.atomic():
            if publishing.publish(release, by, require):
                note_published(release)
    except MemoryFaultError as fault:
        raise refused(str(fault)) from None


def publish_as_decided(release: Release) -> None:
    """Once, at the end of its job: publish what was to be published without a look at true counts.

    release: as its job read it, which has what was confirmed whatever its row says by now.
    Where it cannot be, it waits for its curator: nothing is published by itself later. One that was public, and
    withdrawn, before an older copy of the database was put back is withdrawn as it was.
    """
    waiting = Release.objects.filter(pk=release.pk, publishes_itself=True)
    if not (release.publishes_itself and waiting.update(publishes_itself=False)):
        return
    with suppress(StaysPrivateError, MemoryFaultError), transaction.atomic():
        if not publishing.withdraw_again(release) and release.withdrawn_at is None:
            publish(release, release.created_by)
