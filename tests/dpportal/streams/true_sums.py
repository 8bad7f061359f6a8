"""The true running counts that the vault has, which only the curator's comparison sees."""

from __future__ import annotations

from collections.abc import Iterable

from dpportal.streams import vault
from dpportal.streams.models import Period


def true_sums(periods: Iterable[Period]) -> list[list[int]] | None:
    """After each of the periods; None if any were deleted."""
    counts = vault.true_counts(periods)
    return None if counts is None else [true.sums.tolist() for true in counts]
