"""Sums of products of two columns' grades: what principal components are found from."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from mechanisms.accounting import Loss, PrivacyUnit
from mechanisms.arrays import Floats, Integers
from mechanisms.calibration import count_law
from mechanisms.microdata.tables import PairTables
from mechanisms.noise import NoiseLaw
from mechanisms.sensitivity import Sensitivity, unit_sensitivity

# Grades are whole numbers from -SCALE to SCALE.
SCALE = 2**7


def grades(counts: Floats, regular: int) -> Integers:
    """For each cell of an ordered column the share of rows below its middle, from -SCALE (none) to SCALE (all).

    counts: (c,) estimates >= 0, from noisy counts alone. regular: cells before the one for missing values, which has
    grade 0, as the middle row. Returns (c,) int64. A column with many rows in one cell, or far bounds, fills its range.
    """
    declared = counts[:regular]
    total = max(float(declared.sum()), 1e-9)
    below = (np.cumsum(declared) - declared / 2) / total
    result = np.zeros(counts.size, dtype=np.int64)
    result[:regular] = np.clip(np.rint(SCALE * (2 * below - 1)), -SCALE, SCALE).astype(np.int64)
    return result


def products(
    tables: PairTables, counts: Integers, columns: Sequence[int], graded: Sequence[Integers]
) -> Integers:
    """Σ over rows of t_i t_j for i < j, t being the rows' grades: (d(d-1)/2,) int64, a linear function of pair tables.

    columns: d rising places. graded: of each of them (c,) grades.
    """
    result = []
    for i, j in combinations(range(len(columns)), 2):
        result.append(graded[i] @ tables.table(counts, (columns[i], columns[j])) @ graded[j])
    return np.array(result, dtype=np.int64)


def products_sensitivity(columns: int, unit: PrivacyUnit) -> Sensitivity:
    """How far one person moves the products of d columns of grades from -S to S.

    A row that enters or leaves moves each of k = d(d-1)/2 sums by at most S²: by kS² in L1, kS⁴ in squared L2. For one
    row t that becomes s, Σ |t_i t_j - s_i s_j| and Σ (t_i t_j - s_i s_j)² are convex in every single coordinate, so
    largest at corners; there a pair differs, by 2S², exactly if one of i and j has changed its sign: at most
    q = ⌊d²/4⌋ pairs. So 2qS² and 4qS⁴.
    """
    pairs, crossed = columns * (columns - 1) // 2, columns**2 // 4
    entered = Sensitivity(pairs * SCALE**2, pairs * SCALE**4)
    return unit_sensitivity(unit, entered, Sensitivity(2 * crossed * SCALE**2, 4 * crossed * SCALE**4))


def products_law(columns: int, loss: Loss) -> NoiseLaw:
    """The noise of each product; together they cost the loss.

    Source: Dwork, Talwar, Thakurta, Zhang 2014 (Analyze Gauss), on integers, and with Laplace noise under pure ε. The
    diagonal is not measured: it follows from single columns' counts.
    """
    return count_law(loss, products_sensitivity(columns, loss.unit))
