"""How much of what is asked of one column lies in each scale of its line of cells."""

from __future__ import annotations

import numpy as np

from mechanisms.arrays import Floats
from mechanisms.linear.dyadic import scales, workload_energies
from mechanisms.matrix.workload.factor import AllRange, Factor, Identity, Prefix, Width

# Entries of a temporary array.
_CHUNK = 2**22
_PURPOSES: dict[type[Factor], str] = {Identity: "cells", Prefix: "totals", AllRange: "ranges"}


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
    if isinstance(factor, Width):
        # A window's overlaps follow from where in a block it begins.
        start = np.arange(min(block, factor.queries))
        overlap = overlaps(start, start + factor.width, block)
        turns, rest = divmod(factor.queries, block)
        return float(turns * overlap.sum() + overlap[:rest].sum())
    spans = factor.spans()
    if spans is not None:
        parts = (spans[first : first + _CHUNK].T for first in range(0, len(spans), _CHUNK))
        return sum(float(overlaps(start, stop, block).sum()) for start, stop in parts)
    n, total = factor.size, 0.0
    at_once = max(1, _CHUNK // n)
    count = -(-n // block)
    for first in range(0, count, at_once):
        inside = np.arange(n)[:, None] // block == np.arange(first, min(first + at_once, count))
        total += float((factor.gram_times(inside.astype(np.float64)) * inside).sum())
    return total / block


def overlaps(start: np.ndarray, stop: np.ndarray, size: int) -> Floats:
    """For each range of cells start..stop-1: Σ over aligned blocks of (cells of the range in the block)² / size."""
    first, last = start // size, stop // size
    head, tail = (first + 1) * size - start, stop - last * size
    apart = (last - first - 1) * size + (head.astype(np.float64) ** 2 + tail.astype(np.float64) ** 2) / size
    sums: Floats = np.where(first == last, (stop - start).astype(np.float64) ** 2 / size, apart)
    return sums
