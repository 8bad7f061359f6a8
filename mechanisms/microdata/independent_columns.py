"""Rows whose columns know nothing of each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from mechanisms.arrays import Floats, Integers
from mechanisms.microdata.apportioning import dealt
from mechanisms.microdata.cell_rows import from_columns
from mechanisms.microdata.margins import Margins
from mechanisms.microdata.mechanism import MARGINS, Microdata
from mechanisms.microdata.plan import MicrodataPlan, MicrodataResult
from mechanisms.noise import Noise


class IndependentColumns(Microdata):
    """Every column by itself: the baseline, which no pair of columns is told from."""

    name = "independent-columns"
    title = "Independent columns"
    summary = "Counts each column by itself; the rows hold no dependence between columns. To compare with."
    shares = {MARGINS: Fraction(1)}
    pairwise = False
    without_pairs = "every column was counted by itself, and the rows hold no dependence between columns."
    heeds = frozenset()
    has_dependence = False
    relied_on = (
        "Tables of one column are near to the truth. In these rows no column tells anything of another, whatever is "
        "true: a table of two or more columns shows no dependence."
    )
    microseconds_per_value = 0.3

    def _check_noise(self, plan: MicrodataPlan) -> None:
        """Nothing else is measured."""

    def _further(
        self, plan: MicrodataPlan, counts: Integers, margins: Margins, noise: Noise
    ) -> Sequence[np.ndarray]:
        return ()

    def _with_rows(
        self,
        plan: MicrodataPlan,
        result: MicrodataResult,
        margins: Margins,
        further: Sequence[Integers],
        random: np.random.Generator,
    ) -> MicrodataResult:
        everyone = np.zeros(len(result.rows), dtype=np.int64)
        columns: list[Floats] = [counts[None, :] for counts in margins.counts]
        dealt_columns = (dealt(everyone, shares, random) for shares in columns)
        return replace(result, rows=from_columns(dealt_columns, len(everyone), plan.domain.shape))
