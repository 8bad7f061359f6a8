"""The only writer of the chain: a link for every line of ledger and audit record, in the line's own transaction.

A link's digest is SHA-256 of the digest before it and of its own content's, in hexadecimal digits. So who changes,
removes or swaps a line has to change every later digest, and contradicts each checkpoint that was carried elsewhere.

On PostgreSQL a trigger finds a link's place when its transaction commits (`triggers`), so that no writer waits for
another one's work. On SQLite, where one writes at a time, it is found at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from django.db import connection, models, transaction

from dpportal.history.canonical import Plain, canonical
from dpportal.history.models import Link


@dataclass(frozen=True)
class ChainedRows:
    """Rows that belong in the chain. event: its name in links; rows: all that must be there; facts: what a row says."""

    event: str
    rows: Callable[[], models.QuerySet[Any]]
    facts: Callable[[Any], Mapping[str, Plain]]

    def said(self, row: models.Model) -> dict[str, Plain]:
        """What a row says, and which row it is."""
        return {**self.facts(row), "event": self.event, "line": row.pk}

    def content(self, row: models.Model) -> str:
        """The digest of what a row says."""
        return sha256(canonical(self.said(row))).hexdigest()


# Of every room that has lines in the chain, by event.
sources: dict[str, ChainedRows] = {}


def declare(*declared: ChainedRows) -> None:
    """Let rows of these kinds be linked, and be looked for when the chain is verified."""
    sources.update({source.event: source for source in declared})


def add(source: ChainedRows, row: models.Model) -> None:
    """Link a row that was just written, in the same transaction."""
    with transaction.atomic():
        link = Link(event=source.event, line=row.pk, content=source.content(row))
        if connection.vendor != "postgresql":
            # The row was written before, so that nobody else writes until this transaction ends.
            place(link)
        link.save(force_insert=True)


def place(link: Link) -> None:
    """Put a link behind the last one."""
    last = last_link()
    link.position = last.position + 1 if last and last.position else 1
    link.digest = following(last.digest if last else "", link.content)


def following(digest: str, content: str) -> str:
    """The digest of a link with this content behind one with this digest; "" before the first."""
    return sha256(f"{digest}{content}".encode()).hexdigest()


def last_link() -> Link | None:
    """The newest link that has its place."""
    return Link.objects.filter(position__isnull=False).order_by("-position").first()


def unlinked(source: ChainedRows) -> models.QuerySet[Any]:
    """Rows of a kind that no link names."""
    linked = Link.objects.filter(event=source.event, line=models.OuterRef("pk"))
    return source.rows().filter(~models.Exists(linked))


@transaction.atomic
def begin() -> None:
    """Link what was written before there was a chain, in the order of the rows; nothing where there is one."""
    if not Link.objects.exists():
        for source in sources.values():
            _link_all(source, unlinked(source).order_by("pk").iterator(chunk_size=1000))


def _link_all(source: ChainedRows, rows: Iterable[models.Model]) -> None:
    for row in rows:
        add(source, row)
