"""Low rank: the projection, exactness, the bound, and improvement over where it begins."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from mechanisms.matrix.optimise.low_rank import low_rank, project_columns

RANDOM = np.random.default_rng(9)
WORKLOADS = [
    RANDOM.normal(size=(4, 20)),
    RANDOM.random((30, 3)) @ RANDOM.random((3, 12)),
    (RANDOM.random((6, 40)) < 0.4).astype(float),
    np.ones((1, 9)),
]


def test_the_projection_is_the_nearest_point_of_the_ball() -> None:
    for _ in range(20):
        column = RANDOM.normal(size=3) * 2
        found = project_columns(column[:, None])[:, 0]
        positive = minimize(
            lambda x, c=column: ((np.abs(c) - x) ** 2).sum(),
            np.full(3, 0.1),
            bounds=[(0, None)] * 3,
            constraints={"type": "ineq", "fun": lambda x: 1 - x.sum()},
            options={"ftol": 1e-14},
        )
        assert found == pytest.approx(np.sign(column) * positive.x, abs=1e-5)


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda w: str(w.shape))
def test_the_workload_is_answered_exactly_by_unit_columns(workload: np.ndarray) -> None:
    found = low_rank(workload)
    A = found.strategy
    assert np.abs(A).sum(axis=0).max() <= 1 + 1e-12
    assert workload @ np.linalg.pinv(A) @ A == pytest.approx(workload, abs=1e-9)
    assert found.residual < 1e-12
    assert found.loss == pytest.approx(((workload @ np.linalg.pinv(A)) ** 2).sum())


@pytest.mark.slow
@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda w: str(w.shape))
def test_the_loss_lies_between_the_bound_and_the_workload_itself(workload: np.ndarray) -> None:
    singular = np.linalg.svd(workload, compute_uv=False)
    given = workload / np.abs(workload).sum(axis=0).max()
    assert low_rank(workload).loss >= singular.sum() ** 2 / workload.shape[1] * (1 - 1e-9)
    assert low_rank(workload).loss <= ((workload @ np.linalg.pinv(given)) ** 2).sum() * (1 + 1e-9)


def test_more_rounds_never_do_worse() -> None:
    losses = [low_rank(WORKLOADS[0], rounds=rounds).loss for rounds in (0, 10, 40)]
    assert losses == sorted(losses, reverse=True)
    assert losses[2] < 0.8 * losses[0]


def test_a_workload_that_asks_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="asks nothing"):
        low_rank(np.zeros((2, 3)))
