"""What lies in the portal's folders and is not its own: nothing else looks there, so whoever verifies is told.

Nobody deletes it: a bucket, a disk or a folder of keys may have been given more than the portal's files. In the
portal's own folders of the storage `sweeping` deletes what nothing names.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from django.conf import settings
from django.core.files.storage import default_storage

from dpportal.budgets import charge_journal, charge_places
from dpportal.datasets import erasure_journal
from dpportal.history import heads
from dpportal.operations import sweeping
from dpportal.operations.stored_folders import STORED
from dpportal.platform import journal, master_key, storage
from dpportal.platform.journal import MemoryFaultError
from dpportal.publications import withdrawal_journal
from dpportal.streams import period_journal

# Of the memory, where files lie one below the folder of whom they are about.
CHARGES = (charge_journal.FOLDER, charge_places.FOLDER)
REMEMBERED = (*CHARGES, period_journal.FOLDER, withdrawal_journal.FOLDER, erasure_journal.FOLDER)
HISTORY, HEAD = heads.NAME.split("/")
# Of a file server or of a file system.
OF_A_SERVER = re.compile(r"\.nfs\w+|\.snapshots?|@eaDir|lost\+found")
SECRETS = ("secret_key", "fingerprint_key", "stream_key", "signing_key")
KEY_FILES = frozenset({master_key.USED, *SECRETS, *(f"{name}.old" for name in SECRETS)})
# What a process writes before it has the name of a key file, with random digits or its own number.
KEY_PART = re.compile(rf"\.({'|'.join(map(re.escape, sorted(KEY_FILES)))})\.([0-9a-f]{{16}}|\d+)")
# Names that `storage`, Python, gunicorn and matplotlib give.
TEMPORARY = re.compile(rf"({storage.OWN}|tmp|wgunicorn-|matplotlib-).*")


def strange_files() -> Iterator[str]:
    """The names of all of them, each with the folder that it lies in."""
    yield from _in_storage()
    yield from _in_memory()
    yield from _among_keys()


def _in_storage() -> Iterator[str]:
    """Files in none of the portal's folders."""
    try:
        folders, files = default_storage.listdir("")
    except FileNotFoundError:
        return
    yield from sorted(name for name in files if not OF_A_SERVER.fullmatch(name))
    for folder in sorted({*folders} - STORED):
        if not OF_A_SERVER.fullmatch(folder):
            yield from storage.names_under(folder)


def _in_memory() -> Iterator[str]:
    """Names that the portal never gives, and files that it did not seal."""
    known = {journal.MARK, journal.PARTS, HISTORY, *REMEMBERED}
    yield from (f"memory/{name}" for name in sorted({*_named("")} - known))
    yield from (f"memory/{HISTORY}/{name}" for name in _named(HISTORY) if name != HEAD)
    for folder in REMEMBERED:
        for owner in _named(folder):
            inner = f"{folder}/{owner}"
            yield from (f"memory/{inner}/{name}" for name in _named(inner) if not _is_own(f"{inner}/{name}"))
            if (settings.MEMORY_DIR / inner).is_file():
                yield f"memory/{inner}"


def _named(folder: str) -> list[str]:
    path = settings.MEMORY_DIR / folder
    names = (each.name for each in path.iterdir()) if path.is_dir() else ()
    return sorted(name for name in names if not OF_A_SERVER.fullmatch(name))


def _is_own(name: str) -> bool:
    """Of charges and places the sentence about each is said elsewhere."""
    if not journal.OWN_NAME.fullmatch(name.rpartition("/")[2]):
        return False
    try:
        return name.partition("/")[0] in CHARGES or journal.recall(name) is not None
    except (IsADirectoryError, MemoryFaultError):
        return False


def _among_keys() -> Iterator[str]:
    folder = settings.DATA_DIR / "keys"
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        is_own = path.name in KEY_FILES or KEY_PART.fullmatch(path.name)
        if not is_own and not OF_A_SERVER.fullmatch(path.name):
            yield f"keys/{path.name}"


def in_scratch() -> Iterator[str]:
    """What lies long among temporary files and bears no name that the sweep knows, and what bears a time to come.

    A library at work writes there under names of its own, for less than that.
    """
    folder = Path(settings.SCRATCH_DIR)
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        with suppress(FileNotFoundError):  # its owner was faster
            age = time.time() - path.stat().st_mtime
            is_old = age > sweeping.ORPHANS_AFTER.total_seconds() and not TEMPORARY.fullmatch(path.name)
            if is_old or -age > sweeping.CLOCKS_DIFFER.total_seconds():
                yield f"scratch/{path.name}"
