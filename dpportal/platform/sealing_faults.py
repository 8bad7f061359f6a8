"""Why sealed records cannot be opened, in words for the person or job that tried."""

from __future__ import annotations

from django.conf import settings
from django.utils.translation import gettext as _

from dpportal.platform.storage import StorageFault


class KeyMissingFault(StorageFault):
    """Records can neither be opened nor sealed, since the key is missing. key: its identity."""

    def __init__(self, key: str) -> None:
        super().__init__(key_missing_text(key))


class FileChangedFault(StorageFault):
    """A sealed file is not what the portal wrote."""

    def __init__(self) -> None:
        super().__init__(
            _(
                "A stored file was changed since the portal wrote it, so it is not read, and nothing was spent. Ask an "
                "administrator to put the file back from a backup."
            )
        )


class KeyLostFault(StorageFault):
    """A dataset's own key is not in the database, so that what it sealed cannot be opened."""

    def __init__(self) -> None:
        super().__init__(
            _(
                "These records cannot be opened: their key is not in the database. Either they were just deleted, or "
                "the database was put back from a copy that is older than the key. An administrator then has to put "
                "back a newer one."
            )
        )


class FileGoneFault(FileNotFoundError):  # noqa: N818 a fault of whoever keeps the files, as the others here
    """A file of records is not there: a fault of no server, so that no job waits for it as for a storage."""

    def __init__(self) -> None:
        super().__init__(
            _(
                "A stored file of this dataset is not there. Where it did not arrive whole, upload the table again; "
                "else ask an administrator to put the file back from a backup."
            )
        )


def key_missing_text(key: str) -> str:
    """What a missing key means, and what to do."""
    text = _(
        "The portal does not have the key %(key)s, with which people's records are sealed. Nothing is lost, but no "
        "record can be opened, stored or counted. Ask an administrator to put the master key back (its file, "
        "DPPORTAL_MASTER_KEY or DPPORTAL_MASTER_KEY_COMMAND) and to start the portal again."
    )
    return text % {"key": key}


def obstacle() -> str:
    """Why this machine can open and seal no records, for an administrator; empty if it can."""
    missing: str = settings.MASTER_KEYS.missing
    return key_missing_text(missing) if missing else ""
