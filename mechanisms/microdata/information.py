"""Mutual information of two columns as a score in whole numbers, and how far one person moves it."""

from __future__ import annotations

import math

from scipy.special import xlogy

from mechanisms.arrays import Integers

# A score is n · I in so many parts of a nat.
PARTS = 2**10


def information(table: Integers) -> int:
    """PARTS · n · I(X; Y), rounded, of (r, c) counts of n rows; I in nats."""
    rows, columns, people = table.sum(axis=1), table.sum(axis=0), int(table.sum())
    nats = xlogy(table, table).sum() - xlogy(rows, rows).sum() - xlogy(columns, columns).sum()
    return round(PARTS * float(nats + (people * math.log(people) if people else 0.0)))


def information_sensitivity(people: int, *, binary: bool) -> int:
    """How far `information` moves when one of `people` rows becomes another; binary: one column has two values.

    n I moves by at most ln n + (n - 1) ln(n/(n - 1)) if a column is binary, else by at most 2 ln((n + 1)/2) +
    (n - 1) ln((n + 1)/(n - 1)) (Zhang et al. 2017, Lemma 4.1). Rounding adds less than 1 to that, and the error of
    floats, less than 10^-15 of n ln n for each of its sums, less than 1 up to 10^10 rows.
    Raises ValueError for fewer than two people.
    """
    if people < 2:
        raise ValueError("mutual information needs at least two rows")
    n = float(people)
    if binary:
        bound = math.log(n) + (n - 1) * math.log1p(1 / (n - 1))
    else:
        bound = 2 * math.log((n + 1) / 2) + (n - 1) * math.log1p(2 / (n - 1))
    return math.ceil(PARTS * bound) + 2
