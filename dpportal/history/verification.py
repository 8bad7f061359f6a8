"""Whether the chain still says what ledger and audit record say, and where it differs first."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _

from dpportal.history import chain, eras
from dpportal.history.chain import ChainedRows
from dpportal.history.models import Era, Link


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
    if not eras.is_present(eras.newest()):
        text = _("The history does not say yet what this version's lines hold: run manage.py migrate.")
        raise BrokenChainError(text)
    return place


def verify_links() -> ChainPosition:
    """Verify every link against the one before, and against its line; returns the last place.

    Raises BrokenChainError.
    """
    if link := Link.objects.filter(position__isnull=True).order_by("pk").first():
        text = _("%(line)s has a link without a place: it was written past the portal.")
        raise BrokenChainError(text % {"line": f"{link.event} {link.line}"})
    if repeated := chain.repeated_place():
        raise BrokenChainError(_("Link %(position)d is there more than once.") % {"position": repeated})
    place, forms = ChainPosition(), _EraForms()
    for batch in chain.batches():
        contents = eras.contents(batch)
        for link in batch:
            own = contents.get((link.event, link.line), [])
            place = _next_position(place, link, own)
            forms.require(link, own)
    return place


def _next_position(place: ChainPosition, link: Link, contents: list[str]) -> ChainPosition:
    """contents: the digests of what its line says now, in each form; none if it is gone."""
    named = _words(link)
    if link.position != place.position + 1:
        text = _("A link is missing before link %(position)d, %(line)s: lines were deleted.")
        raise BrokenChainError(text % named)
    if not contents:
        raise BrokenChainError(_("%(line)s of link %(position)d is gone: it was deleted.") % named)
    if link.content not in contents:
        text = _("%(line)s of link %(position)d says something else than when it was written.")
        raise BrokenChainError(text % named)
    if link.digest != chain.following(place.digest, link.content):
        text = _("Link %(position)d, %(line)s, does not follow from the one before: the order was changed.")
        raise BrokenChainError(text % named)
    return ChainPosition(link.position, link.digest)


class _EraForms:
    """In which forms lines may be written and whether links have seals, from era to era."""

    def __init__(self) -> None:
        self._lines: dict[str, int] = {}
        self._sealed = False
        self._earlier = eras.EarlierLines()

    def require(self, link: Link, contents: list[str]) -> None:
        """The link's line is in the form of its era, and the link is the portal's own. Raises BrokenChainError."""
        if link.event == eras.LINE.event:
            # An era's own line is of the form that it says.
            self._begin(link, Era.objects.get(pk=link.line))
        form = self._lines.get(link.event)
        if form and contents[form - 1 : form] != [link.content]:
            text = _(
                "%(line)s of link %(position)d lacks what lines of its time hold: it is no earlier line."
            )
            raise BrokenChainError(text % _words(link))
        self._earlier.add(link, contents)
        if (self._sealed or link.seal) and link.seal != chain.seal(link.content):
            text = _("%(line)s of link %(position)d was not linked by the portal: it was written past it.")
            raise BrokenChainError(text % _words(link))

    def _begin(self, link: Link, era: Era) -> None:
        """From here on lines hold what the era says. Raises BrokenChainError where that is less than before."""
        goes_back = any(era.lines.get(event, 0) < form for event, form in self._lines.items())
        if goes_back or (self._sealed and not era.sealed):
            text = _("%(line)s of link %(position)d goes back to an earlier form: no portal does so.")
            raise BrokenChainError(text % _words(link))
        if era.bound != self._earlier.bound(era.lines):
            text = _("A line before link %(position)d, %(line)s, is not what it was when that was written.")
            raise BrokenChainError(text % _words(link))
        self._lines, self._sealed = era.lines, era.sealed


def _words(link: Link) -> dict[str, object]:
    return {"line": f"{link.event} {link.line}", "position": link.position}


def _named(source: ChainedRows, key: int) -> str:
    return f"{source.event} {key}"
