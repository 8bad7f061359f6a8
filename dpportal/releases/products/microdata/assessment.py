"""What needs real rows, or every pair, to tell how good synthetic rows are: for the curator alone."""

from __future__ import annotations

import numpy as np

from dpportal.platform.json_types import Json
from dpportal.releases.products.microdata import learning
from mechanisms.domain import Domain
from mechanisms.microdata.nearest import nearest_distances, shares_by_distance

# Real rows that are looked at, and rows of either kind whose nearest real row is looked for.
MOST_ROWS, MOST_PROBES = 40_000, 1_000
# The nearest rows' distances from here on are one line of the table.
FARTHEST = 5


def assess(domain: Domain, target: str, synthetic: np.ndarray, real: np.ndarray) -> Json:
    """Classifier and nearest records as JSON. synthetic, real: (n, d) cells of the domain in random order."""
    return {
        "learning": _learning(domain, target, synthetic, real),
        "nearest": _nearest(synthetic, real),
    }


def _learning(domain: Domain, target: str, synthetic: np.ndarray, real: np.ndarray) -> Json:
    """What `learning.learned` says, or which of its conditions is not met."""
    conditions = {"target": domain.titles.get(target, ""), "installed": learning.available()}
    if target and conditions["installed"]:
        return {**conditions, **learning.learned(domain, target, synthetic, real)}
    return conditions


def _nearest(synthetic: np.ndarray, real: np.ndarray) -> Json:
    """Shares of rows by the number of columns in which the nearest real row differs.

    Some real rows are taken out, and looked for among the others as the synthetic ones are, so that the two compare.
    """
    probes = min(MOST_PROBES, len(real) // 2, len(synthetic))
    if not probes:
        return {}
    out, others = real[:probes], real[probes:]
    columns = real.shape[1]
    shares = [
        _lines(shares_by_distance(nearest_distances(rows, others), columns))
        for rows in (synthetic[:probes], out)
    ]
    return {"probes": probes, "others": len(others), "lines": list(zip(*shares, strict=True))}


def _lines(shares: list[float]) -> list[float]:
    return [*shares[:FARTHEST], sum(shares[FARTHEST:])]
