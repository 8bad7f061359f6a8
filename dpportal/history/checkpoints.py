"""Signed checkpoints: how far the chain was at a moment, in files outside the database that a site carries elsewhere.

Whoever has one can show later that no line before it was changed, even if database and keys were in one hand since.
The sweep writes them into a folder; `verify` compares the history with all that are there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext as _, gettext_lazy

from dpportal.history import chain
from dpportal.history.canonical import CanonicalValue, canonical
from dpportal.history.models import Link
from dpportal.platform import durable_files
from dpportal.platform.keyed import signing_keys
from dpportal.platform.signing import SignatureError

# The sweep writes one after so long, and after so many lines, whichever is first.
EVERY, EVERY_LINES = timedelta(hours=24), 1000
# Of each line since the checkpoint before, of so many at most, a checkpoint has the beginning of its digest: by these
# the first line that differs is named.
BEGINNING, MOST_LINES = 8, 10_000

CUT = gettext_lazy(
    "The history ends at link %(last)d, and %(name)s has link %(position)d: the last lines were deleted, or the "
    "database was put back from an older copy. If so, move the checkpoints that are newer than the copy elsewhere."
)
FIRST = gettext_lazy("Link %(first)d, %(line)s, is the first that is not as %(name)s says: it was changed.")
EARLIER = gettext_lazy("A line up to link %(first)d is not as %(name)s says: it was changed, or is gone.")


class CheckpointError(Exception):
    """A file is no checkpoint of this portal; the message says why."""


@dataclass(frozen=True)
class Checkpoint:
    """How far the chain was. lines: how the digests of the links after link `since` began, in one text."""

    name: str
    position: int
    digest: str
    at: datetime
    since: int = 0
    lines: str = ""

    def holds(self) -> bool:
        """Whether the chain still has its link."""
        named = Link.objects.filter(position=self.position, digest=self.digest)
        return not self.position or named.exists()

    def contradiction(self, sound: int = 0) -> str:
        """Where the history is not as it says, in a sentence; empty where it is. sound: the link up to which it is."""
        if self.holds():
            return ""
        first, last = self._first_changed(), length()
        if first is None and self.position > last:
            return CUT % {"name": self.name, "position": self.position, "last": last}
        if first is None or (first.position == self.since + 1 and self.since > sound):
            return EARLIER % {"name": self.name, "first": self.since + 1}
        line = f"{first.event} {first.line}"
        return FIRST % {"name": self.name, "first": first.position, "line": line}

    def _first_changed(self) -> Link | None:
        """The first link that begins otherwise; None where the link before these is another one already."""
        width = range(0, len(self.lines), BEGINNING)
        beginnings = [self.lines[begin : begin + BEGINNING] for begin in width]
        links = Link.objects.filter(position__gt=self.since, position__lte=self.position).order_by("position")
        pairs = zip(beginnings, links.iterator(chunk_size=1000), strict=False)
        changed = (link for beginning, link in pairs if not link.digest.startswith(beginning))
        return next(changed, None)


def length() -> int:
    """How many links the chain has."""
    last = chain.last_link()
    return (last.position or 0) if last else 0


def checkpoint_bytes() -> bytes:
    """A checkpoint of the chain as it is now, as the bytes of a file."""
    last, newest = chain.last_link(), newest_written()
    position = (last.position or 0) if last else 0
    since = max(min(newest.position, position) if newest else 0, position - MOST_LINES)
    links = Link.objects.filter(position__gt=since, position__lte=position).order_by("position")
    facts: dict[str, CanonicalValue] = {
        "position": position,
        "digest": last.digest if last else "",
        "at": timezone.now().isoformat(timespec="seconds"),
        "since": since,
        "lines": "".join(digest[:BEGINNING] for digest in links.values_list("digest", flat=True)),
    }
    document = {"checkpoint": facts, **signing_keys().sign(canonical(facts))}
    return json.dumps(document, indent=2).encode() + b"\n"


def read(content: bytes, name: str = "") -> Checkpoint:
    """A checkpoint. Raises CheckpointError unless this portal signed it."""
    try:
        document = json.loads(content)
        facts = document["checkpoint"]
        signing_keys().check(canonical(facts), document)
        at = datetime.fromisoformat(facts["at"])
        since, lines = int(facts.get("since", 0)), str(facts.get("lines", ""))
        return Checkpoint(name, int(facts["position"]), str(facts["digest"]), at, since, lines)
    except SignatureError as fault:
        raise CheckpointError(str(fault)) from None
    except (ValueError, KeyError, TypeError, AttributeError):
        text = _("This file is no checkpoint. Take one that `manage.py checkpoint` wrote, as it was.")
        raise CheckpointError(text) from None


def write(path: Path) -> None:
    """Write a checkpoint, whole or not at all. Raises FileExistsError rather than write over another one."""
    durable_files.make_folder(path.parent)
    if not durable_files.create_durably(path, checkpoint_bytes(), path.parent):
        raise FileExistsError(path)


def write_if_due() -> None:
    """Write a checkpoint where there is none yet, after a day, and after many lines; none is ever written over."""
    last, newest = chain.last_link(), newest_written()
    if last is None or (newest is not None and not _is_due(newest, last.position or 0)):
        return
    write(settings.CHECKPOINTS_DIR / f"checkpoint-{timezone.now():%Y%m%dT%H%M%S}-{last.position}.json")


def _is_due(newest: Checkpoint, position: int) -> bool:
    """Not while the chain is as it was. One that was put back from an older copy is shorter, and goes on from there."""
    is_late = timezone.now() - newest.at >= EVERY or position - newest.position >= EVERY_LINES
    return is_late and position != newest.position


def written() -> list[Path]:
    """The checkpoints that the sweep wrote, in the order of time, and within a second in that of the chain."""
    return sorted(settings.CHECKPOINTS_DIR.glob("checkpoint-*.json"), key=_written_at)


def _files() -> list[Path]:
    """All that lies in the folder, whatever it is called: a renamed checkpoint counts; nothing else belongs there."""
    folder: Path = settings.CHECKPOINTS_DIR
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _written_at(path: Path) -> tuple[str, int, str]:
    """A longer number is a larger one."""
    time, _dash, position = path.stem.rpartition("-")
    return time, len(position), position


def newest_written() -> Checkpoint | None:
    """The last of them; None where there is none, or none that can be read."""
    for path in reversed(written()):
        try:
            return read(path.read_bytes(), path.name)
        except (CheckpointError, OSError):
            continue
    return None


def contradictions(more: list[Checkpoint]) -> Iterator[str]:
    """What the written checkpoints, and more that were carried elsewhere, say otherwise: the earliest first."""
    known = list(more)
    for path in _files():
        try:
            known.append(read(path.read_bytes(), path.name))
        except FileNotFoundError:
            continue  # one that another machine was writing has its own name now
        except (CheckpointError, OSError) as fault:
            yield f"{path.name}: {fault}"
    sound = 0
    for checkpoint in sorted(known, key=lambda checkpoint: checkpoint.position):
        if text := checkpoint.contradiction(sound):
            yield text
            return  # what follows from a line that differs differs, too
        sound = checkpoint.position
