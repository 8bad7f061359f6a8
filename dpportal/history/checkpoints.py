"""Signed checkpoints: how far the chain was at a moment, in a file that a site carries elsewhere.

Whoever has one can show later that no line before it was changed, even if database and keys were in one hand since.
"""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext as _

from dpportal.history import chain
from dpportal.history.canonical import Plain, canonical
from dpportal.history.models import Link
from dpportal.history.verification import Place
from dpportal.platform import storage
from dpportal.platform.keyed import signing_keys
from dpportal.platform.signing import SignatureError

EVERY = timedelta(hours=24)


class CheckpointError(Exception):
    """A file is no checkpoint of this portal; the message says why."""


def made() -> bytes:
    """A checkpoint of the chain as it is now, as the bytes of a file."""
    last = chain.last_link()
    facts: dict[str, Plain] = {
        "position": last.position if last else 0,
        "digest": last.digest if last else "",
        "at": timezone.now().isoformat(timespec="seconds"),
    }
    document = {"checkpoint": facts, **signing_keys().sign(canonical(facts))}
    return json.dumps(document, indent=2).encode() + b"\n"


def read(content: bytes) -> Place:
    """The place that a checkpoint names. Raises CheckpointError unless this portal signed it."""
    try:
        document = json.loads(content)
        facts = document["checkpoint"]
        signing_keys().check(canonical(facts), document)
        return Place(int(facts["position"]), str(facts["digest"]))
    except SignatureError as fault:
        raise CheckpointError(str(fault)) from None
    except (ValueError, KeyError, TypeError, AttributeError):
        text = _("This file is no checkpoint. Take one that `manage.py checkpoint` wrote, as it was.")
        raise CheckpointError(text) from None


def write(path: Path) -> None:
    """Write a checkpoint, whole or not at all. Raises FileExistsError rather than write over another one."""
    storage.make_folder(path.parent)
    if not storage.create_durably(path, made(), path.parent):
        raise FileExistsError(path)


def write_nightly() -> None:
    """Write the checkpoint of the day, unless the chain is as it was; none that is there is ever written over."""
    last, newest = chain.last_link(), _newest()
    if last is None or (newest and (_age(newest) < EVERY or _is_of(newest, last))):
        return
    write(settings.CHECKPOINTS_DIR / f"checkpoint-{timezone.now():%Y%m%dT%H%M%S}-{last.position}.json")


def _newest() -> Path | None:
    """The checkpoint that was written last; names are in the order of time."""
    return max(settings.CHECKPOINTS_DIR.glob("checkpoint-*.json"), default=None)


def _is_of(path: Path, link: Link) -> bool:
    try:
        return read(path.read_bytes()) == Place(link.position or 0, link.digest)
    except CheckpointError:
        return False


def _age(path: Path) -> timedelta:
    return timedelta(seconds=timezone.now().timestamp() - path.stat().st_mtime)
