"""The factorisation with the optimal diagonal: a Fenwick tree whose answers have the best weights, in closed form."""

from __future__ import annotations

from functools import lru_cache
from typing import ClassVar

import numpy as np

from mechanisms.accounting import Definition
from mechanisms.continual.splits import Splits, SplitStream, joined, root, share_of


@lru_cache(maxsize=256)
def fenwick_splits(horizon: int, definition: Definition) -> Splits:
    """Splits at powers of two with the best shares.

    err(0) = 0, err(n) = (err(p-1)^⅓ + (n-p+1)^⅓)³ + err(n-p) with p = 2^⌊log₂n⌋; the share is err(p-1)^⅓ over the sum
    in brackets. Only n = 2^m - 1 and the numbers that the binary digits of N end with occur.
    """
    endings = {horizon & (2**bit - 1) for bit in range(1, horizon.bit_length() + 1)}
    full = {2**bit - 1 for bit in range(1, horizon.bit_length())}
    energies = {0: 0.0}
    middles, shares = [], []
    sizes = sorted((endings | full) - {0})
    for n in sizes:
        middle = 1 << n.bit_length() - 1
        before, after = root(np.array([energies[middle - 1], n - middle + 1.0]), definition)
        energies[n] = float(joined(before, after, definition)) + energies[n - middle]
        middles.append(middle)
        shares.append(int(share_of(before, after)))
    return Splits(
        sizes=np.array(sizes),
        middles=np.array(middles),
        shares=np.array(shares),
        energy=energies[horizon],
        depth=horizon.bit_length(),
    )


class FactorisationDiagonal(SplitStream):
    """Fenwick's tree with the weights that minimise the summed error, each found in O(log N) steps without a table."""

    name: ClassVar[str] = "fda"
    title: ClassVar[str] = "Fenwick tree, optimal weights (FDA)"
    summary: ClassVar[str] = (
        "Sums over blocks of periods, long blocks measured best; about half the tree's error."
    )
    splits = staticmethod(fenwick_splits)
