"""Eras of the history: from which link on lines hold which parts, so that an updated portal still reads its old lines.

A newer version binds more: another field of a row, another kind of row. Lines before the first era may be of any form
that a version wrote; from an era's link on they are of that era's forms alone, or a new line with fewer parts could be
passed off as an old one. An era begins with the `migrate` of an update, and binds what is there at that moment: what
agrees with its earlier lines is written anew with all parts, and what does not stays as it was: `verify` names it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from django.db import transaction

from dpportal.history import chain, imprints
from dpportal.history.canonical import CanonicalValue
from dpportal.history.chain import ChainedRows
from dpportal.history.models import Era, Imprint, Link


def lines() -> dict[str, int]:
    """By event the number of the form that this version writes."""
    return {event: len(source.forms) for event, source in sorted(chain.sources.items())}


def bound_parts() -> dict[str, list[str]]:
    """By kind of imprint the parts that this version binds."""
    return {name: [*kind.parts, *kind.entries] for name, kind in sorted(imprints.kinds.items())}


def newest() -> Era | None:
    """The present era; None before the first."""
    return Era.objects.order_by("pk").last()


def is_present(era: Era | None) -> bool:
    """Whether lines are written as this version writes them."""
    return era is not None and (era.lines, era.things) == (lines(), bound_parts())


@transaction.atomic
def begin() -> None:
    """Begin an era where this version binds other parts than the last one; nothing where it does not."""
    before = newest()
    if is_present(before):
        return
    known = set(before.lines) if before else set(chain.sources) if Link.objects.exists() else set()
    for event, source in chain.sources.items():
        if event not in known and source is not LINE:
            chain.link_unlinked(source)
    chain.add(LINE, Era.objects.create(lines=lines(), things=bound_parts(), bound=_bound(), sealed=True))
    had = set(before.things) if before else set(Imprint.objects.values_list("kind", flat=True).distinct())
    for name, parts in bound_parts().items():
        if before is None or before.things.get(name) != parts:
            imprints.bind(imprints.kinds[name], name in had)


def _bound() -> dict[str, str]:
    earlier = EarlierLines()
    for batch in chain.batches():
        known = contents(batch)
        for link in batch:
            earlier.add(link, known.get((link.event, link.line), ()))
    return earlier.bound(lines())


class EarlierLines:
    """What lines that were linked in an earlier form say in each later one, in the order of their links."""

    def __init__(self) -> None:
        self._digests: defaultdict[tuple[str, int], Any] = defaultdict(sha256)

    def add(self, link: Link, contents: Sequence[str]) -> None:
        """contents: the digests of the line in each form; nothing is added of one that is not as it was."""
        if link.content in contents:
            own = contents.index(link.content) + 1
            for form in range(own + 1, len(contents) + 1):
                self._digests[link.event, form].update(contents[form - 1].encode())

    def bound(self, lines: Mapping[str, int]) -> dict[str, str]:
        """By event, in these forms; of those that have earlier lines."""
        return {
            event: self._digests[event, form].hexdigest()
            for event, form in lines.items()
            if (event, form) in self._digests
        }


def contents(links: Sequence[Link]) -> dict[tuple[str, int], list[str]]:
    """What the rows of these links say now, by digests in each form; of those that are there."""
    digests = {}
    for event in {link.event for link in links} & set(chain.sources):
        source = chain.sources[event]
        keys = [link.line for link in links if link.event == event]
        for row in source.rows().filter(pk__in=keys):
            digests[event, row.pk] = source.contents(row)
    return digests


def _facts_first(era: Era) -> dict[str, CanonicalValue]:
    return {"at": era.at.isoformat(), "lines": era.lines, "things": era.things, "bound": era.bound}


def _facts(era: Era) -> dict[str, CanonicalValue]:
    return {**_facts_first(era), "sealed": era.sealed}


LINE = ChainedRows("era", Era.objects.all, [_facts_first, _facts])
