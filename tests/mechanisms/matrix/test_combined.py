"""Sums and differences of answers: their errors against dense algebra."""

from __future__ import annotations

import hashlib
from fractions import Fraction

import numpy as np
import pytest

from mechanisms import registry
from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Domain, Integer
from mechanisms.matrix.answering import MatrixMechanism, strategy_of
from mechanisms.matrix.combined import combined_error
from mechanisms.matrix.workload.text import read_workload
from mechanisms.noise import repeatable
from mechanisms.protocol import Measurement
from tests.mechanisms.matrix.montecarlo import noise

DOMAIN = Domain((Integer("a", lower=0, upper=2), Integer("b", lower=0, upper=3)))
PURE, ZCDP = Loss(Definition.PURE, Fraction(1)), Loss(Definition.ZCDP, Fraction(1, 2))


def random_weights(queries: int, name: str) -> np.ndarray:
    return repeatable(hashlib.sha256(name.encode()).digest()).integers(-2, 3, queries).astype(float)


@pytest.mark.parametrize("name", ["identity-strategy", "workload-strategy", "hierarchy-strategy"])
def test_it_is_the_quadratic_form_of_the_answers_covariance(name: str) -> None:
    """σ² cᵀ W (AᵀA)⁻¹ Wᵀ c, with the strategy and the workload as dense matrices."""
    mechanism = registry.query_mechanism(name)
    assert isinstance(mechanism, MatrixMechanism)
    workload = read_workload('ranges("a") x prefix("b") + 2 * identity("a")', DOMAIN)
    plan = mechanism.plan(DOMAIN, workload, PURE)
    strategy = strategy_of(mechanism, plan).matrix().toarray().astype(float)
    asked = np.stack([workload.answers(cell) for cell in np.eye(DOMAIN.size)], axis=1)
    weights = random_weights(workload.queries, name)
    row = weights @ asked
    exact = plan.noise.variance * row @ np.linalg.inv(strategy.T @ strategy) @ row
    assert combined_error(mechanism, plan, weights)[0] == pytest.approx(np.sqrt(exact), rel=1e-9)


def test_marginal_tables_agree_with_the_map_from_measurements_to_answers() -> None:
    """Answers are linear in what was measured, so unit measurements show the map B; the error is σ ‖Bᵀ c‖."""
    mechanism = registry.query_mechanism("residual-planner")
    workload = read_workload("marginals(<=2) + total", DOMAIN)
    plan = mechanism.plan(DOMAIN, workload, ZCDP)
    measured = 1 + sum(DOMAIN.project(columns).size for columns in plan.counted)
    # Large, so that no rounding of cells that come beside the answers matters; linear all the same.
    units = (10**9 * np.eye(measured)).astype(np.int64)
    shown = [mechanism.reconstruct(plan, Measurement(unit)).answers / 10**9 for unit in units]
    weights = random_weights(workload.queries, "marginals")
    exact = np.sqrt(plan.noise.variance) * np.linalg.norm(np.stack(shown) @ weights)
    assert combined_error(mechanism, plan, weights)[0] == pytest.approx(exact, rel=1e-6)


def test_a_single_answer_has_the_error_that_is_released_with_it() -> None:
    for name, text, loss in [
        ("hierarchy-strategy", 'ranges("a")', PURE),
        ("residual-planner", "marginals(<=2)", ZCDP),
    ]:
        mechanism = registry.query_mechanism(name)
        workload = read_workload(text, DOMAIN)
        plan = mechanism.plan(DOMAIN, workload, loss)
        counts = np.zeros(sum(DOMAIN.project(columns).size for columns in plan.counted), dtype=np.int64)
        result = mechanism.reconstruct(plan, mechanism.measure(plan, counts, noise(name)))
        for place in (0, workload.queries - 1):
            single = np.zeros(workload.queries)
            single[place] = 1
            error, half_width = combined_error(mechanism, plan, single)
            assert error == pytest.approx(result.standard_errors[place], rel=1e-9)
            assert half_width == pytest.approx(result.half_widths[place], rel=1e-9)
