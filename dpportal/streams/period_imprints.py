"""What was published of each period, in the chain of the history: a line for a few periods at a time.

Of the true counts beside it the line has the digest of their sealed form, which tells nothing once that is deleted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import groupby
from typing import Any

from dpportal.history import imprints
from dpportal.history.imprints import ForgedRowError, ImprintKind, StoredState
from dpportal.streams.models import Period, Stream

# Periods that share a line: each new one writes their line again, and names all of them.
TOGETHER = 20
SHOWN = ("released", "half_width", "source", "key", "published_at")
SUMS = "sealed_sums__sealed"


def note(stream: Stream, periods: Collection[Period]) -> None:
    """In the transaction that wrote them or their sums, which holds the stream's row."""
    subjects = {_subject(stream.pk, period.index) for period in periods}
    imprints.note(PERIODS, sorted(subjects), {f"period {period.index}" for period in periods})


def require_written(stream: Stream, shown: Mapping[int, tuple[Sequence[int], int]]) -> None:
    """Raise ForgedRowError unless these periods are what the portal published.

    shown: by number what was released and its half width, as they are in memory.
    """
    subjects = sorted({_subject(stream.pk, index) for index in shown})
    states, newest = dict(_states(subjects)), imprints.newest_of(PERIODS, subjects)
    for index, (released, half_width) in shown.items():
        subject, part = _subject(stream.pk, index), f"period {index}"
        row: Any = states.get(subject, {}).get(part)
        line = newest.get(subject, {})
        is_shown = row is not None and (list(released), half_width) == (row[0], row[1])
        if not is_shown or imprints.digests_of(PERIODS, subject, {part: row}, line)[part] != line.get(part):
            raise ForgedRowError(f"period {index} of stream {stream.pk}")


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
