"""Whether the chain still says what ledger and audit record say, and where it differs first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import Model, QuerySet
from django.utils.translation import gettext as _

from dpportal.history import chain
from dpportal.history.chain import ChainedRows
from dpportal.history.models import Link

BATCH = 1000


@dataclass(frozen=True)
class ChainPosition:
    """How far the chain was found to be sound."""

    position: int = 0
    digest: str = ""


class BrokenChainError(Exception):
    """The chain and the lines differ; the message names the first line that does."""


def verify() -> ChainPosition:
    """Verify every link, and that every line has its links; returns the last place. Raises BrokenChainError."""
    place = verify_links()
    for source in chain.sources.values():
        if row := chain.unlinked(source).order_by("pk").first():
            text = _("%(line)s is not in the history: it was written past the portal.")
            raise BrokenChainError(text % {"line": _named(source, row.pk)})
    return place


def verify_links() -> ChainPosition:
    """Verify every link against the one before, and against its line; returns the last place.

    Raises BrokenChainError.
    """
    if link := Link.objects.filter(position__isnull=True).order_by("pk").first():
        text = _("%(line)s has a link without a place: it was written past the portal.")
        raise BrokenChainError(text % {"line": f"{link.event} {link.line}"})
    place = ChainPosition()
    while batch := list(Link.objects.filter(position__gt=place.position).order_by("position")[:BATCH]):
        contents = _contents(batch)
        for link in batch:
            place = _next(place, link, contents.get((link.event, link.line)))
    return place


def _contents(links: list[Link]) -> dict[tuple[str, int], str]:
    """The digests of what the rows of these links say now, for those that are there."""
    found = {}
    for event in {link.event for link in links} & set(chain.sources):
        source = chain.sources[event]
        for row in _rows(source, [link.line for link in links if link.event == event]):
            found[event, row.pk] = source.content(row)
    return found


def _rows(source: ChainedRows, keys: list[int]) -> Iterator[Model]:
    rows: QuerySet[Model] = source.rows().filter(pk__in=keys)
    yield from rows


def _next(place: ChainPosition, link: Link, content: str | None) -> ChainPosition:
    named = {"line": f"{link.event} {link.line}", "position": link.position}
    if link.position != place.position + 1:
        text = _("A link is missing before link %(position)d, %(line)s: lines were deleted.")
        raise BrokenChainError(text % named)
    if content is None:
        raise BrokenChainError(_("%(line)s of link %(position)d is gone: it was deleted.") % named)
    if content != link.content:
        text = _("%(line)s of link %(position)d says something else than when it was written.")
        raise BrokenChainError(text % named)
    if link.digest != chain.following(place.digest, content):
        text = _("Link %(position)d, %(line)s, does not follow from the one before: the order was changed.")
        raise BrokenChainError(text % named)
    return ChainPosition(link.position, link.digest)


def _named(source: ChainedRows, key: int) -> str:
    return f"{source.event} {key}"
