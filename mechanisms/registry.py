"""Mechanisms by name."""

from __future__ import annotations

from mechanisms.histogram.noisy import GaussianHistogram, LaplaceHistogram
from mechanisms.mechanism import Mechanism

HISTOGRAMS: tuple[Mechanism, ...] = (LaplaceHistogram(), GaussianHistogram())

_BY_NAME: dict[str, Mechanism] = {m.name: m for m in HISTOGRAMS}


def mechanism(name: str) -> Mechanism:
    """The mechanism of that name. Raises KeyError with the names that exist."""
    if name not in _BY_NAME:
        raise KeyError(f"no mechanism {name!r}; there are {', '.join(sorted(_BY_NAME))}")
    return _BY_NAME[name]
