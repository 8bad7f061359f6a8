"""What a measurement in several steps saw, as one vector of integers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechanisms.arrays import Integers


def pack(parts: Sequence[np.ndarray]) -> Integers:
    """The number of parts, their sizes, then the parts themselves."""
    sizes = [part.size for part in parts]
    return np.concatenate([[len(parts)], sizes, *(part.ravel() for part in parts)]).astype(np.int64)


def unpack(values: Integers) -> list[Integers]:
    """What `pack` put together, each part as a vector."""
    parts = int(values[0])
    sizes = values[1 : 1 + parts]
    return np.split(values[1 + parts :], np.cumsum(sizes)[:-1])
