"""Intervals of differences hold where a group lies at an end: estimates of its shares and means are moved there."""

from __future__ import annotations

import numpy as np
import pytest

from mechanisms.accounting import Loss
from mechanisms.domain import Attribute, Boolean, Integer
from mechanisms.moments.estimates import Interval
from mechanisms.summary.differences import difference
from mechanisms.summary.truth import true_summary
from tests.mechanisms.summary.counting import counted
from tests.mechanisms.summary.test_estimates import every_loss, least, noisy, plan_of, repeated

RUNS = 2_000


@pytest.mark.slow
@every_loss
@pytest.mark.parametrize("people", [300, 3000])
@pytest.mark.parametrize("column", [Boolean("x", missing_cell=True), Integer("x", True, 0, 40)], ids=str)
def test_of_a_group_at_an_end_and_one_that_is_not(column: Attribute, people: int, loss: Loss) -> None:
    """Those of shares once held in 83 of 100 releases, of means in 93.

    Everybody of the first group has the lowest value, and a third of the second another.
    """
    one, many = plan_of(loss, 2, (column,)), plan_of(loss, 2 * RUNS, (column,))
    group = np.repeat([0, 1], people)
    x = (group == 1) & (np.arange(2 * people) % 3 == 0)
    exact = counted(one, group, {"x": x.astype(np.int64)})
    told, true = noisy(many, repeated(one, exact, RUNS)), true_summary(one, exact)
    truth = difference(true.columns[0], 1, 0)
    found = [difference(told.columns[0], 2 * run + 1, 2 * run) for run in range(RUNS)]
    for name in ("plain", "standardised"):
        right: Interval = getattr(truth, name)
        held = np.array([_holds(getattr(own, name), right.estimate) for own in found])
        assert held.mean(axis=0).min() >= least(RUNS), name


@every_loss
def test_a_standardised_difference_of_values_that_are_alike_is_hardly_ever_told(loss: Loss) -> None:
    """It was where noise lifted the deviation's lower end above 0, and then it was mostly wrong."""
    column, people = Integer("x", True, 0, 1000), 400
    one, many = plan_of(loss, 2, (column,)), plan_of(loss, 2 * RUNS, (column,))
    group = np.repeat([0, 1], people)
    exact = counted(one, group, {"x": np.full(2 * people, 900)})
    told = noisy(many, repeated(one, exact, RUNS))
    found = [difference(told.columns[0], 2 * run + 1, 2 * run).standardised for run in range(RUNS)]
    assert np.mean([not np.isnan(own.lower).any() for own in found]) <= 0.01


def _holds(interval: Interval, truth: np.ndarray) -> np.ndarray:
    """What is not determined holds everything, and so does the interval of what has no true value."""
    wrong = (truth < interval.lower - 1e-9) | (interval.upper + 1e-9 < truth)
    return np.asarray(~wrong)
