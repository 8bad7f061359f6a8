"""How values lie is told in steps that are readable, whose intervals hold."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from mechanisms.accounting import Loss
from mechanisms.domain import Integer
from mechanisms.summary.steps import TRIED
from tests.mechanisms.summary.counting import counted
from tests.mechanisms.summary.test_estimates import (
    every_loss,
    least,
    noisy,
    number_column,
    plan_of,
    repeated,
)

RUNS = 1_000
AGE, GAIN = Integer("age", True, 17, 90), Integer("gain", True, 0, 99_999, single_values=(5_000,))


@every_loss
@pytest.mark.parametrize("column", [AGE, GAIN], ids=lambda column: column.name)
def test_the_share_of_a_step_lies_in_its_interval(column: Integer, loss: Loss) -> None:
    """Of 700 people, most of whom are in the lower half."""
    one, many = plan_of(loss, 1, (column,)), plan_of(loss, RUNS, (column,))
    random = np.random.default_rng(1)
    x = column.lower + (random.beta(1, 4, 700) * (column.upper - column.lower)).astype(np.int64)
    x = np.where(random.random(700) < 0.5, x // 1000 * 1000, x) if column is GAIN else x
    exact = counted(one, np.zeros(700, dtype=np.int64), {column.name: x})
    steps = number_column(noisy(many, repeated(one, exact, RUNS))).steps
    # Of the values themselves, however they lie in the cells that were counted.
    truth = np.histogram(x, steps.edges)[0] / 700
    lower, upper = steps.shares.lower[:RUNS], steps.shares.upper[:RUNS]
    held = (lower <= truth + 1e-9) & (truth - 1e-9 <= upper)
    assert held.mean(axis=0).min() >= least(RUNS)
    estimate = steps.shares.estimate[:RUNS]
    assert estimate.min() >= 0 and estimate.sum(axis=1) == pytest.approx(1)
    # Tails of nobody have next to nobody, on average over runs: noise is added up before it is cut.
    assert estimate[:, truth == 0].mean() < 0.03 if (truth == 0).any() else True


@every_loss
@pytest.mark.parametrize("column", [AGE, GAIN], ids=lambda column: column.name)
def test_the_more_people_the_more_steps(column: Integer, loss: Loss) -> None:
    plan, random, numbers = plan_of(loss, 1, (column,)), np.random.default_rng(3), []
    for people in (100, 1_000, 10_000, 1_000_000):
        x = random.integers(column.lower, column.upper + 1, people)
        told = noisy(plan, counted(plan, np.zeros(people, dtype=np.int64), {column.name: x}))
        numbers.append(len(number_column(told).steps.edges) - 1)
    assert numbers == sorted(numbers)
    assert 4 <= numbers[0] < 10 and numbers[-1] == (74 if column is AGE else 62)


@every_loss
def test_a_step_of_everybody_is_known_to_half_of_an_even_share(loss: Loss) -> None:
    """Or there are as few as there can be. 37 steps once had margins of 4 points at heights of 3."""
    weak = Loss(loss.definition, loss.amount / Fraction(10))
    plan = plan_of(weak, 1, (AGE,))
    random = np.random.default_rng(2)
    exact = counted(plan, np.zeros(3000, dtype=np.int64), {"age": random.integers(17, 91, 3000)})
    shares = number_column(noisy(plan, exact)).steps.shares
    steps = shares.estimate.shape[1]
    half = (shares.upper - shares.lower).max() / 2
    assert half <= 0.55 / steps or steps <= TRIED[-1]
