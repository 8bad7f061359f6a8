"""How far rows are from the nearest of other rows: a look for copies, no guarantee of privacy."""

from __future__ import annotations

import numpy as np

from mechanisms.arrays import Integers

# Comparisons that are held in memory at a time, a byte each.
MOST_HELD = 1 << 22


def nearest_distances(rows: np.ndarray, others: np.ndarray) -> Integers:
    """For each of (n, d) rows in how many columns the nearest of (m, d) others differs, (n,), m >= 1, d <= 255."""
    # Column by column, as they are compared: rows that lie one after the other took ten times as long.
    others = np.asfortranarray(others)
    step = max(1, MOST_HELD // len(others))
    blocks = [_apart(rows[start : start + step], others) for start in range(0, len(rows), step)]
    return np.concatenate([np.empty(0, dtype=np.int64), *blocks])


def _apart(rows: np.ndarray, others: np.ndarray) -> Integers:
    differ = np.zeros((len(rows), len(others)), dtype=np.uint8)
    for one, other in zip(rows.T, others.T, strict=True):
        differ += one[:, None] != other[None, :]
    least: Integers = differ.min(axis=1).astype(np.int64)
    return least


def shares_by_distance(distances: Integers, columns: int) -> list[float]:
    """The share of rows at each distance from 0 to the number of columns."""
    shares: list[float] = (np.bincount(distances, minlength=columns + 1) / max(1, len(distances))).tolist()
    return shares
