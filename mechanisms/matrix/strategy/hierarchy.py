"""Hierarchies and wavelets over one column as integer matrices, and their weights for given queries."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from mechanisms.accounting import Definition
from mechanisms.histogram.dyadic import scales, workload_energies
from mechanisms.histogram.haar import Haar, fitted_haar
from mechanisms.histogram.tree import Tree, fitted_tree
from mechanisms.matrix.strategy.grid import BITS
from mechanisms.matrix.strategy.weights import MatrixRows
from mechanisms.matrix.workload.factor import AllRange, Factor, Identity, Prefix

# Entries of a temporary array.
_CHUNK = 2**22
_PURPOSES: dict[type[Factor], str] = {Identity: "cells", Prefix: "totals", AllRange: "ranges"}
# Energies below this share of the largest count as this: a wavelet needs a weight at every scale.
_LEAST = 1e-9


def tree_rows(tree: Tree, cells: int) -> MatrixRows:
    """The tree's answers as a matrix of `cells` columns; blocks beyond the cells are left out."""
    cell = np.arange(cells)
    blocks = [(cell >> e, np.full(cells, tree.weights[e])) for e in tree.levels]
    return _stacked_levels(blocks, cells)


def haar_rows(haar: Haar, cells: int) -> MatrixRows:
    """The wavelet's coefficients as a matrix of `cells` columns; those of empty cells alone are left out."""
    cell = np.arange(cells)
    total = [(np.zeros(cells, dtype=np.int64), np.full(cells, haar.weights[-1]))]
    halves = [(cell >> e + 1, haar.weights[e] * (1 - 2 * (cell >> e & 1))) for e in range(haar.scales)]
    return _stacked_levels([*total, *reversed(halves)], cells)


def _stacked_levels(levels: Sequence[tuple[np.ndarray, np.ndarray]], cells: int) -> MatrixRows:
    """Levels of (block of each cell, weight of each cell) on top of each other."""
    parts = [
        sparse.csr_array(
            (weights.astype(np.int64), (block, np.arange(cells))), shape=(int(block[-1]) + 1, cells)
        )
        for block, weights in levels
    ]
    return MatrixRows(sparse.csr_array(sparse.vstack(parts, format="csr")))


def best_tree_rows(
    weighted: Sequence[tuple[float, Factor]], definition: Definition, bits: int = BITS
) -> MatrixRows:
    """The hierarchy whose branching and weights fit a weighted list of queries over one column.

    bits: of the grid of the weights.
    """
    fitted = fitted_tree(_mixture(weighted), definition)
    return tree_rows(Tree(_coarser(fitted.weights, bits)), weighted[0][1].size)


def best_haar_rows(
    weighted: Sequence[tuple[float, Factor]], definition: Definition, bits: int = BITS
) -> MatrixRows:
    """The wavelet whose weights fit a weighted list of queries over one column.

    bits: of the grid of the weights.
    """
    energies = np.array(_mixture(weighted))
    fitted = fitted_haar(np.maximum(energies, _LEAST * energies.max()).tolist(), definition)
    return haar_rows(Haar(_coarser(fitted.weights, bits)), weighted[0][1].size)


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


def energies(factor: Factor) -> tuple[float, ...]:
    """Energies of the queries, all together, at the scales 0..K of the padded line of cells (see `dyadic`).

    The squared length of all queries in the vectors that are constant on blocks of 2^e cells is Σ 1ᵀG1/2^e over the
    blocks, G the Gram matrix.
    """
    if purpose := _PURPOSES.get(type(factor)):
        return tuple(factor.queries * e for e in workload_energies(purpose, factor.size))
    lengths = [factor.squares(), *(_block_length(factor, 2**e) for e in range(1, scales(factor.size) + 1))]
    return tuple(max(0.0, fine - coarse) for fine, coarse in zip(lengths, [*lengths[1:], 0.0], strict=True))


def _block_length(factor: Factor, block: int) -> float:
    """Σ over blocks b of cells of 1_bᵀ WᵀW 1_b / |b|, |b| the padded size."""
    n, total = factor.size, 0.0
    at_once = max(1, _CHUNK // n)
    count = -(-n // block)
    for first in range(0, count, at_once):
        inside = np.arange(n)[:, None] // block == np.arange(first, min(first + at_once, count))
        total += float((factor.gram_times(inside.astype(np.float64)) * inside).sum())
    return total / block
