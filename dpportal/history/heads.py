"""How far the chain is, in the journal outside the database: who cuts off its end in the database alone is noticed.

The sweep remembers it every few seconds, so no checkpoint has to be near. It never writes over a link that the chain
lacks by now: an administrator's word does, after a restore.
"""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.translation import gettext as _

from dpportal.history import chain
from dpportal.history.models import Link
from dpportal.platform import journal
from dpportal.platform.journal import MemoryFaultError
from dpportal.platform.json_types import Json

NAME = "history/head"


def keep() -> None:
    """Remember the newest link, unless one is remembered that the chain lacks. Raises MemoryFaultError."""
    head = journal.recall(NAME)
    if head is None or _is_there(head):
        _renew(head)


def renew() -> None:
    """Remember the newest link, whatever is remembered. Raises MemoryFaultError."""
    _renew(journal.recall(NAME))


def _renew(before: Json | None) -> None:
    last = chain.last_link()
    head = {"position": last.position, "digest": last.digest} if last else None
    if head is None or head == before:
        return
    if before is None:
        journal.create(NAME, head)
    else:
        journal.replace(NAME, head)


def position() -> int:
    """Up to which link the journal says how the chain is; 0 where it says nothing."""
    try:
        return int((journal.recall(NAME) or {}).get("position", 0))
    except MemoryFaultError:
        return 0


def contradictions() -> Iterator[str]:
    """Whether the chain lacks what is remembered, in a sentence."""
    try:
        head = journal.recall(NAME)
    except MemoryFaultError as fault:
        yield str(fault)
        return
    if head is not None and not _is_there(head):
        text = _(
            "The history lacks link %(position)s, which the portal's memory has: the last lines were deleted, or the "
            "database was put back from an older copy. If it is the newest there is, confirm that by: manage.py "
            "check_restored --accept"
        )
        yield text % {"position": head.get("position", "")}


def _is_there(head: Json) -> bool:
    return Link.objects.filter(position=head.get("position"), digest=head.get("digest")).exists()
