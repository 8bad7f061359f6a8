"""What a measurement in several steps saw, as one vector of integers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechanisms.arrays import Integers
from mechanisms.microdata.plan import MicrodataPlan


def pack(parts: Sequence[np.ndarray]) -> Integers:
    """The number of parts, their sizes, then the parts themselves."""
    sizes = [part.size for part in parts]
    return np.concatenate([[len(parts)], sizes, *(part.ravel() for part in parts)]).astype(np.int64)


def unpack(values: Integers) -> list[Integers]:
    """What `pack` put together, each part as a vector."""
    parts = int(values[0])
    sizes = values[1 : 1 + parts]
    return np.split(values[1 + parts :], np.cumsum(sizes)[:-1])


def unpack_measured(
    plan: MicrodataPlan, values: Integers
) -> tuple[Integers, list[Integers], Integers | None]:
    """Noisy counts of single columns, what a method measured further, and sums of columns, if the plan has them."""
    noisy, *further = unpack(values)
    return noisy, further, further.pop() if plan.sums else None
