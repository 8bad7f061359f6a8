"""What the portal remembers outside its database, so that a database restored from an older copy is recognised.

A file for each thing that is remembered, in a folder of its own, sealed with the key that is outside the database,
too, and bound to its name: who edits a file, or puts one in another's place, is noticed. Each is written durably before
the transaction commits that it tells of, so what people could see was remembered first. The folder is not part of a
backup: put back together with an old database, it would have forgotten the same.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from dpportal import storage
from dpportal.keys import UnsealError, new_token

MARK = "mark"
# Each file is filled up to a multiple of it.
STEP = 4096


class MemoryFaultError(Exception):
    """The memory is not there or cannot be trusted; the message says why and what to do."""


def recall(name: str) -> dict[str, Any] | None:
    """What is remembered under a name, such as "streams/…"; None if nothing is. Raises MemoryFaultError."""
    try:
        sealed = _path(name).read_bytes()
    except FileNotFoundError:
        return None
    except OSError as fault:
        raise MemoryFaultError(_out_of_reach_text(name, fault)) from None
    try:
        content: dict[str, Any] = json.loads(settings.STREAM_KEYS.unseal(sealed, bound_to=_bound(name)))
    except UnsealError as fault:
        raise MemoryFaultError(_unsealed_text(name, fault.key)) from None
    return content


def remember(name: str, content: dict[str, Any]) -> None:
    """Remember durably, in place of what was under that name. Raises MemoryFaultError."""
    text = json.dumps(content).encode()
    sealed = settings.STREAM_KEYS.seal_json(text, bound_to=_bound(name), step=STEP)
    path = _path(name)
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        storage.write_durably(path, sealed)
    except OSError as fault:
        raise MemoryFaultError(_out_of_reach_text(name, fault)) from None


def names(folder: str) -> list[str]:
    """The names under which anything is remembered in a folder."""
    path = settings.MEMORY_DIR / folder
    return sorted(f"{folder}/{p.name}" for p in path.glob("*") if not p.name.startswith("."))


def reseal(name: str) -> bool:
    """Seal a file with the current key; False if it was. Raises UnsealError."""
    sealed = settings.STREAM_KEYS.resealed(_path(name).read_bytes(), bound_to=_bound(name))
    if sealed is not None:
        storage.write_durably(_path(name), sealed)
    return sealed is not None


def mark() -> str:
    """What tells this memory from every other; empty where there is none. Raises MemoryFaultError."""
    kept = recall(MARK)
    return kept["mark"] if kept else ""


def new_mark() -> str:
    """Begin a memory, or go on with the one that is there; returns its mark."""
    if not mark():
        remember(MARK, {"mark": new_token()})
    return mark()


def forget_mark() -> None:
    """Let the next mark be a new one."""
    _path(MARK).unlink(missing_ok=True)


def remedy() -> str:
    """What to do where the memory is lost."""
    return _(
        "Ask an administrator to put the folder back that DPPORTAL_MEMORY names (memory in the data folder). If it is "
        "lost, and this database is the newest there is, that is confirmed by: manage.py check_restored --accept"
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
