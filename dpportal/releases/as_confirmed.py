"""Releases as they were confirmed and paid for: by these noise is drawn and files are signed."""

from __future__ import annotations

from uuid import UUID

from dpportal.budgets.confirmed import require_confirmed
from dpportal.history import watched
from dpportal.releases.models import Release
from dpportal.releases.products import confirmed_plan
from dpportal.value_choices.disclosure import require_texts

_ROWS = Release.objects.select_related("dataset", "domain_version", "charge__budget", "created_by")


def release_of(release_id: UUID) -> Release:
    """A release with what it belongs to, as the database has it."""
    return _ROWS.get(pk=release_id)


def confirmed_release(release_id: UUID) -> Release:
    """The same, once it is what the portal wrote, whatever the database says meanwhile. Raises ForgedRowError."""
    return watched.read_again(lambda: _confirmed(release_id))


def described_release(release_id: UUID) -> Release:
    """The same, with all whose texts stand in its files. Raises ForgedRowError."""

    def read() -> Release:
        release = _confirmed(release_id)
        require_texts(release)
        return release

    return watched.read_again(read)


def _confirmed(release_id: UUID) -> Release:
    release = release_of(release_id)
    watched.require_written(release)
    require_confirmed(release, confirmed_plan(release).loss)
    return release
