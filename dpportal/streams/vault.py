"""The only reader and writer of a stream's secrets: its state, and the true sums for the curator.

Both are sealed with a key that is not in the database, bound to what they belong to: a state to its stream and
version, so that an older one cannot be put back in its place.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterable, Sequence

import numpy as np
from django.conf import settings
from django.utils.translation import gettext as _

from dpportal.keys import UnsealError, seal, unseal
from dpportal.streams.models import Period, SealedState, SealedSums, Stream
from mechanisms.continual.mechanism import State

# Sealing does not hide a length, and the digits of a count are one: JSON is filled up with blanks. A running count
# takes at most 19 digits and two marks; a state so many bytes, or a multiple.
BYTES_PER_SUM = 21
STATE_STEP = 1024


class VaultError(Exception):
    """The secrets cannot be opened; the message says why and what to do."""


class StaleStateError(Exception):
    """Another writer changed the state since it was read."""


def keep_first(stream: Stream, state: State) -> None:
    """Store the state with which a stream is opened. Raises IntegrityError if it has one."""
    SealedState.objects.create(
        stream=stream, sealed=_sealed(state.to_bytes(), _state_name(stream, 0), STATE_STEP)
    )


def read(stream: Stream) -> tuple[State, int]:
    """The state and its version. Raises VaultError."""
    row = SealedState.objects.filter(stream=stream).first()
    if row is None:
        raise VaultError(_("The secret state of this stream was deleted, so it cannot be continued."))
    return State.from_bytes(_opened(row.sealed, _state_name(stream, row.version))), row.version


def replace(stream: Stream, state: State, version: int) -> None:
    """Store the next state in place of that version. Raises StaleStateError if it is not that one any more."""
    sealed = _sealed(state.to_bytes(), _state_name(stream, version + 1), STATE_STEP)
    current = SealedState.objects.filter(stream=stream, version=version)
    if current.update(version=version + 1, sealed=sealed) != 1:
        raise StaleStateError


def forget_state(stream: Stream) -> None:
    SealedState.objects.filter(stream=stream).delete()


def forget_sums(stream: Stream) -> None:
    SealedSums.objects.filter(period__stream=stream).delete()


def keep_sums(sums: Iterable[tuple[Period, np.ndarray]]) -> None:
    """Store the true running counts after some periods, for the curator."""
    SealedSums.objects.bulk_create(
        SealedSums(
            period=period,
            sealed=_sealed(json.dumps(true.tolist()).encode(), _sums_name(period), BYTES_PER_SUM * true.size),
        )
        for period, true in sums
    )


def true_sums(periods: Iterable[Period]) -> list[list[int]] | None:
    """The true running counts after each of the periods; None if any were deleted. Raises VaultError."""
    wanted = list(periods)
    sealed = SealedSums.objects.in_bulk([period.pk for period in wanted])
    if len(sealed) < len(wanted):
        return None
    return [json.loads(_opened(sealed[period.pk].sealed, _sums_name(period))) for period in wanted]


def fingerprint(stream: Stream, index: int, increments: Sequence[int]) -> str:
    """A keyed fingerprint of a period's content: without the key, nobody can test a guess of a small count."""
    content = json.dumps([str(stream.pk), index, list(increments)]).encode()
    return hmac.new(settings.FINGERPRINT_KEY.encode(), content, hashlib.sha256).hexdigest()


def _state_name(stream: Stream, version: int) -> str:
    return f"state of stream {stream.pk} version {version}"


def _sums_name(period: Period) -> str:
    return f"sums of stream {period.stream_id} period {period.index}"


def _sealed(content: bytes, name: str, step: int) -> bytes:
    """JSON, filled up to a multiple of `step` bytes and sealed."""
    filled = content.ljust(-(-len(content) // step) * step)
    return seal(settings.STREAM_KEY, filled, bound_to=name)


def _opened(sealed: bytes | memoryview, name: str) -> bytes:
    try:
        return unseal(settings.STREAM_KEY, bytes(sealed), bound_to=name)
    except UnsealError:
        raise VaultError(
            _(
                "The secrets of this stream cannot be opened with the key that the portal has. Ask an administrator "
                "to restore the key with which the stream was opened (keys/stream_key, or DPPORTAL_STREAM_KEY)."
            )
        ) from None
