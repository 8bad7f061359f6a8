"""Of the groups that are told, not only of all, 95 % of the intervals hold."""

from __future__ import annotations

import numpy as np
import pytest

from mechanisms.accounting import Loss
from mechanisms.moments.estimates import Interval
from tests.mechanisms.moments.measuring import BERNSTEIN, NOBODY, ONE, RHO, column, powers_of, repeated

GROUPS = 20_000


def held_of_told(interval: Interval, truth: float) -> tuple[float, int]:
    """The share of the intervals that are told, and how many are."""
    told = ~np.isnan(interval.lower)
    hits = (interval.lower <= truth + 1e-9) & (truth - 1e-9 <= interval.upper)
    return float(hits[told].mean()), int(told.sum())


@pytest.mark.parametrize("loss", [ONE, RHO], ids=["pure", "zcdp"])
@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize("values", [[0], [1000], [0, 0, 1000], [400] * 3], ids=str)
def test_of_tiny_groups_that_are_told_most_intervals_hold(values: list[int], degree: int, loss: Loss) -> None:
    """A tiny group's mean is told where noise makes it large: of those 33 of 100 intervals once were wrong.

    A true 95 % falls below the bound with a chance of 2e-4 (normal approximation, 3.5 standard errors).
    """
    plan = BERNSTEIN.plan(NOBODY, [column(0, 1000)], degree, loss, 20)
    told = repeated(plan, powers_of(np.array(values, dtype=np.int64), 1000), GROUPS)
    for interval, truth in ((told.mean, np.mean(values)), (told.deviation, np.std(values))):
        if interval is None:
            continue
        share, number = held_of_told(interval, float(truth))
        assert number > 0
        assert share >= 0.95 - 3.5 * (0.95 * 0.05 / number) ** 0.5


def test_where_all_groups_are_told_nothing_is_wider() -> None:
    plan = BERNSTEIN.plan(NOBODY, [column(0, 1000)], 2, ONE, 5000)
    powers = powers_of(np.arange(5000) % 1001, 1000)
    alone, many = (repeated(plan, powers, groups) for groups in (1, 50))
    widths = many.mean.upper - many.mean.lower
    assert widths == pytest.approx(float((alone.mean.upper - alone.mean.lower)[0]), rel=0.02)
