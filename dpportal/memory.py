"""What the portal remembers outside its database, so that a database restored from an older copy is recognised.

A file for each fact, created once under a name that the transaction fixed, and never written over: whoever comes
second, however late it wakes, finds the first one's. A file is sealed with the key that is outside the database, too,
and bound to its name: who edits one, or puts one in another's place, is noticed. Each is written durably before the
transaction commits that it tells of, so what people could see was remembered first. The folder is not part of a backup:
put back together with an old database, it would have forgotten the same.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from django.conf import settings
from django.utils.translation import gettext as _

from dpportal import bulkhead, storage
from dpportal.bulkhead import HangsError
from dpportal.keys import UnsealError, new_token

MARK = "identity"
# Where files lie until they are complete.
PARTS = "incomplete"
# What file servers put beside the portal's files has other names: .nfs0001, .snapshot, @eaDir, lost+found.
OWN_NAME = re.compile(r"[0-9a-z]+(?:[.-][0-9a-z]+)*")
# Each file is filled up to a multiple of it.
STEP = 2048

Result = TypeVar("Result")


class MemoryFaultError(Exception):
    """The memory is not there or cannot be trusted; the message says why and what to do."""


def recall(name: str) -> dict[str, Any] | None:
    """What is remembered under a name, such as "streams/…/3", empty if that was erased; None if nothing ever was.

    Raises MemoryFaultError.
    """

    def found() -> bytes | None:
        try:
            return _path(name).read_bytes()
        except FileNotFoundError:
            return None

    sealed = _reach(name, found)
    if sealed is None:
        return None
    try:
        text = settings.STREAM_KEYS.unseal(sealed, bound_to=_bound(name)) if sealed else b"{}"
    except UnsealError as fault:
        raise MemoryFaultError(_unsealed_text(name, fault.key)) from None
    content: dict[str, Any] = json.loads(text)
    return content


def holds(name: str) -> bool:
    """Whether anything was ever remembered under a name. Raises MemoryFaultError."""
    return _reach(name, _path(name).exists)


def create(name: str, content: dict[str, Any] | None = None) -> bool:
    """Remember durably, unless something is under that name: then False, and that stays. Raises MemoryFaultError.

    Refused where no memory was begun, as in the empty folder of a disk that is not mounted.
    """
    if name != MARK and not holds(MARK):
        raise MemoryFaultError(lost_text())

    def make() -> bool:
        _make_folders(name)
        return storage.create_durably(_path(name), _sealed(name, content), _path(PARTS))

    return _reach(name, make)


def replace(name: str, content: dict[str, Any] | None = None) -> None:
    """Remember in place of what cannot be read, or erase what must not be kept. Raises MemoryFaultError."""

    def put() -> None:
        _make_folders(name)
        storage.replace_durably(_path(name), _sealed(name, content), _path(PARTS))

    _reach(name, put)


def erase_all(folder: str) -> None:
    """Erase what is remembered under the names of a folder; that something was, stays known."""
    for name in names(folder):
        if _reach(folder, _path(f"{folder}/{name}").stat).st_size:
            replace(f"{folder}/{name}")


def names(folder: str) -> list[str]:
    """What the portal's files and folders in a folder of the memory are called. Raises MemoryFaultError."""

    def listed() -> list[str]:
        try:
            with os.scandir(_path(folder)) as entries:
                return sorted(entry.name for entry in entries if OWN_NAME.fullmatch(entry.name))
        except FileNotFoundError:
            return []

    return _reach(folder, listed)


def reseal(name: str) -> bool:
    """Seal a file with the current key; False if it was. Raises UnsealError."""
    sealed = _path(name).read_bytes()
    fresh = sealed and settings.STREAM_KEYS.resealed(sealed, bound_to=_bound(name))
    if fresh:
        storage.replace_durably(_path(name), fresh, _path(PARTS))
    return bool(fresh)


def probe() -> None:
    """Create a file as every fact is created, and take it away. Raises MemoryFaultError where that is not possible."""
    part, linked = _path(f"{PARTS}/{new_token()}"), _path(f"{PARTS}/{new_token()}")

    def make() -> None:
        _path(PARTS).mkdir(mode=0o700, exist_ok=True)
        part.touch(mode=0o600, exist_ok=False)
        try:
            linked.hardlink_to(part)
            linked.unlink()
        finally:
            part.unlink()

    _reach(PARTS, make)


def mark() -> str:
    """What tells this memory from every other; empty where there is none. Raises MemoryFaultError."""
    content = recall(MARK)
    return content["mark"] if content else ""


def new_mark() -> str:
    """Begin a memory, or go on with the one that is there; returns its mark."""
    if not mark():
        create(MARK, {"mark": new_token()})
    return mark()


def forget_mark() -> None:
    """Let the next mark be a new one."""
    _path(MARK).unlink(missing_ok=True)


def lost_text() -> str:
    """Why nothing can be paid or published, and what to do."""
    return _("The portal's memory is missing, or another one's. ") + remedy()


def remedy() -> str:
    """What to do where the memory is lost."""
    return _(
        "Ask an administrator to put the folder back that DPPORTAL_MEMORY names (memory in the data folder). If it is "
        "lost, and this database is the newest there is, that is confirmed by: manage.py check_restored --accept"
    )


def _reach(name: str, act: Callable[[], Result]) -> Result:
    """Do something with the folder. Raises MemoryFaultError for every fault of the disk.

    Where a web server's request gave up waiting, what it began may still be done: as if it had died right after it.
    """
    try:
        return bulkhead.MEMORY.call(act)
    except OSError as fault:
        raise MemoryFaultError(_out_of_reach_text(name, fault)) from None
    except HangsError:
        raise MemoryFaultError(_hangs_text()) from None


def _make_folders(name: str) -> None:
    storage.make_folder(_path(PARTS))
    storage.make_folder(_path(name).parent)


def _sealed(name: str, content: dict[str, Any] | None) -> bytes:
    """The bytes of a file; none where only its name is to be known."""
    if content is None:
        return b""
    return settings.STREAM_KEYS.seal_json(json.dumps(content).encode(), bound_to=_bound(name), step=STEP)


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
    if key:
        text = _(
            "The portal's memory (%(name)s) is sealed with the key %(key)s, which the portal does not have. Ask an "
            "administrator to restore that key (keys/stream_key, or DPPORTAL_STREAM_KEY)."
        )
        return text % {"name": name, "key": key}
    text = _("The portal's memory was changed (%(name)s), so it cannot be trusted. %(remedy)s")
    return text % {"name": name, "remedy": remedy()}


def _path(name: str) -> Path:
    path: Path = settings.MEMORY_DIR / name
    return path


def _bound(name: str) -> str:
    return f"memory {name}"
