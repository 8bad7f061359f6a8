"""The only writer of the chain: a link for every line of ledger and audit record, in the line's own transaction.

A link's digest is SHA-256 of the digest before it and of its own content's, in hexadecimal digits. So who changes,
removes or swaps a line has to change every later digest, and contradicts each checkpoint that was carried elsewhere.
Anybody can compute these. A link's seal is a keyed digest (HMAC-SHA256 with the key of fingerprints) of its content:
whoever has the database alone can link no line.

On PostgreSQL a trigger finds a link's place when its transaction commits (`triggers`), so that no writer waits for
another one's work. On SQLite, where one writes at a time, it is found at once.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, TypeAlias

from django.db import connection, models, transaction

from dpportal.history.canonical import CanonicalValue, canonical
from dpportal.history.models import Link
from dpportal.platform.keyed import keyed_digest

BATCH = 1000
FactsOf: TypeAlias = "Callable[[Any], Mapping[str, CanonicalValue]]"


@dataclass(frozen=True)
class ChainedRows:
    """Rows that belong in the chain.

    event: its name in links. rows: all that must be there. forms: what a row says; the last one is written today, the
    ones before it are those of earlier versions, by which their lines are read for good (`eras`).
    """

    event: str
    rows: Callable[[], models.QuerySet[Any]]
    forms: Sequence[FactsOf]

    def content_of(self, row: models.Model) -> dict[str, CanonicalValue]:
        """What a row says today, and which row it is."""
        return self._content_of(row, self.forms[-1])

    def content(self, row: models.Model) -> str:
        """The digest of what a row says today."""
        return self._content(row, self.forms[-1])

    def contents(self, row: models.Model) -> list[str]:
        """The digests of what a row says in each form."""
        return [self._content(row, form) for form in self.forms]

    def _content(self, row: models.Model, form: FactsOf) -> str:
        return sha256(canonical(self._content_of(row, form))).hexdigest()

    def _content_of(self, row: models.Model, form: FactsOf) -> dict[str, CanonicalValue]:
        return {**form(row), "event": self.event, "line": row.pk}


# Of every room that has lines in the chain, by event.
sources: dict[str, ChainedRows] = {}


def declare(*declared: ChainedRows) -> None:
    """Let rows of these kinds be linked, and be looked for when the chain is verified."""
    sources.update({source.event: source for source in declared})


def add(source: ChainedRows, *rows: models.Model) -> None:
    """Link rows that were just written, in their order, in the same transaction."""
    with transaction.atomic():
        links = [_link(source, row) for row in rows]
        if connection.vendor != "postgresql":
            # The rows were written before, so that nobody else writes until this transaction ends.
            place(*links)
        Link.objects.bulk_create(links)


def _link(source: ChainedRows, row: models.Model) -> Link:
    content = source.content(row)
    return Link(event=source.event, line=row.pk, content=content, seal=seal(content))


def seal(content: str) -> str:
    """What only the portal's key makes of a content. Raises KeyMissingFault where the master key is missing."""
    return hmac.new(keyed_digest(b"history"), content.encode(), sha256).hexdigest()


def place(*links: Link) -> None:
    """Put links behind the last one."""
    before = last_link()
    for link in links:
        link.position = before.position + 1 if before and before.position else 1
        link.digest = following(before.digest if before else "", link.content)
        before = link


def following(digest: str, content: str) -> str:
    """The digest of a link with this content behind one with this digest; "" before the first."""
    return sha256(f"{digest}{content}".encode()).hexdigest()


def last_link() -> Link | None:
    """The newest link that has its place."""
    return Link.objects.filter(position__isnull=False).order_by("-position").first()


def batches() -> Iterator[list[Link]]:
    """Every link that has its place, in order, some at a time."""
    position = 0
    while batch := list(Link.objects.filter(position__gt=position).order_by("position")[:BATCH]):
        yield batch
        position = batch[-1].position or 0


def repeated_place() -> int | None:
    """The first place that several links have; whoever goes through the links some at a time may read one alone."""
    placed = Link.objects.filter(position__isnull=False).values("position")
    repeated = placed.annotate(copies=models.Count("pk")).filter(copies__gt=1).order_by("position").first()
    return repeated["position"] if repeated else None


def places(source: ChainedRows) -> models.QuerySet[Link, int | None]:
    """The place in the chain of a row of a query around this one."""
    return Link.objects.filter(event=source.event, line=models.OuterRef("pk")).values_list(
        "position", flat=True
    )


def unlinked(source: ChainedRows) -> models.QuerySet[Any]:
    """Rows of a kind that no link names."""
    linked = Link.objects.filter(event=source.event, line=models.OuterRef("pk"))
    return source.rows().filter(~models.Exists(linked))


def is_linked(source: ChainedRows, row: models.Model) -> bool:
    """Whether a row says in memory what it said when it was linked, by the portal where links had seals then."""
    return not changed(source, [row])


def changed(source: ChainedRows, rows: Sequence[models.Model]) -> list[models.Model]:
    """Those that say something else in memory, or are not linked."""
    keys = [row.pk for row in rows]
    links = {link.line: link for link in Link.objects.filter(event=source.event, line__in=keys)}
    return [row for row in rows if not (row.pk in links and _is_of(source, links[row.pk], row))]


def _is_of(source: ChainedRows, link: Link, row: models.Model) -> bool:
    return link.content in source.contents(row) and link.seal in ("", seal(link.content))


def link_unlinked(source: ChainedRows) -> None:
    """Link what was written before rows of this kind were linked, in the order of the rows."""
    for row in unlinked(source).order_by("pk").iterator(chunk_size=1000):
        add(source, row)
