"""The nearest series that never falls, against a general solver and by hand."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize

from mechanisms import registry
from mechanisms.accounting import Loss
from mechanisms.continual.consistent import never_falling
from mechanisms.continual.mechanism import StreamRequest


def test_a_step_down_is_shared_by_its_weights() -> None:
    assert never_falling(np.array([1, 5, 3, 8]), np.ones(4)).tolist() == [1, 4, 4, 8]
    assert never_falling(np.array([0, 6, 0]), np.array([1.0, 1.0, 2.0])).tolist() == [0, 4, 4]


def test_what_lies_below_zero_becomes_zero() -> None:
    assert never_falling(np.array([-4, -2, 3]), np.ones(3)).tolist() == [0, 0, 3]


@pytest.mark.parametrize("seed", range(5))
def test_it_is_the_least_squares_solution_under_both_constraints(seed: int) -> None:
    generator = np.random.default_rng(seed)
    released, variances = generator.integers(-9, 20, 8), generator.uniform(0.5, 4, 8)
    steps = np.diff(np.eye(8), axis=0, prepend=0)
    solved = minimize(
        lambda x: float(np.sum((x - released) ** 2 / variances)),
        np.arange(8.0),
        jac=lambda x: 2 * (x - released) / variances,
        method="SLSQP",
        constraints=LinearConstraint(steps, 0, np.inf),
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert never_falling(released, variances) == pytest.approx(solved.x, abs=1e-5)


def test_counts_without_noise_keep_their_places() -> None:
    assert never_falling(np.array([0, 6, 7]), np.zeros(3)).tolist() == [0, 6, 7]
    assert never_falling(np.array([5, 4]), np.zeros(2)).tolist() == [4.5, 4.5]
    assert never_falling(np.array([9, 6, 20]), np.array([1.0, 0.0, 1e-300])) == pytest.approx([6, 6, 20])


@pytest.mark.parametrize("amount", [50, 800, 1000])
def test_every_stream_has_a_line_that_never_falls_at_any_loss(amount: int) -> None:
    """Noise that is always 0 in floats has no variance, which stopped the page of a running count at ε = 800."""
    periods = np.arange(1, 8)
    for mechanism in registry.STREAMS:
        for definition in mechanism.definitions:
            plan = mechanism.plan(StreamRequest(7), Loss(definition, Fraction(amount)))
            counts = 3.0 * periods
            assert never_falling(counts, mechanism.variances(plan, periods)) == pytest.approx(counts)


def test_shapes_and_variances_are_checked() -> None:
    with pytest.raises(ValueError, match="one shape"):
        never_falling(np.array([1, 2]), np.ones(3))
    with pytest.raises(ValueError, match="negative"):
        never_falling(np.array([1, 2]), np.array([1.0, -1.0]))
