"""Estimated counts of several values together, by exact probabilities."""

from __future__ import annotations

import numpy as np
import pytest

from mechanisms.noise import Noise
from mechanisms.registry import RESPONSES
from mechanisms.response import Response, UnaryEncoding
from mechanisms.response_sums import cell_sum
from tests.mechanisms.test_response import coins, column_of, pure

every_response = pytest.mark.parametrize("m", RESPONSES, ids=lambda m: m.name)


@every_response
def test_the_sum_is_that_of_the_estimated_counts(m: Response) -> None:
    plan, codes = m.plan(column_of(7), pure("1")), np.repeat(np.arange(7), 30)
    measurement = m.measure(plan, codes, Noise())
    reports, counts = m.report_counts(plan, measurement), m.estimate(plan, measurement).counts
    some = np.array([0, 3, 4])
    assert cell_sum(m, plan, reports, codes.size, some).estimate == pytest.approx(counts[some].sum())
    one, alone = cell_sum(m, plan, reports, codes.size, some[:1]), m.estimate(plan, measurement)
    assert one.half_width == pytest.approx(alone.half_width[0])


@every_response
def test_the_number_of_all_rows_is_public(m: Response) -> None:
    plan = m.plan(column_of(4), pure("1"))
    found = cell_sum(m, plan, np.array([9, 0, 0, 0]), 5, np.arange(4))
    assert (found.estimate, found.half_width) == (5, 0)


@pytest.mark.parametrize("rows", [1, 5, 40, 760, 5600])
@pytest.mark.parametrize("amount", ["0.05", "1", "3", "10"])
@every_response
def test_intervals_hold_the_true_sum_in_95_of_100_by_exact_probabilities(
    m: Response, amount: str, rows: int
) -> None:
    for values, together in ((3, 2), (10, 2), (10, 5), (10, 9), (50, 20)):
        plan = m.plan(column_of(values), pure(amount))
        keep, other = float(plan.keep), float(plan.other)
        for true in {0, 1, rows // 2, rows - rows // 10, rows}:
            if m.name == UnaryEncoding.name:
                least, own = coins(true, keep)
                more, others = coins(true * (together - 1) + (rows - true) * together, other)
            else:
                least, own = coins(true, min(1.0, keep + (together - 1) * other))
                more, others = coins(rows - true, together * other)
            law = np.convolve(own, others)
            found = m.estimate_together(
                plan, np.arange(least + more, least + more + law.size), rows, together
            )
            inside = np.abs(found.counts - true) <= found.half_width * (1 + 1e-12)
            assert law[inside].sum() >= 0.95 - 1e-8, (values, together, true)
            assert (found.half_width <= 1.25 * 1.96 * found.standard_error + 8 / (keep - other)).all()
