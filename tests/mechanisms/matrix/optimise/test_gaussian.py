"""The certified optimum: against known figures, its certificate against any other strategy."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mechanisms.matrix.optimise.gaussian import GaussianOptimum, gaussian_optimum
from mechanisms.matrix.workload.factor import AllRange, Explicit, Factor, Identity, Prefix, Total, Width

RANDOM = np.random.default_rng(3)
FACTORS: list[Factor] = [
    Prefix(1),
    AllRange(1),
    Prefix(30),
    AllRange(25),
    Identity(6),
    Total(6),
    Width(20, 7),
    Explicit(RANDOM.normal(size=(4, 20))),
    Explicit(RANDOM.random((60, 5)) @ RANDOM.random((5, 20))),
    Explicit((RANDOM.random((60, 20)) < 0.3).astype(float)),
    Explicit(np.array([[1.0, 0.1, 0.0], [0.0, 0.0, 0.0]])),
]


def dense_loss(factor: Factor, strategy: np.ndarray) -> float:
    gram = strategy.T @ strategy
    return float(np.trace(factor.gram() @ np.linalg.pinv(gram, rcond=1e-10, hermitian=True)))


def root_mean_error(factor: Factor, found: GaussianOptimum) -> float:
    return math.sqrt(found.loss / factor.queries)


@pytest.mark.parametrize(
    ("factor", "loss"),
    [(Prefix(2), (3 + 5**0.5) / 2), (Prefix(3), 4.607862), (Prefix(4), 6.874144)],
    ids=repr,
)
def test_small_prefixes_reach_the_known_optimum(factor: Factor, loss: float) -> None:
    found = gaussian_optimum(factor, tolerance=1e-9)
    assert found.loss == pytest.approx(loss, rel=1e-6)
    assert found.lower_bound == pytest.approx(loss, rel=1e-6)


# Known optimum, and what McKenna et al. publish.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("factor", "optimum", "published"),
    [
        (Prefix(256), 2.5244, 2.5282),
        (Prefix(1024), 2.9555, 3.0653),
        (AllRange(256), 2.9014, 2.9022),
        (AllRange(1024), 3.5151, 3.5681),
    ],
    ids=repr,
)
def test_the_root_mean_error_is_the_known_one(factor: Factor, optimum: float, published: float) -> None:
    found = gaussian_optimum(factor)
    assert found.gap <= 1e-4
    assert root_mean_error(factor, found) == pytest.approx(optimum, abs=1e-4)
    assert root_mean_error(factor, found) < published


@pytest.mark.parametrize("factor", FACTORS, ids=lambda f: f"{type(f).__name__}{f.size}")
def test_the_strategy_is_feasible_answers_the_workload_and_has_its_loss(factor: Factor) -> None:
    found = gaussian_optimum(factor)
    A = found.strategy
    assert (A**2).sum(axis=0).max() <= 1 + 1e-12
    assert factor.gram() @ np.linalg.pinv(A) @ A == pytest.approx(factor.gram(), abs=1e-6)
    assert dense_loss(factor, A) == pytest.approx(found.loss)
    assert -1e-12 <= found.gap <= 1e-4


@pytest.mark.parametrize("factor", FACTORS, ids=lambda f: f"{type(f).__name__}{f.size}")
def test_no_other_strategy_goes_below_the_bound(factor: Factor) -> None:
    found, random = gaussian_optimum(factor, iterations=2), np.random.default_rng(4)
    for spread in (0.01, 0.1, 1.0):
        for _ in range(20):
            A = np.vstack([found.strategy, 0.05 * np.eye(factor.size)]) if spread < 1 else np.eye(factor.size)
            A = A + spread * random.normal(size=A.shape) * np.abs(A).max()
            A /= np.linalg.norm(A, axis=0)
            assert dense_loss(factor, A) >= found.lower_bound * (1 - 1e-9)


@pytest.mark.parametrize("factor", [Prefix(40), AllRange(40)], ids=repr)
def test_structure_changes_the_time_and_not_the_optimum(factor: Factor) -> None:
    root = np.linalg.cholesky(factor.gram()).T
    dense = gaussian_optimum(Explicit(root), tolerance=1e-7)
    assert gaussian_optimum(factor, tolerance=1e-7).loss == pytest.approx(dense.loss, rel=1e-6)


def test_the_gap_narrows_with_iterations_and_progress_is_told() -> None:
    seen: list[int] = []
    gaps = [gaussian_optimum(Prefix(64), tolerance=0, iterations=i).gap for i in (1, 4, 13)]
    assert gaps == sorted(gaps, reverse=True)
    gaussian_optimum(Prefix(64), tolerance=0, iterations=3, on_progress=lambda done, _: seen.append(done))
    assert seen == [1, 2, 3]


def test_a_workload_that_asks_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="asks nothing"):
        gaussian_optimum(Explicit(np.zeros((2, 3))))
