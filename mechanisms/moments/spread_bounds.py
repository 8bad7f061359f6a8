"""How far apart values can be that have a given mean, where it is known of shares of them between which ends they lie.

A share w_i of the values lies from a_i to b_i, both rising. Whatever the distribution is, Σ w_i a_i <= m <= Σ w_i b_i
for its mean m. Of values with that mean the deviation is least where each is as near to one number t as its part
allows, clip(t, a_i, b_i), with t so that the mean is m; both are reached (Lagrange). For given means μ_i of the parts
it is largest where each part lies at its two ends alone, and Σ w_i x² is then Σ w_i ((a_i + b_i) μ_i - a_i b_i), which
is largest where the mean is made of the last parts as far as they go. So these bounds are tight: numbers between them
are those of some distribution. With one part from L to U the largest variance is (m - L)(U - m).
"""

from __future__ import annotations

import numpy as np

from mechanisms.arrays import Floats


def least_deviation(low: Floats, high: Floats, shares: Floats, mean: Floats) -> tuple[Floats, Floats]:
    """t and the least deviation, (rows,) each. low, high: a and b, (rows, parts). shares: w, (parts,), adding up to 1.

    mean: (rows,), which the parts allow. Between two ends of parts the mean of clip(t, a, b) rises on a straight line.
    """
    ends = np.sort(np.hstack([low, high]), axis=1)
    means = np.clip(ends[:, :, None], low[:, None], high[:, None]) @ shares
    rows = np.arange(len(mean))
    before = np.clip((means <= mean[:, None]).sum(axis=1) - 1, 0, ends.shape[1] - 2)
    left, right = means[rows, before], means[rows, before + 1]
    inside = np.clip((mean - left) / np.maximum(right - left, 1e-300), 0, 1)
    t = ends[rows, before] + inside * (ends[rows, before + 1] - ends[rows, before])
    values = np.clip(t[:, None], low, high)
    return t, np.sqrt((values - mean[:, None]) ** 2 @ shares)


def most_deviation(low: Floats, high: Floats, shares: Floats, mean: Floats) -> Floats:
    """(rows,) the largest deviation; arguments as of `least_deviation`."""
    room = shares * (high - low)
    later = np.cumsum(room[:, ::-1], axis=1)[:, ::-1] - room
    filled = np.clip((mean - low @ shares)[:, None] - later, 0, room)
    squares = ((low + high) * filled + shares * low**2).sum(axis=1)
    most: Floats = np.sqrt(np.maximum(squares - mean**2, 0))
    return most
