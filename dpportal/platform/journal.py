"""The journal outside the database, by which a database that was restored from an older copy is recognised.

Each fact is a file, created once under a name that the transaction fixed, and never written over: a second writer,
however late it wakes, finds the first one's file. A file is sealed with the key that is outside the database, too, and
bound to its name, so that an edited or swapped file is noticed. It is written durably before its transaction commits,
so the journal has everything that people could see; what takes something away (a withdrawal, an erasure) is written
right after, so that an act that failed is not done later. The folder is not part of the database's backup: put back
together with an old database, it would lack the same. Settings and pages call the journal “memory”.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from django.conf import settings
from django.utils.translation import gettext as _

from dpportal.platform import bulkhead, durable_files
from dpportal.platform.bulkhead import HangsError
from dpportal.platform.json_types import Json
from dpportal.platform.keys import UnsealError, new_token
from dpportal.platform.sealing_faults import key_missing_text

MARK = "identity"
# Where files lie until they are complete.
PARTS = "incomplete"
# The portal's own names; file servers put others beside them: .nfs0001, .snapshot, @eaDir, lost+found.
OWN_NAME = re.compile(r"[0-9a-z]+(?:[.-][0-9a-z]+)*")
# Each file is padded to a multiple of so many bytes.
STEP = 2048

T = TypeVar("T")


class MemoryFaultError(Exception):
    """The journal is missing or cannot be trusted; the message says why and what to do."""


def recall(name: str) -> Json | None:
    """The content under a name, such as "streams/…/3"; empty if it was erased, None if there never was any.

    Raises MemoryFaultError.
    """

    def read() -> bytes | None:
        try:
            return _path(name).read_bytes()
        except FileNotFoundError:
            return None

    sealed = _reach(name, read)
    if sealed is None:
        return None
    try:
        text = settings.STREAM_KEYS.unseal(sealed, bound_to=_bound(name)) if sealed else b"{}"
    except UnsealError as fault:
        raise MemoryFaultError(_unsealed_text(name, fault.key)) from None
    content: Json = json.loads(text)
    return content


def holds(name: str) -> bool:
    """Whether a name was ever created. Raises MemoryFaultError."""
    return _reach(name, _path(name).exists)


def create(name: str, content: Json | None = None, *, unless: str = "") -> bool:
    """Create a file durably; False if the name is taken, whose file then stays as it is. Raises MemoryFaultError.

    Refused where no journal was begun, as in the empty folder of a disk that is not mounted. unless: a name; where that
    is there by then, the file's content is erased again, also if nobody waits for the answer any more.
    """
    if name != MARK and not holds(MARK):
        raise MemoryFaultError(lost_text())

    def make() -> bool:
        _make_folders(name)
        is_new = durable_files.create_durably(_path(name), _sealed(name, content), _path(PARTS))
        if is_new and unless and _path(unless).exists():
            durable_files.replace_durably(_path(name), _sealed(name, None), _path(PARTS))
        return is_new

    return _reach(name, make)


def replace(name: str, content: Json | None = None) -> None:
    """Write over an unreadable file, or erase a file's content. Raises MemoryFaultError."""

    def put() -> None:
        _make_folders(name)
        durable_files.replace_durably(_path(name), _sealed(name, content), _path(PARTS))

    _reach(name, put)


def erase(name: str) -> None:
    """Erase the content of a file, if there is any; its name stays. Raises MemoryFaultError."""
    if holds(name) and _reach(name, _path(name).stat).st_size:
        replace(name)


def erase_all(folder: str) -> None:
    """Erase the content of all files of a folder, also of those that were not completed; their names stay."""
    for name in names(folder):
        erase(f"{folder}/{name}")
    _reach(folder, lambda: durable_files.drop_parts(_path(PARTS), _path(folder)))


def names(folder: str) -> list[str]:
    """The names of the portal's files and folders in a folder of the journal. Raises MemoryFaultError."""

    def listed() -> list[str]:
        try:
            with os.scandir(_path(folder)) as entries:
                return sorted(entry.name for entry in entries if OWN_NAME.fullmatch(entry.name))
        except FileNotFoundError:
            return []

    return _reach(folder, listed)


def count(folder: str) -> int:
    """How many files a folder of the journal has with names that have no point. Raises MemoryFaultError."""

    def counted() -> int:
        try:
            with os.scandir(_path(folder)) as entries:
                return sum("." not in entry.name for entry in entries)
        except FileNotFoundError:
            return 0

    return _reach(folder, counted)


def reseal(name: str) -> bool:
    """Seal a file with the current key; False if it is already. Raises UnsealError."""
    sealed = _path(name).read_bytes()
    fresh = sealed and settings.STREAM_KEYS.resealed(sealed, bound_to=_bound(name))
    if fresh:
        durable_files.replace_durably(_path(name), fresh, _path(PARTS))
    return bool(fresh)


def probe() -> None:
    """Create a file in the same way and of the same length as a charge's, and delete it.

    Raises MemoryFaultError where that fails. A full disk may still take an empty file, so this one has content.
    """
    part, linked = _path(f"{PARTS}/{new_token()}"), _path(f"{PARTS}/{new_token()}")

    def make() -> None:
        _path(PARTS).mkdir(mode=0o700, exist_ok=True)
        try:
            part.write_bytes(bytes(2 * STEP))
            linked.hardlink_to(part)
            linked.unlink()
        finally:
            part.unlink(missing_ok=True)

    _reach(PARTS, make)


def mark() -> str:
    """The identity of this journal; empty where there is no journal. Raises MemoryFaultError."""
    content = recall(MARK)
    return content["mark"] if content else ""


def new_mark() -> str:
    """Begin a journal, or go on with the existing one; returns its mark."""
    if not mark():
        create(MARK, {"mark": new_token()})
    return mark()


def forget_mark() -> None:
    """Let the next mark be a new one."""
    _path(MARK).unlink(missing_ok=True)


def lost_text() -> str:
    """The text where the journal is lost: why nothing can be paid or published, and what to do."""
    return _("The portal's memory is missing, or another one's. ") + remedy()


def remedy() -> str:
    """What to do where the journal is lost."""
    return _(
        "Ask an administrator to put the folder back that DPPORTAL_MEMORY names (memory in the data folder). If it is "
        "lost, and this database is the newest there is, that is confirmed by: manage.py check_restored --accept"
    )


def _reach(name: str, act: Callable[[], T]) -> T:
    """Do something with the folder. Raises MemoryFaultError for every fault of the disk.

    A call that a web request gave up on may still be done later, as if the process had died right after it.
    """
    try:
        return bulkhead.MEMORY.call(act)
    except OSError as fault:
        raise MemoryFaultError(_out_of_reach_text(name, fault)) from None
    except HangsError:
        raise MemoryFaultError(_hangs_text()) from None


def _make_folders(name: str) -> None:
    durable_files.make_folder(_path(PARTS))
    durable_files.make_folder(_path(name).parent)


def _sealed(name: str, content: Json | None) -> bytes:
    """The bytes of a file; none where only its name is to be known."""
    if content is None:
        return b""
    try:
        return settings.STREAM_KEYS.seal_json(json.dumps(content).encode(), bound_to=_bound(name), step=STEP)
    except UnsealError as fault:
        raise MemoryFaultError(key_missing_text(fault.key)) from None


def _hangs_text() -> str:
    return _(
        "The disk of the portal's memory does not answer. Try again in a minute, and ask an administrator to see to it "
        "if it lasts."
    )


def _out_of_reach_text(name: str, fault: OSError) -> str:
    text = _(
        "The portal's memory (%(name)s) cannot be reached: %(fault)s. Ask an administrator to see to its disk."
    )
    return text % {"name": name, "fault": fault.strerror}


def _unsealed_text(name: str, key: str) -> str:
    if settings.MASTER_KEYS.missing:
        return key_missing_text(settings.MASTER_KEYS.missing)
    if key:
        text = _(
            "The portal's memory (%(name)s) is sealed with the key %(key)s, which the portal does not have. Ask an "
            "administrator to restore that key (keys/stream_key, or DPPORTAL_STREAM_KEY)."
        )
        return text % {"name": name, "key": key}
    text = _("The portal's memory was changed (%(name)s), so it cannot be trusted. %(remedy)s")
    return text % {"name": name, "remedy": remedy()}


def _path(name: str) -> Path:
    return settings.MEMORY_DIR / name


def _bound(name: str) -> str:
    return f"memory {name}"
