"""Pearson's test of draws of an integer law against exact probabilities."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.stats import chi2

# A correct sampler fails one test with this probability.
FALSE_ALARM = 1e-7
LEAST_EXPECTED = 100


def p_value(draws: np.ndarray, weight: Callable[[np.ndarray], np.ndarray], reach: int) -> float:
    """How likely counts as far from `weight` (unnormalised, negligible beyond ± reach) are by chance.

    Values on either side whose expected count is below 100 are pooled into two tails.
    """
    k = np.arange(-reach, reach + 1)
    expected = weight(k) / weight(k).sum() * draws.size
    often = np.flatnonzero(expected >= LEAST_EXPECTED)
    low, high = int(k[often[0]]), int(k[often[-1]])
    observed = np.bincount(np.clip(draws, low, high) - low, minlength=high - low + 1)
    pooled = expected[often].copy()
    pooled[0] = expected[k <= low].sum()
    pooled[-1] = expected[k >= high].sum()
    return float(chi2.sf(((observed - pooled) ** 2 / pooled).sum(), pooled.size - 1))
