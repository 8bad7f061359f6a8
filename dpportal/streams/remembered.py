"""The newest period of each stream as it is remembered outside the database, and what was about to be published as it.

A period is decided when it is remembered, just before the transaction that publishes it commits. If the portal dies
between the two, the same answer is published afterwards, and never another one. A database whose stream is further
behind was restored from an older copy: it would draw again what people have seen, so nothing is drawn from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from dpportal import memory
from dpportal.budgets.remembered import RestoredError
from dpportal.memory import MemoryFaultError
from dpportal.streams.models import Period, Stream
from dpportal.streams.vault import TrueCounts
from mechanisms.continual.mechanism import State

FOLDER = "streams"


@dataclass(frozen=True)
class DecidedPeriod:
    """A period with the true running counts after it. clipped: as `TrueCounts` has it."""

    index: int
    released: list[int]
    half_width: int
    source: str
    sums: list[int]
    clipped: str
    key: str

    @classmethod
    def of(cls, period: Period, true: TrueCounts) -> DecidedPeriod:
        return cls(
            period.index,
            period.released,
            period.half_width,
            period.source,
            key=period.key,
            **true.to_json(),
        )

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> DecidedPeriod:
        """Earlier versions clipped nothing, knew no keys, and kept a fingerprint of the content."""
        value = {"clipped": "0" * len(value["sums"]), "key": "", **value}
        value.pop("fingerprint", None)
        return cls(**value)

    @property
    def true_counts(self) -> TrueCounts:
        return TrueCounts.from_json({"sums": self.sums, "clipped": self.clipped})

    def period_of(self, stream: Stream) -> Period:
        """The row that publishes it."""
        told = {name: value for name, value in asdict(self).items() if name not in ("sums", "clipped")}
        return Period(stream=stream, **told)


@dataclass(frozen=True)
class Decision:
    """What one transaction publishes: periods in order, and the secret state after them.

    version: of the secret state that it was decided in.
    """

    version: int
    state: str
    periods: tuple[DecidedPeriod, ...]

    @classmethod
    def of(
        cls, version: int, state: State, periods: Sequence[Period], sums: Sequence[TrueCounts]
    ) -> Decision:
        decided = (DecidedPeriod.of(period, true) for period, true in zip(periods, sums, strict=True))
        return cls(version, state.to_bytes().decode(), tuple(decided))

    @property
    def next_state(self) -> State:
        return State.from_bytes(self.state.encode())


@dataclass(frozen=True)
class Remembered:
    """The newest period of a stream, 0 before the first. decision: that made it, while it is kept."""

    period: int
    decision: Decision | None = None

    def keep(self, stream_id: UUID) -> None:
        memory.remember(f"{FOLDER}/{stream_id}", asdict(self))


def newest(stream_id: UUID) -> Remembered | None:
    """Raises MemoryFaultError."""
    kept = memory.recall(f"{FOLDER}/{stream_id}")
    if kept is None or kept["decision"] is None:
        return Remembered(kept["period"]) if kept else None
    decided = kept["decision"]
    periods = tuple(DecidedPeriod.from_json(period) for period in decided["periods"])
    return Remembered(kept["period"], Decision(decided["version"], decided["state"], periods))


def begin(stream: Stream) -> None:
    """Remember that a stream is opened; the last act of the transaction that opens it.

    Raises RestoredError if it was opened before and has published, MemoryFaultError if that cannot be known.
    """
    known = newest(stream.pk)
    if known and known.period:
        raise RestoredError(
            _(
                "This stream was opened before the portal's database was put back from an older copy, and people have "
                "seen its periods. Open a new stream."
            )
        )
    Remembered(0).keep(stream.pk)


def decide(stream: Stream, decision: Decision) -> None:
    """Remember what is about to be published; the last act of the transaction that publishes it."""
    Remembered(decision.periods[-1].index, decision).keep(stream.pk)


def forget_decision(stream_id: UUID) -> None:
    """Keep the number of the newest period alone: no noise, and no true count."""
    known = newest(stream_id)
    if known and known.decision:
        Remembered(known.period).keep(stream_id)


def accept(stream: Stream) -> None:
    """Remember what the database says of a stream for which less is remembered, or nothing that can be read."""
    try:
        known = newest(stream.pk)
    except MemoryFaultError:
        known = None
    published = stream.periods.count()
    if known is None or known.period < published:
        Remembered(published).keep(stream.pk)


def is_behind(stream: Stream) -> bool:
    """Whether the memory lacks periods of a stream, or cannot be read."""
    try:
        known = newest(stream.pk)
    except MemoryFaultError:
        return True
    return known is None or known.period < stream.periods.count()


def is_ahead(stream_id: UUID) -> bool:
    """Whether a period seems to be decided and not published; asked without holding the stream."""
    known = newest(stream_id)
    return known is not None and known.period > Period.objects.filter(stream=stream_id).count()


def pending(stream: Stream) -> Decision | None:
    """What was decided and not published, because the portal died between the two. The caller holds the stream."""
    known = newest(stream.pk)
    decision = known and known.decision
    if not decision or not stream.is_open or decision.periods[0].index != stream.periods.count() + 1:
        return None
    return decision


def require_newest(stream: Stream) -> None:
    """The newest period of the stream is the newest that anyone saw. The caller holds it.

    Raises RestoredError if the database lacks periods, MemoryFaultError if the memory does.
    """
    known, published = newest(stream.pk), stream.periods.count()
    if known is None or known.period < published:
        raise MemoryFaultError(_("The portal's memory lacks periods of this stream. ") + memory.remedy())
    if known.period > published:
        raise RestoredError(behind_text())


def behind_text() -> str:
    """Why a stream cannot go on that is behind what is remembered."""
    return _(
        "The portal's database was put back from an older copy that lacks periods of this stream, which people have "
        "seen. It cannot go on: its noise would be drawn again. Open a new stream."
    )
