"""What a public number of rows adds to sums: all groups' people, with a value or without, add up to it.

Let w·s be a group's people, those without a value among them, so that Σ w·s over G groups is N, for certain. The noise
of a column's sums is of one law, so the best linear estimates (Gauss, Markov) are the nearest sums for which that
holds, s + w (N - Σ w·s)/(G|w|²). A linear function a of k groups added up then has the noise of (a - c w) in each of
these and of -c w in each of the others, c = k (a·w)/(G|w|²): its variance is smaller by k² (a·w)²/(G|w|²). Of all
groups together, the number of people has no noise at all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechanisms.arrays import Floats
from mechanisms.postprocess import lattice_simplex


@dataclass(frozen=True)
class PublicNumber:
    """rows: N, of all groups together. groups: G."""

    rows: int
    groups: int

    def added(self, sums: Floats, people: Floats) -> Floats:
        """Sums of one column, (groups, sums), that make the number. people: w, (sums,), not 0."""
        missed = self.rows - float((sums @ people).sum())
        adjusted: Floats = sums + people * (missed / (self.groups * float(people @ people)))
        return adjusted

    def weights(self, of: Floats, people: Floats, times: int) -> tuple[Floats, Floats]:
        """What a linear function weighs the noise by: that of each of `times` groups, and of each other, (sums,)."""
        others = -times * float(of @ people) / (self.groups * float(people @ people)) * people
        return of + others, others

    def shared_out(self, number: Floats, missing: Floats) -> tuple[Floats, Floats]:
        """Whole people with a value and without of each group, (groups,) each: N together, near what was measured.

        Those of all groups are told first, since they are known best; then each group's, which add up to them.
        """
        with_value = int(np.rint(np.clip(number.sum(), 0, self.rows)))
        parts = ((number, with_value), (missing, self.rows - with_value))
        own, without = (lattice_simplex(each, total).astype(np.float64) for each, total in parts)
        return own, without
