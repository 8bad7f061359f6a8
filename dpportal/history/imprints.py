"""What rows and stored files were when the portal last wrote them: digests in lines that the chain covers.

Whoever changes a role, a token, a published file or its row past the portal leaves it other than its newest line says.
Digests are keyed (HMAC-SHA256 with the key of fingerprints), so that a dump of the database confirms no guess.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, TypeAlias

from django.db import transaction
from django.db.models import F, QuerySet, Subquery
from django.utils.translation import gettext as _

from dpportal.history import chain
from dpportal.history.canonical import CanonicalValue
from dpportal.history.models import Imprint
from dpportal.platform.keyed import keyed_digest
from dpportal.platform.sealed import UndecryptableValue

# What a thing is, by the names of its parts: values that JSON can hold, times, amounts and identities.
StoredState: TypeAlias = "Mapping[str, object]"
Digests: TypeAlias = dict[str, str]
BATCH = 500


@dataclass(frozen=True)
class ImprintKind:
    """Things of one kind.

    states: what those with these ids are now, or all; one that is gone is left out. parts: those that each thing has.
    entries: what the list of every other part has, in order, such as a file of a publication; none where there are no
    others. New entries go behind: a line of an earlier version has so many of them as one of `earlier` says.
    """

    name: str
    states: Callable[[Collection[str] | None], Iterator[tuple[str, StoredState]]]
    parts: Sequence[str] = ()
    entries: Sequence[str] = ()
    earlier: Sequence[int] = ()


# Of every room that has things whose state is in the chain, by name.
kinds: dict[str, ImprintKind] = {}


def declare(*declared: ImprintKind) -> None:
    """Have things of these kinds compared with their lines."""
    kinds.update({kind.name: kind for kind in declared})


class ForgedRowError(Exception):
    """A row is not what the portal wrote; the message names it, and is for whoever waits for what is made by it."""

    def __init__(self, thing: str) -> None:
        text = _(
            "%(thing)s was changed in the database past the portal, so nothing is drawn or written by it. Ask an "
            "administrator: manage.py verify says what differs."
        )
        super().__init__(text % {"thing": thing})


def note(
    kind: ImprintKind,
    subjects: Collection[str],
    parts: Collection[str] | None = None,
    states: Callable[[Collection[str]], Iterator[tuple[str, StoredState]]] | None = None,
) -> None:
    """Write a line for each of these things that is not what its newest line says, in the same transaction.

    parts: those that were written just now, or None for all. Of the others a line says what the one before it said: who
    writes one part makes nothing true of what somebody else changed past the portal, and of a thing without a line
    nothing. states: of the kind, with what was written as it is in memory: a line never says of it what a trigger of
    somebody's made of it on its way.
    """
    names = list(subjects)
    with transaction.atomic():
        for begin in range(0, len(names), BATCH):
            batch = names[begin : begin + BATCH]
            _write(kind, batch, dict((states or kind.states)(batch)), parts)


def note_state(
    kind: ImprintKind, subject: str, state: StoredState, parts: Collection[str] | None = None
) -> None:
    """The same of one thing whose state was read before."""
    with transaction.atomic():
        _write(kind, [subject], {subject: state}, parts)


def _write(
    kind: ImprintKind,
    subjects: Collection[str],
    states: Mapping[str, StoredState],
    parts: Collection[str] | None,
) -> None:
    """Nothing behind a line that the portal did not link: what was not written would be taken from it."""
    newest, changed = newest_lines(kind, subjects), list[Imprint]()
    foreign = _foreign(newest.values())
    for subject in subjects:
        line = newest.get(subject)
        if (line is None and parts is not None) or (line and line.pk in foreign):
            continue
        before = line.digests if line else {}
        digests = digests_of(kind, subject, states.get(subject, {}), before)
        digests |= {} if parts is None else _unwritten(kind, digests, before, parts)
        changed += _changed(kind, subject, before, digests)
    _keep(changed)


def _unwritten(kind: ImprintKind, digests: Digests, before: Digests, parts: Collection[str]) -> Digests:
    """What a line says again of parts that were not written; of entries also that they are to be there."""
    there = before if kind.entries else digests
    return {part: digest for part, digest in before.items() if part in there and part not in parts}


def _changed(kind: ImprintKind, subject: str, before: Digests, digests: Digests) -> list[Imprint]:
    """The line of a thing; none if it is what its newest line says."""
    return [Imprint(kind=kind.name, subject=subject, digests=digests)] if digests != before else []


def _keep(lines: list[Imprint]) -> None:
    """In few statements however many lines there are: whoever waits for their rows waits for all of it."""
    chain.add(LINE, *Imprint.objects.bulk_create(lines))


def newest_of(kind: ImprintKind, subjects: Collection[str] | None = None) -> dict[str, Digests]:
    """What the newest lines say of these things, or of all; empty of one that is gone."""
    return dict(_newest(kind, subjects).values_list("subject", "digests").iterator(chunk_size=1000))


def newest_lines(kind: ImprintKind, subjects: Collection[str] | None = None) -> dict[str, Imprint]:
    """The same, as lines."""
    return {line.subject: line for line in _newest(kind, subjects).iterator(chunk_size=1000)}


def _newest(kind: ImprintKind, subjects: Collection[str] | None) -> QuerySet[Any]:
    """The newest last by their places in the chain: whoever has the database can have it number rows in any order."""
    lines = Imprint.objects.filter(kind=kind.name).annotate(place=Subquery(chain.places(LINE)))
    # On PostgreSQL a line has no place before its transaction ends.
    lines = lines.order_by(F("place").asc(nulls_last=True), "pk")
    return lines if subjects is None else lines.filter(subject__in=subjects)


def digests_of(kind: ImprintKind, subject: str, state: StoredState, before: Digests) -> Digests:
    """The digest of each part. before: stands for parts that are sealed with a key that the portal does not have."""
    return {
        part: before.get(part, "")
        if isinstance(value, UndecryptableValue)
        else _digest(kind.name, subject, part, value)
        for part, value in state.items()
    }


def _digest(kind: str, subject: str, part: str, value: object) -> str:
    text = json.dumps([kind, subject, part, value], sort_keys=True, default=_text)
    return hmac.new(keyed_digest(b"imprints"), text.encode(), hashlib.sha256).hexdigest()


def _text(value: object) -> str:
    """Alike for every database: these give times, amounts and bytes in several ways."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Decimal):
        return f"{value.normalize():f}"
    if isinstance(value, memoryview | bytes):
        return bytes(value).hex()
    return str(value)


def says(kind: ImprintKind, subject: str, state: StoredState) -> bool:
    """Whether the newest line of a thing says this of it, of the parts that are given."""
    return not unstated(kind, {subject: state}, newest_lines(kind, [subject]))


def unstated(
    kind: ImprintKind, states: Mapping[str, StoredState], newest: Mapping[str, Imprint]
) -> list[str]:
    """The things of which their newest lines do not say this; nothing is said by one that the portal did not link.

    newest: see `newest_lines`. An earlier line could be written once more past the portal, and be the newest by that.
    """
    foreign = _foreign(newest[name] for name in states if name in newest)
    lines = {name: line.digests for name, line in newest.items() if line.pk not in foreign}
    return [name for name, state in states.items() if not _is_stated(kind, name, state, lines.get(name, {}))]


def _foreign(lines: Iterable[Imprint]) -> set[int]:
    """The keys of those that the portal did not link."""
    return {line.pk for line in chain.changed(LINE, [*lines])}


def _is_stated(kind: ImprintKind, subject: str, state: StoredState, newest: Digests) -> bool:
    return bool(newest) and digests_of(kind, subject, state, newest).items() <= newest.items()


def stated_before(kind: ImprintKind, subject: str, state: StoredState, position: int) -> bool:
    """Whether the line that was a thing's newest at a place in the chain said this; so, too, where it had none yet."""
    before = _newest(kind, [subject]).filter(place__lt=position).last()
    return before is None or _is_stated(kind, subject, state, before.digests)


def subjects_with(
    kind: ImprintKind, newest: Mapping[str, Imprint], part: str, values: Collection[object]
) -> Iterator[str]:
    """The things of which their newest lines, see `newest_lines`, say one of these values."""
    for name, line in newest.items():
        if line.digests.get(part) in {_digest(kind.name, name, part, value) for value in values}:
            yield name


def differences() -> Iterator[str]:
    """What is not as its newest line says, in sentences."""
    for kind in kinds.values():
        yield from _differences(kind)


def _differences(kind: ImprintKind) -> Iterator[str]:
    newest, seen = newest_of(kind), set[str]()
    for subject, state in kind.states(None):
        if subject in seen:
            yield _("%(thing)s is there twice: one of them was written past the portal.") % {
                "thing": f"{kind.name} {subject}"
            }
            continue
        seen.add(subject)
        before = newest.pop(subject, {})
        if digests_of(kind, subject, state, before) != before and (text := _difference(kind, subject)):
            yield text
    for subject, before in newest.items():
        if before and (text := _difference(kind, subject)):
            yield text


def _difference(kind: ImprintKind, subject: str) -> str:
    """What differs of one thing; looked at again, since the portal may have been writing it. Empty if nothing does."""
    old, new = _settled(kind, subject)
    words = {"thing": f"{kind.name} {subject}"}
    if new == old:
        return ""
    if not old:
        return _("%(thing)s is not in the history: it was written past the portal.") % words
    if not new:
        return _("%(thing)s is gone: it was deleted past the portal.") % words
    parts = sorted(part for part in new.keys() | old.keys() if new.get(part) != old.get(part))
    text = _("%(parts)s of %(thing)s is not what the portal wrote: it was changed past the portal.")
    return text % {**words, "parts": ", ".join(parts)}


def _settled(kind: ImprintKind, subject: str) -> tuple[Digests, Digests]:
    """What its newest line says and what it is, read while nobody wrote another line."""
    old = newest_of(kind, [subject])
    while True:
        state, before = dict(kind.states([subject])).get(subject, {}), old.get(subject, {})
        again = newest_of(kind, [subject])
        if again == old:
            return before, digests_of(kind, subject, state, before)
        old = again


def bind(kind: ImprintKind, is_known: bool) -> None:
    """Write a line of each thing in today's form, with the parts that earlier lines lack.

    is_known: whether things of this kind had lines before. Then one without a line was written past the portal, and
    stays without. What disagrees with the line that it has keeps its old digest: an update makes nothing true.
    """
    newest = newest_of(kind)
    for subject, state in kind.states(None):
        before = newest.get(subject, {})
        if not is_known:
            _keep(_changed(kind, subject, before, digests_of(kind, subject, state, before)))
        elif before:
            _keep(_changed(kind, subject, before, _bound(kind, subject, state, before)))


def _bound(kind: ImprintKind, subject: str, state: StoredState, before: Digests) -> Digests:
    digests = digests_of(kind, subject, state, before)
    bound = dict(before) if kind.entries else {}
    for part, value in state.items():
        if part in before:
            own = {digests[part], *_earlier_digests(kind, subject, part, value)}
            bound[part] = digests[part] if before[part] in own else before[part]
        elif part in kind.parts:
            bound[part] = digests[part]
    return bound


def _earlier_digests(kind: ImprintKind, subject: str, part: str, value: object) -> Iterator[str]:
    if isinstance(value, list) and part not in kind.parts:
        for length in kind.earlier:
            yield _digest(kind.name, subject, part, value[:length])


def _facts(imprint: Imprint) -> dict[str, CanonicalValue]:
    return {
        "at": imprint.at.isoformat(),
        "kind": imprint.kind,
        "subject": imprint.subject,
        "digests": [[part, digest] for part, digest in sorted(imprint.digests.items())],
    }


LINE = chain.ChainedRows("imprint", Imprint.objects.all, [_facts])
