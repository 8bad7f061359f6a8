"""How far the chain is, in the journal outside the database: who cuts off its end in the database alone is noticed.

It is remembered from the moment that the journal begins, and the sweep renews it every few seconds, so no checkpoint
has to be near. The sweep neither writes over a link that the chain lacks by now, nor begins anew where the file is
gone: an administrator's word does both, after a restore.
"""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.translation import gettext as _

from dpportal.history import chain, checkpoints
from dpportal.history.models import Link
from dpportal.platform import journal
from dpportal.platform.journal import MemoryFaultError
from dpportal.platform.json_types import Json

NAME = "history/head"
NONE: Json = {"position": 0, "digest": ""}


def begin() -> None:
    """Remember a chain of no links where the journal begins; what it has already stays. Raises MemoryFaultError."""
    journal.create(NAME, NONE)


def keep() -> None:
    """Remember the newest link, unless one is remembered that the chain lacks, or the file is gone.

    Raises MemoryFaultError.
    """
    head = journal.recall(NAME)
    if head and _is_there(head):
        _renew(head)


def renew() -> None:
    """Remember the newest link, whatever is remembered, or cannot be read. Raises MemoryFaultError."""
    try:
        _renew(journal.recall(NAME))
    except MemoryFaultError:
        _renew({})


def _renew(before: Json | None) -> None:
    head = _newest()
    if before is None:
        journal.create(NAME, head)
    elif head != before:
        journal.replace(NAME, head)


def _newest() -> Json:
    last = chain.last_link()
    return {"position": last.position, "digest": last.digest} if last else NONE


def position() -> int:
    """Up to which link the journal says how the chain is; 0 where it says nothing."""
    try:
        return int((journal.recall(NAME) or {}).get("position", 0))
    except MemoryFaultError:
        return 0


def contradictions() -> Iterator[str]:
    """Whether the chain lacks what is remembered, or nothing is remembered any more, in a sentence."""
    try:
        head = journal.recall(NAME)
    except MemoryFaultError as fault:
        yield str(fault)
        return
    if not head:
        yield f"{_deleted_text()} {_compare_text()}"
    elif not _is_there(head):
        yield f"{_lacking_text(head)} {_compare_text()}"


def _is_there(head: Json) -> bool:
    link = Link.objects.filter(position=head.get("position"), digest=head.get("digest"))
    return head == NONE or link.exists()


def _deleted_text() -> str:
    return _(
        "The portal's memory does not say any more how far the history is: its file %(name)s was deleted or emptied. "
        "Since then the history could be made anew without being noticed here."
    ) % {"name": NAME}


def _lacking_text(head: Json) -> str:
    """A chain that is shorter may be an older copy; another link in its place is what came after one, or a forgery."""
    last, position = checkpoints.length(), head.get("position", 0)
    if last < position:
        text = _(
            "The history ends at link %(last)d, and the portal's memory has link %(position)d. Either the database was "
            "put back from an older copy, or somebody deleted the last lines."
        )
    else:
        text = _(
            "Link %(position)d of %(last)d is not the one that the portal's memory has. Either the database was put "
            "back from an older copy and went on since, or somebody changed an earlier line and made the history anew."
        )
    return text % {"last": last, "position": position}


def _compare_text() -> str:
    """What tells one from the other, and when an administrator's word is right."""
    return _(
        "Compare it with a checkpoint that was carried elsewhere, and is older than any copy that was put back: "
        "manage.py verify --since FILE. That agrees with an honest history, and not with one that was made anew. Only "
        "if it agrees, and this database is the newest there is, confirm that by: manage.py check_restored --accept"
    )
