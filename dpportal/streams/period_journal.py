"""The decisions of each stream as they are remembered outside the database: a file for each version of its state.

What a version publishes is decided by whoever creates its file, just before the transaction that publishes it commits.
If the portal dies between the two, or another writer wakes late, the same answer is published, and never another one.
A file's content is erased once its periods are stored and the next are decided; its name stays for good. So the newest
file of an open stream always has content, if it is only the number of a version that was opened or accepted. A database
whose stream is further behind was restored from an older copy: it would draw again what people have seen, so nothing is
drawn from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from uuid import UUID

from django.utils.translation import gettext as _

from dpportal.budgets.charge_journal import RestoredError
from dpportal.platform import journal
from dpportal.platform.journal import MemoryFaultError
from dpportal.platform.json_types import Json
from dpportal.streams import vault
from dpportal.streams.models import Period, Stream
from dpportal.streams.vault import TrueCounts
from mechanisms.continual.mechanism import TRUE_NUMBERS, StreamSecrets, filling

FOLDER = "streams"
# The name under which it is remembered that a stream has ended, beside the numbers of its versions.
CLOSED = "closed"


class DecidedError(Exception):
    """Another writer has decided what the next periods are; catch up with that."""


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

    @property
    def true_counts(self) -> TrueCounts:
        return TrueCounts.from_json({"sums": self.sums, "clipped": self.clipped})

    def period_of(self, stream: Stream) -> Period:
        """The row that publishes it."""
        fields = {name: value for name, value in asdict(self).items() if name not in ("sums", "clipped")}
        return Period(stream=stream, **fields)


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
        cls, version: int, state: StreamSecrets, periods: Sequence[Period], sums: Sequence[TrueCounts]
    ) -> Decision:
        decided = (DecidedPeriod.of(period, true) for period, true in zip(periods, sums, strict=True))
        return cls(version, state.to_bytes().decode(), tuple(decided))

    def to_json(self) -> Json:
        """As it is remembered: of a length that no true sum changes."""
        blanks = sum(filling(period.sums, TRUE_NUMBERS["sums"]) for period in self.periods)
        return {**asdict(self), "filling": " " * blanks}

    @property
    def next_state(self) -> StreamSecrets:
        return StreamSecrets.from_bytes(self.state.encode())


def begin(stream: Stream) -> None:
    """Remember that a stream is opened; in the transaction that opens it.

    Raises RestoredError if it was opened before and has published, MemoryFaultError if that cannot be known.
    """
    if has_published(stream.pk):
        raise RestoredError(
            _(
                "This running count was opened before the portal's database was put back from an older copy, "
                "and people have seen its periods. Open a new running count."
            )
        )
    journal.create(_name(stream.pk, 0), {"version": 0})


def has_published(stream_id: UUID) -> bool:
    """Whether any period of a stream was ever decided. Raises MemoryFaultError."""
    return journal.holds(_name(stream_id, 1))


def decide(stream: Stream, decision: Decision) -> None:
    """Remember what is about to be published; the last act of the transaction that publishes it.

    Raises DecidedError if that was decided before, MemoryFaultError if it cannot be remembered.
    """
    name = _name(stream.pk, decision.version + 1)
    closed = _name(stream.pk, CLOSED)
    # Where the stream ended while this writer slept, nothing is left of it, even if it is given up meanwhile.
    if not journal.create(name, decision.to_json(), unless=closed) or journal.holds(closed):
        raise DecidedError
    # Those before, which are stored; the first of them where a writer died here.
    for version in range(max(0, decision.version - 1), decision.version + 1):
        journal.erase(_name(stream.pk, version))


def forget_decision(stream_id: UUID) -> None:
    """Keep that the stream has ended, and how far it came: no noise, and no true count."""
    if not journal.holds(_name(stream_id, CLOSED)):
        journal.create(_name(stream_id, CLOSED))
    journal.erase_all(f"{FOLDER}/{stream_id}")


def accept(stream: Stream) -> None:
    """Remember what the database says of a stream of which less is remembered, or nothing that can be read."""
    version = vault.version_of(stream.pk)
    if version is None:
        journal.create(_name(stream.pk, CLOSED))
    elif is_behind(stream):
        journal.replace(_name(stream.pk, version), {"version": version})


def is_behind(stream: Stream) -> bool:
    """Whether the memory lacks the newest periods of a stream, or cannot be read."""
    version = vault.version_of(stream.pk)
    try:
        return version is not None and _lacks(stream.pk, version)
    except MemoryFaultError:
        return True


def _lacks(stream_id: UUID, version: int) -> bool:
    """Whether the newest file is not there, or was emptied before another one was decided."""
    return not journal.recall(_name(stream_id, version)) and not journal.holds(_name(stream_id, version + 1))


def is_ahead(stream_id: UUID) -> bool:
    """Whether a period seems to be decided and not published; asked without holding the stream."""
    version = vault.version_of(stream_id)
    return version is not None and journal.holds(_name(stream_id, version + 1))


def has_gone_on(stream: Stream) -> bool:
    """Whether more is remembered of an open stream than the database has, and cannot be published from the memory."""
    version = vault.version_of(stream.pk)
    names = set(journal.names(f"{FOLDER}/{stream.pk}"))
    newest = max((int(name) for name in names - {CLOSED}), default=0)
    return version is not None and (CLOSED in names or newest > version) and pending(stream) is None


def pending(stream: Stream) -> Decision | None:
    """What was decided and not published, because the portal died between the two. The caller holds the stream."""
    version = vault.version_of(stream.pk)
    if version is None or not stream.is_open or journal.holds(_name(stream.pk, version + 2)):
        return None
    content = journal.recall(_name(stream.pk, version + 1))
    if not content or content["version"] != version:
        return None
    periods = tuple(DecidedPeriod(**period) for period in content["periods"])
    return Decision(version, content["state"], periods)


def require_newest(stream: Stream) -> None:
    """The newest period of the stream is the newest that anyone saw. The caller holds it.

    Raises RestoredError if the database lacks periods, MemoryFaultError if the memory does.
    """
    version = vault.version_of(stream.pk)
    if version is None:
        return  # it has no secret state to draw from
    if _lacks(stream.pk, version):
        raise MemoryFaultError(
            _("The portal's memory lacks periods of this running count. ") + journal.remedy()
        )
    if journal.holds(_name(stream.pk, version + 1)) or journal.holds(_name(stream.pk, CLOSED)):
        raise RestoredError(behind_text())


def behind_text() -> str:
    """Why a stream cannot go on that is behind what is remembered."""
    return _(
        "The portal's database was put back from an older copy that lacks periods of this running count, "
        "which people have seen, or in which it had not ended. It cannot go on: its noise would be drawn again. "
        "Open a new running count."
    )


def _name(stream_id: UUID, version: int | str) -> str:
    return f"{FOLDER}/{stream_id}/{version}"
