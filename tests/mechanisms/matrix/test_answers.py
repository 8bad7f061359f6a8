"""Standard errors, intervals and covariances of answers, against dense algebra and exact laws."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from mechanisms.histogram.combination import Combination
from mechanisms.linear.tree import Tree
from mechanisms.matrix.answers import combined, covariance, standard_errors
from mechanisms.matrix.strategy.levels import TreeRows
from mechanisms.matrix.strategy.product import Kronecker, Stacked, Strategy
from mechanisms.matrix.strategy.rows import IdentityRows
from mechanisms.matrix.strategy.weights import MatrixRows
from mechanisms.matrix.workload.factor import AllRange, Identity, Prefix
from mechanisms.matrix.workload.union import Term, Workload
from mechanisms.noise import DiscreteGaussian, DiscreteLaplace, NoiseLaw
from mechanisms.noise.sum_quantiles import half_widths, reach

TREE = Kronecker([TreeRows(Tree((2, 1, 3)), 4), IdentityRows(2)])
STRATEGIES: list[Strategy] = [
    TREE,
    Stacked([TREE, Kronecker([MatrixRows(np.array([[1, 1, 0, 0], [0, 0, 1, 1]])), IdentityRows(2)])], [2, 3]),
]
WORKLOAD = Workload((4, 2), (Term(1.0, {0: AllRange(4), 1: Identity(2)}), Term(5.0, {1: Prefix(2)})), "")
LAW = DiscreteLaplace(Fraction(7, 2))
each = pytest.mark.parametrize("strategy", STRATEGIES, ids=["product", "union"])


def dense(strategy: Strategy) -> np.ndarray:
    """The covariance of the answers, (q, q)."""
    A = strategy.matrix().todense().astype(float)
    W = np.stack([WORKLOAD.answers(cell) for cell in np.eye(8)], axis=1)
    return LAW.variance * np.asarray(W @ np.linalg.inv(A.T @ A) @ W.T)


@each
def test_standard_errors_are_the_roots_of_the_diagonal(strategy: Strategy) -> None:
    wanted = np.sqrt(np.diag(dense(strategy)))
    assert standard_errors(LAW, strategy, WORKLOAD) == pytest.approx(wanted)


@each
def test_the_covariance_of_any_two_answers_is_known(strategy: Strategy) -> None:
    wanted = dense(strategy)
    for one, other in [(0, 0), (3, 17), (21, 4)]:
        units = np.eye(WORKLOAD.queries)[[one, other]]
        assert covariance(LAW, strategy, WORKLOAD, *units) == pytest.approx(wanted[one, other])


@each
def test_a_difference_has_its_own_standard_error(strategy: Strategy) -> None:
    weights = np.zeros(WORKLOAD.queries)
    weights[[2, 9, 21]] = 1, -1, 2
    error, half_width = combined(LAW, strategy, WORKLOAD, weights)
    assert error == pytest.approx(math.sqrt(weights @ dense(strategy) @ weights))
    assert half_width > 2 * error


SUMS = [[1], [1, 1], [2, 1], [3, 3, 3], [1] * 10, [5, 1, 1, 1], [7, 4, 1, 1, 2, 8], [2, 2, 9]]
LAWS: list[NoiseLaw] = [
    DiscreteLaplace(Fraction(1, 2)),
    DiscreteLaplace(Fraction(3)),
    DiscreteLaplace(Fraction(20)),
    DiscreteGaussian(Fraction(1, 4)),
    DiscreteGaussian(Fraction(3)),
    DiscreteGaussian(Fraction(400)),
]


def probabilities(law: NoiseLaw, coefficient: int, reach: int) -> np.ndarray:
    """Of coefficient · K, from -coefficient · reach up."""
    spread = np.zeros(2 * coefficient * reach + 1)
    spread[::coefficient] = [law.probability(k) for k in range(-reach, reach + 1)]
    return spread


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("coefficients", SUMS, ids=str)
def test_an_interval_never_covers_less_than_it_states(law: NoiseLaw, coefficients: list[int]) -> None:
    """By the exact probabilities of sums of few and many noises, with equal and unequal coefficients."""
    reach = law.half_width(1 - 1e-12)
    exact = np.ones(1)
    for coefficient in coefficients:
        exact = np.convolve(exact, probabilities(law, coefficient, reach))
    error = law.standard_error * math.sqrt(sum(a * a for a in coefficients))
    middle = exact.size // 2
    for largest in (max(coefficients), math.inf):
        inside = math.floor(half_widths(law, np.array([error]), largest)[0])
        assert exact[max(0, middle - inside) : middle + inside + 1].sum() >= 0.95 - 1e-9


def test_a_single_laplace_noise_reaches_farthest() -> None:
    """Over sums of two of any ratio, and of several; the law is as good as continuous."""
    law = DiscreteLaplace(Fraction(10**6))
    spread = np.random.default_rng(1).pareto(1, size=(15, 6)).tolist()
    for coefficients in [*([1.0, a] for a in np.linspace(0.05, 1, 12)), [1.0] * 3, [1.0] * 5, *spread]:
        total = Combination.of(law, [(a, 1) for a in coefficients])
        assert total.coverage(math.floor(reach(law) * total.standard_error)) >= 0.95 - 3e-6
