"""The singular value bound: known values, dense singular values, and no strategy below it."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from mechanisms.accounting import Definition, Loss, PrivacyUnit
from mechanisms.matrix.optimise.bound import lower_bound, nuclear_norm
from mechanisms.matrix.workload.factor import AllRange, Explicit, Factor, Identity, Prefix, Total, Width
from mechanisms.matrix.workload.union import Term, Workload
from mechanisms.noise import DiscreteGaussian, DiscreteLaplace
from tests.mechanisms.neighbours import UNITS, changes, name

KNOWN = json.loads((Path(__file__).parents[3] / "data" / "known_answers.json").read_text())
RHO = Loss(Definition.ZCDP, Fraction(1, 2))
EPSILON = Loss(Definition.PURE, Fraction(1, 1000))


def single(factor: Factor) -> Workload:
    return Workload((factor.size,), (Term(1.0, {0: factor}),), "")


@pytest.mark.parametrize(
    ("n", "known"),
    [(2, KNOWN["gaussian_prefix_svd_bound_n2"]), (4, KNOWN["gaussian_prefix_n4"]["svd_bound"])],
)
def test_the_known_bounds_of_prefixes(n: int, known: float) -> None:
    assert lower_bound(single(Prefix(n)), RHO) == pytest.approx(known, rel=1e-6)


@pytest.mark.parametrize(("factor", "rmse"), [(Prefix(256), 2.4714), (AllRange(256), 2.8764)], ids=str)
def test_the_known_bounds_of_256_cells(factor: Factor, rmse: float) -> None:
    bound = lower_bound(single(factor), RHO)
    assert bound is not None
    assert math.sqrt(bound / factor.queries) == pytest.approx(rmse, abs=5e-5)


def test_the_bound_of_laplace_noise_is_that_of_twice_the_squared_scale() -> None:
    bound = lower_bound(single(Identity(5)), EPSILON)
    assert bound == pytest.approx(5 * 2 * 1000**2, rel=1e-6)


FACTORS = [
    Identity(6),
    Total(6),
    Prefix(6),
    AllRange(6),
    Width(6, 2),
    Explicit(np.arange(12.0).reshape(2, 6)),
]


@pytest.mark.parametrize("factor", FACTORS, ids=lambda f: type(f).__name__)
def test_the_sum_of_singular_values_is_that_of_the_matrix(factor: Factor) -> None:
    W = factor.times(np.eye(6))
    assert nuclear_norm(single(factor)) == pytest.approx(np.linalg.norm(W, "nuc"))


def test_products_and_weighted_unions_have_their_singular_values() -> None:
    one, other = Prefix(4).times(np.eye(4)), Identity(3).times(np.eye(3))
    product = Term(2.0, {0: Prefix(4), 1: Identity(3)})
    total = Term(0.5, {0: Identity(4)})
    wanted = 2 * np.kron(one, other)
    assert nuclear_norm(Workload((4, 3), (product,), "")) == pytest.approx(np.linalg.norm(wanted, "nuc"))
    stacked = np.concatenate([wanted, 0.5 * np.kron(np.eye(4), np.ones((1, 3)))])
    union = Workload((4, 3), (product, total), "")
    assert nuclear_norm(union) == pytest.approx(np.linalg.norm(stacked, "nuc"))


def test_a_union_over_many_cells_has_no_known_bound() -> None:
    terms = (Term(1.0, {0: Prefix(100)}), Term(1.0, {1: Prefix(100)}))
    assert lower_bound(Workload((100, 100), terms, ""), RHO) is None


@pytest.mark.parametrize("unit", UNITS, ids=name)
@pytest.mark.parametrize("definition", list(Definition))
def test_no_strategy_goes_below_it(definition: Definition, unit: PrivacyUnit) -> None:
    """Random integer strategies, and those that measure nothing but differences."""
    rng = np.random.default_rng(1)
    amount = Fraction(1, 3)
    W = AllRange(5)
    bound = lower_bound(single(W), Loss(definition, amount, unit))
    assert bound is not None
    matrix = W.times(np.eye(5))
    for _ in range(200):
        A = rng.integers(-3, 9, size=(6, 5))
        moved = np.abs(A @ changes(unit, 5).T)
        l1, l2 = (int((moved**order).sum(axis=0).max()) for order in (1, 2))
        pure = definition is Definition.PURE
        law = DiscreteLaplace(l1 / amount) if pure else DiscreteGaussian(l2 / (2 * amount))
        if np.linalg.matrix_rank(A) == 5:
            error = np.trace(matrix @ np.linalg.inv(A.T @ A) @ matrix.T)
            assert law.variance * error >= bound


@pytest.mark.parametrize("definition", list(Definition))
def test_noise_of_least_variance_for_its_sensitivity_is_that_of_one_row(definition: Definition) -> None:
    """The bound takes the discrete law at sensitivity 1: a finer grid never has less variance for its square."""
    for amount in (Fraction(1, 4), Fraction(1), Fraction(4)):
        pure = definition is Definition.PURE
        laws = [
            DiscreteLaplace(d / amount) if pure else DiscreteGaussian(d * d / (2 * amount))
            for d in range(1, 30)
        ]
        ratios = [law.variance / d**2 for d, law in enumerate(laws, 1)]
        assert min(ratios) >= ratios[0] * (1 - 1e-12)


def test_rounding_errors_of_a_union_do_not_lift_the_bound() -> None:
    """Two terms ask for the same eight of 32 dimensions: the sum of the singular values is that of √(a² + b²) I."""
    terms = tuple(Term(weight, {0: Width(8, 1)}) for weight in (0.5, 2.25))
    exact = 8 * math.sqrt(4 * (0.5**2 + 2.25**2))
    norm = nuclear_norm(Workload((8, 4), terms, ""))
    assert norm is not None
    assert abs(norm / exact - 1) < 1e-12
