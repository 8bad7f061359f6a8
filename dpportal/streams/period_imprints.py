"""What was published of each period, in the chain of the history: a line for a few periods at a time.

Of the true counts beside it the line has the digest of their sealed form, which tells nothing once that is deleted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from itertools import groupby
from typing import Any

from dpportal.history import imprints
from dpportal.history.imprints import ForgedRowError, ImprintKind, StoredState
from dpportal.history.values_in_memory import values_of
from dpportal.streams.models import Period, Stream

# Periods that share a line: each new one writes their line again, and names all of them.
TOGETHER = 20
SHOWN = ("released", "half_width", "source", "key", "published_at")
SUMS = "sealed_sums__sealed"


def note(stream: Stream, periods: Collection[Period]) -> None:
    """Of new periods, with their sums, as they are in memory. In their transaction, which holds the stream's row."""
    fields = [field for field in Period._meta.concrete_fields if field.name in SHOWN]
    rows = {p.index: {**values_of(fields, vars(p)), SUMS: p.sealed_sums.sealed} for p in periods}
    _note(stream, {index: [*_shown(row)] for index, row in rows.items()})


@contextmanager
def sums_changing(stream: Stream, periods: Collection[int]) -> Iterator[None]:
    """Inside, only the true counts of these periods change: what else they were stays noted as it was read before.

    periods: by number. Of one that is not what its line says nothing is noted. In a transaction that holds the row.
    """
    subjects = sorted({_subject(stream.pk, index) for index in periods})
    before, newest = dict(_states(subjects)), imprints.newest_of(PERIODS, subjects)
    yield
    after, rows = dict(_states(subjects)), dict[int, list[object]]()
    for index in periods:
        subject, part = _subject(stream.pk, index), f"period {index}"
        row: Any = before.get(subject, {}).get(part)
        now: Any = after.get(subject, {}).get(part)
        if row and now and _is_stated(subject, part, row, newest.get(subject, {})):
            rows[index] = [*row[:-1], now[-1]]
    _note(stream, rows)


def _note(stream: Stream, rows: Mapping[int, list[object]]) -> None:
    """Behind the lines that there are; the first period of a line begins it, and says nothing of any other."""
    written: dict[str, dict[str, object]] = {}
    for index, row in rows.items():
        written.setdefault(_subject(stream.pk, index), {})[f"period {index}"] = row
    begun = set(imprints.newest_of(PERIODS, sorted(written)))

    def states(subjects: Collection[str]) -> Iterator[tuple[str, StoredState]]:
        stored = dict(_states(begun & {*subjects}))
        yield from ((subject, {**stored.get(subject, {}), **written[subject]}) for subject in subjects)

    imprints.note(PERIODS, sorted(begun), {f"period {index}" for index in rows}, states)
    imprints.note(PERIODS, sorted(written.keys() - begun), None, states)


def _is_stated(subject: str, part: str, row: object, line: imprints.Digests) -> bool:
    return part in line and imprints.digests_of(PERIODS, subject, {part: row}, line)[part] == line[part]


def require_written(stream: Stream, shown: Mapping[int, tuple[Sequence[int], int]]) -> None:
    """Raise ForgedRowError unless these periods are what the portal published.

    shown: by number what was released and its half width, as they are in memory.
    """
    subjects = sorted({_subject(stream.pk, index) for index in shown})
    states, newest = dict(_states(subjects)), imprints.newest_lines(PERIODS, subjects)
    for index, (released, half_width) in shown.items():
        row: Any = states.get(_subject(stream.pk, index), {}).get(f"period {index}")
        if row is None or (list(released), half_width) != (row[0], row[1]):
            raise ForgedRowError(f"period {index} of stream {stream.pk}")
    if unstated := imprints.unstated(
        PERIODS, {subject: _parts_of(subject, states, shown) for subject in subjects}, newest
    ):
        raise ForgedRowError(f"period of stream {unstated[0]}")


def _parts_of(subject: str, states: Mapping[str, StoredState], indexes: Collection[int]) -> StoredState:
    """What those of these periods were that share this line."""
    own = {f"period {index}" for index in indexes}
    return {part: row for part, row in states[subject].items() if part in own}


def _subject(stream: object, index: int) -> str:
    return f"{stream} {index // TOGETHER * TOGETHER}"


def _states(subjects: Collection[str] | None) -> Iterator[tuple[str, StoredState]]:
    rows = Period.objects.order_by("stream", "index").values("stream_id", "index", *SHOWN, SUMS)
    if subjects is None:
        yield from _grouped(rows.iterator(chunk_size=100))
        return
    remaining, firsts = set(subjects), dict[str, set[int]]()
    for stream, first in map(str.split, remaining):
        firsts.setdefault(stream, set()).add(int(first))
    for stream, begins in firsts.items():
        near = rows.filter(stream=stream, index__gte=min(begins), index__lt=max(begins) + TOGETHER)
        states = _grouped(near.iterator(chunk_size=100))
        yield from ((subject, state) for subject, state in states if subject in remaining)


def _grouped(rows: Iterator[dict[str, Any]]) -> Iterator[tuple[str, StoredState]]:
    for subject, together in groupby(rows, lambda row: _subject(row["stream_id"], row["index"])):
        yield subject, {f"period {row['index']}": [*_shown(row)] for row in together}


def _shown(row: Mapping[str, Any]) -> Iterator[object]:
    yield from (row[name] for name in SHOWN)
    yield sha256(row[SUMS]).hexdigest() if row[SUMS] else "no true counts"


PERIODS = ImprintKind("periods of stream", _states, entries=[*SHOWN, SUMS], earlier=[3])
imprints.declare(PERIODS)
