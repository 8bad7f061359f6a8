"""The only reader and writer of a stream's secrets: its state, and the true sums for the curator.

Both are sealed with a key that is not in the database, bound to what they belong to: a state to its stream and
version, so that an older one cannot be put back in its place.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

import numpy as np
from django.conf import settings
from django.utils.translation import gettext as _

from dpportal.platform import sealing_faults
from dpportal.platform.json_types import Json
from dpportal.platform.keys import UnsealError
from dpportal.streams.models import Period, SealedState, SealedSums, Stream
from mechanisms.continual.mechanism import StreamSecrets

# Sealing does not hide a length, and the digits of a count are one: JSON is filled up with blanks. A running count
# takes at most 19 digits and two marks, and a mark for whether it was clipped; a state so many bytes, or a multiple.
BYTES_PER_SUM, OVERHEAD_BYTES = 22, 32
STATE_STEP = 1024


class VaultError(Exception):
    """The secrets cannot be opened; the message says why and what to do."""


class MemoryUnreachableError(VaultError):
    """The memory outside the database cannot be reached: what waits for it can go on once it is back."""


class StaleStateError(Exception):
    """Another writer changed the state since it was read."""


@dataclass(frozen=True)
class TrueCounts:
    """The true running counts after a period, (k,) int64, and which of its increments were clipped, (k,) bool."""

    sums: np.ndarray
    clipped: np.ndarray

    def to_json(self) -> Json:
        """Of a length that tells nothing of what was clipped."""
        return {"sums": self.sums.tolist(), "clipped": "".join("01"[int(one)] for one in self.clipped)}

    @classmethod
    def from_json(cls, value: Json) -> TrueCounts:
        marks = np.array([mark == "1" for mark in value["clipped"]], dtype=bool)
        return cls(np.array(value["sums"], dtype=np.int64), marks)


def keep_first(stream: Stream, state: StreamSecrets) -> None:
    """Store the state with which a stream is opened. Raises IntegrityError if it has one."""
    SealedState.objects.create(stream=stream, sealed=_sealed_state(stream, 0, state))


def read(stream: Stream) -> tuple[StreamSecrets, int]:
    """The state and its version. Raises VaultError."""
    row = SealedState.objects.filter(stream=stream).first()
    if row is None:
        raise VaultError(_("The secret state of this stream was deleted, so it cannot be continued."))
    return StreamSecrets.from_bytes(_opened(row.sealed, _state_name(stream, row.version))), row.version


def version_of(stream_id: UUID) -> int | None:
    """How often the state was replaced; None where there is none (any more)."""
    return SealedState.objects.filter(stream=stream_id).values_list("version", flat=True).first()


def replace(stream: Stream, state: StreamSecrets, version: int) -> None:
    """Store the next state in place of that version. Raises StaleStateError if it is not that one any more."""
    sealed = _sealed_state(stream, version + 1, state)
    current = SealedState.objects.filter(stream=stream, version=version)
    if current.update(version=version + 1, sealed=sealed) != 1:
        raise StaleStateError


def forget_state(stream: Stream) -> None:
    """Delete the secret noise: no period can follow."""
    SealedState.objects.filter(stream=stream).delete()


def forget_sums(stream: Stream) -> None:
    """Delete the true running counts of all periods."""
    SealedSums.objects.filter(period__stream=stream).delete()


def keep_sums(sums: Iterable[tuple[Period, TrueCounts]]) -> None:
    """Store the true running counts after some periods, for the curator."""
    SealedSums.objects.bulk_create(
        SealedSums(
            period=period,
            sealed=settings.STREAM_KEYS.seal_json(
                json.dumps(true.to_json()).encode(),
                bound_to=_sums_name(period),
                step=BYTES_PER_SUM * true.sums.size + OVERHEAD_BYTES,
            ),
        )
        for period, true in sums
    )


def true_counts(periods: Iterable[Period]) -> list[TrueCounts] | None:
    """The true running counts after each of the periods, and what was clipped; None if any were deleted.

    Raises VaultError.
    """
    rows = list(periods)
    sealed = SealedSums.objects.in_bulk([period.pk for period in rows])
    if len(sealed) < len(rows):
        return None
    opened = (_opened(sealed[period.pk].sealed, _sums_name(period)) for period in rows)
    return [TrueCounts.from_json(json.loads(content)) for content in opened]


def reseal_state(row: SealedState) -> bool:
    """Seal a state with the current key; False if it was. Raises UnsealError."""
    sealed = settings.STREAM_KEYS.resealed(bytes(row.sealed), bound_to=_state_name(row.stream, row.version))
    if sealed is None:
        return False
    return bool(SealedState.objects.filter(pk=row.pk, version=row.version).update(sealed=sealed))


def reseal_sums(row: SealedSums) -> bool:
    """The same for true sums, which never change."""
    sealed = settings.STREAM_KEYS.resealed(bytes(row.sealed), bound_to=_sums_name(row.period))
    return sealed is not None and bool(SealedSums.objects.filter(pk=row.pk).update(sealed=sealed))


def _state_name(stream: Stream, version: int) -> str:
    return f"state of stream {stream.pk} version {version}"


def _sums_name(period: Period) -> str:
    return f"sums of stream {period.stream_id} period {period.index}"


def _sealed_state(stream: Stream, version: int, state: StreamSecrets) -> bytes:
    name = _state_name(stream, version)
    return settings.STREAM_KEYS.seal_json(state.to_bytes(), bound_to=name, step=STATE_STEP)


def _opened(sealed: bytes | memoryview, name: str) -> bytes:
    try:
        return settings.STREAM_KEYS.unseal(bytes(sealed), bound_to=name)
    except UnsealError as fault:
        if missing := sealing_faults.obstacle():
            raise VaultError(missing) from None
        if not fault.key:
            raise VaultError(
                _(
                    "The secrets of this stream were changed, so they cannot be opened. Ask an administrator to "
                    "restore the database from a copy."
                )
            ) from None
        raise VaultError(
            _(
                "The secrets of this stream cannot be opened with the keys that the portal has. Ask an administrator "
                "to restore the key %(key)s, with which they were sealed (keys/stream_key, or DPPORTAL_STREAM_KEY)."
            )
            % {"key": fault.key}
        ) from None
