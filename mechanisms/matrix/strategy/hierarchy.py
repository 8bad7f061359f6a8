"""The hierarchy and the wavelet over one column whose weights fit given queries."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechanisms.accounting import Definition
from mechanisms.linear.haar import Haar, fitted_haar
from mechanisms.linear.tree import Tree, fitted_tree
from mechanisms.matrix.strategy.energies import energies
from mechanisms.matrix.strategy.grid import BITS
from mechanisms.matrix.strategy.levels import HaarRows, TreeRows
from mechanisms.matrix.workload.factor import Factor

# Energies below this share of the largest count as this: a wavelet needs a weight at every scale.
_LEAST = 1e-9


def best_tree_rows(
    weighted: Sequence[tuple[float, Factor]], definition: Definition, bits: int = BITS
) -> TreeRows:
    """The hierarchy whose branching and weights fit a weighted list of queries over one column.

    bits: of the grid of the weights.
    """
    fitted = fitted_tree(_mixture(weighted), definition)
    return TreeRows(Tree(_coarser(fitted.weights, bits)), weighted[0][1].size)


def best_haar_rows(
    weighted: Sequence[tuple[float, Factor]], definition: Definition, bits: int = BITS
) -> HaarRows:
    """The wavelet whose weights fit a weighted list of queries over one column.

    bits: of the grid of the weights.
    """
    energies = np.array(_mixture(weighted))
    fitted = fitted_haar(np.maximum(energies, _LEAST * energies.max()).tolist(), definition)
    return HaarRows(Haar(_coarser(fitted.weights, bits)), weighted[0][1].size)


def _coarser(weights: tuple[int, ...], bits: int) -> tuple[int, ...]:
    """Weights as multiples of 2^-bits of their sum, rounded down; those above 0 stay so."""
    total = sum(weights)
    if total <= 2**bits:
        return weights
    return tuple(max(1, w * 2**bits // total) if w else 0 for w in weights)


def _mixture(weighted: Sequence[tuple[float, Factor]]) -> tuple[float, ...]:
    """Weighted energies of all queries together at the scales 0..K."""
    together = sum(weight * np.array(energies(factor)) for weight, factor in weighted)
    return tuple(np.asarray(together).tolist())
