"""Single columns measured again, in place of tables of pairs that would be mostly noise.

Every pair's table is as wrong as both of its columns are, so where people are few a better measurement of columns
brings all pairs nearer than a measurement of some. As in AIM (McKenna, Mullins, Sheldon, Miklau 2022) columns compete
with pairs; here a round measures the ones or the others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mechanisms.accounting import Loss
from mechanisms.arrays import Integers
from mechanisms.microdata.margins import Margins, joined
from mechanisms.microdata.measuring import column_variances, measured_columns
from mechanisms.microdata.plan import MicrodataPlan
from mechanisms.microdata.scoring import distortion
from mechanisms.microdata.tables import Grouping, Pair, split
from mechanisms.noise import Noise

# Of a column's noise, the part by which its estimate is off: neighbouring cells take away much of it. And how much
# more a measured pair tells than of itself: of its two columns, and of pairs that it joins. Both are set on Adult and
# on four tables of 526 to 4,137 people.
UNSMOOTHED, OF_OTHERS = 0.5, 1.8


def are_worth_more(
    plan: MicrodataPlan,
    margins: Margins,
    noisy: Integers,
    chosen: Sequence[Pair],
    grouping: Grouping,
    loss: Loss,
) -> bool:
    """Whether all pairs come nearer by measuring every column again than by measuring the chosen pairs.

    noisy: the scores of all pairs, whose mean says how far a pair is from what is believed. All of it is noisy.
    """
    of_each = distortion([grouping.cells(pair) for pair in chosen], loss) / len(chosen)
    if of_each >= 2 * margins.total:  # no table could be as far off as its noise is
        return True
    together = [
        1 / (1 / a + 1 / b)
        for a, b in zip(margins.variances, column_variances(plan.domain.shape, loss), strict=True)
    ]
    before, after = (_error_of_columns(margins, v) for v in (margins.variances, together))
    # Of what a pair is off, what its two columns are off by themselves is no dependence.
    of_columns, off = 2 * before / len(together), max(0.0, float(noisy.mean()))
    depends = math.sqrt(max(0.0, off**2 - of_columns**2))
    # What is far off beside the noise of its table is mended whole, and what is near hardly (Wiener).
    of_pairs = OF_OTHERS * len(chosen) * depends**2 / (depends + of_each)
    return (len(together) - 1) * (before - after) >= of_pairs


def _error_of_columns(margins: Margins, variances: Sequence[float]) -> float:
    """By how much all columns' counts are off together, in L1; a cell by no more than it has."""
    noise = (
        float(np.minimum(math.sqrt(2 * variance / math.pi), counts).sum())
        for counts, variance in zip(margins.counts, variances, strict=True)
    )
    return UNSMOOTHED * math.fsum(noise)


def measured_again(plan: MicrodataPlan, counts: Integers, loss: Loss, noise: Noise) -> Integers:
    """Noisy counts of every column, which together cost `loss`, as the first ones do."""
    return measured_columns(plan.tables.columns(counts), plan.domain.shape, loss, noise)


def with_again(plan: MicrodataPlan, margins: Margins, again: Integers, loss: Loss) -> Margins:
    """What is known of columns with what `measured_again` drew at this loss."""
    sizes = plan.domain.shape
    variances = column_variances(sizes, loss)
    return joined(plan.domain.attributes, margins, split(again, sizes), variances, plan.total)
