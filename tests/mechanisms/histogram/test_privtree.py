from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2

from mechanisms.accounting import Definition, Loss, Neighbours, PrivacyUnit
from mechanisms.domain import Domain, Integer
from mechanisms.histogram.privtree import PrivTree, decay, split_scale
from mechanisms.noise import Noise
from mechanisms.protocol import Measurement
from tests.mechanisms.histogram.halvings import Tree, log_probability, trees

PRIVTREE = PrivTree()


def box(*widths: int) -> Domain:
    return Domain(tuple(Integer(f"x{i}", lower=1, upper=w) for i, w in enumerate(widths)))


def pure(amount: str, unit: PrivacyUnit = PrivacyUnit()) -> Loss:  # noqa: B008
    return Loss(Definition.PURE, Fraction(amount), unit)


def _worst(epsilon: Fraction, cells: int, scale_factor: Fraction = Fraction(1)) -> float:
    """Largest |ln P(tree | x + one row) - ln P(tree | x)| over all trees and small x."""
    scale = split_scale(2, epsilon) * scale_factor
    bias = decay(2, scale)
    levels = [0, 1, bias, bias + 1, 2 * bias + 1, 3 * bias + 1]
    worst = 0.0
    for first, second, far in itertools.product(levels, (0, 1), (0, bias)):
        x = (first, second, *[0] * (cells - 2))
        x = (*x[:-1], x[-1] + far)
        more = (x[0] + 1, *x[1:])
        for tree in trees(cells):
            change = log_probability(tree, more, scale, bias) - log_probability(tree, x, scale, bias)
            worst = max(worst, abs(change))
    return worst


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(5), Fraction(40)])
@pytest.mark.parametrize("cells", [2, 4, 8])
def test_no_tree_tells_one_row_by_more_than_epsilon(epsilon: Fraction, cells: int) -> None:
    assert _worst(epsilon, cells) <= float(epsilon) * (1 + 1e-9)


def test_half_the_noise_would_tell_more() -> None:
    assert _worst(Fraction(1), 8, Fraction(1, 2)) > 1


def test_the_decay_is_an_integer_above_lambda_ln_beta() -> None:
    # λ = 3/ε = 6 at ε = 1/2; 6 ln 2 = 4.16.
    assert split_scale(2, Fraction(1, 2)) == 6
    assert decay(2, Fraction(6)) == 5


@pytest.mark.parametrize(("rows", "factor"), [(1, 1), (3, 3)])
def test_rows_of_one_person_multiply_lambda(rows: int, factor: int) -> None:
    plan = PRIVTREE.plan(box(8), {}, pure("1", PrivacyUnit(Neighbours.ADD_REMOVE, rows)))
    # β = 2, ε/2 for the tree: λ = 3 · 2 = 6 rows.
    assert plan.details["stages"][0]["law"]["scale"] == str(6 * factor)


def test_halving_every_column_has_two_to_the_columns_children() -> None:
    plan = PRIVTREE.plan(box(8, 8, 1), {"split": "every"}, pure("1"))
    # β = 4: λ = (7/3)/ε = 14/3.
    assert (plan.details["fan_out"], plan.details["stages"][0]["law"]["scale"]) == (4, "14/3")


def test_under_zcdp_the_tree_takes_the_pure_loss_that_half_of_rho_holds() -> None:
    plan = PRIVTREE.plan(box(8), {}, Loss(Definition.ZCDP, Fraction(1)))
    # ρ/2 = 1/2 holds ε = 1: λ = 3.
    assert plan.details["stages"][0]["law"]["scale"] == "3"


def test_decisions_come_first_and_then_the_leaves() -> None:
    # Four cells: halved (1), the left half again (1), the right half not (0). The leaves: the right half first
    # (it became a leaf before its sister's cells did), then cells 0 and 1.
    plan = PRIVTREE.plan(box(4), {}, pure("1"))
    result = PRIVTREE.reconstruct(plan, Measurement(np.array([1, 1, 0, 8, 5, 6])))
    assert result.raw.tolist() == [5, 6, 4, 4]


def test_the_longest_column_is_halved_first() -> None:
    plan = PRIVTREE.plan(box(2, 4), {}, pure("1"))
    result = PRIVTREE.reconstruct(plan, Measurement(np.array([1, 0, 0, 4, 8])))
    assert result.raw.reshape(2, 4).tolist() == [[1, 1, 2, 2]] * 2


def test_every_column_is_halved_at_once() -> None:
    plan = PRIVTREE.plan(box(2, 2), {"split": "every"}, pure("1"))
    result = PRIVTREE.reconstruct(plan, Measurement(np.array([1, 1, 2, 3, 4])))
    assert result.raw.tolist() == [1, 2, 3, 4]


def test_columns_that_cannot_be_halved_stay_whole() -> None:
    plan = PRIVTREE.plan(box(1, 3), {"split": "every"}, pure("1"))
    # 3 cells into 1 + 2; the 2 are not halved.
    result = PRIVTREE.reconstruct(plan, Measurement(np.array([1, 0, 7, 4])))
    assert result.raw.tolist() == [7, 2, 2]


@pytest.mark.parametrize("split", ["longest", "every"])
def test_large_counts_are_found_cell_by_cell_without_noise(split: str) -> None:
    # ε = 1000: δ = 1; counts above the 6 levels of decay are isolated, and leaves' noise is 0 but for 1e-80.
    counts = np.random.default_rng(4).integers(100, 1000, 32)
    plan = PRIVTREE.plan(box(4, 8), {"split": split}, pure("1000"))
    measurement = PRIVTREE.measure(plan, counts, Noise(np.random.default_rng(2).bytes))
    assert np.array_equal(PRIVTREE.reconstruct(plan, measurement).raw, counts)


def test_an_empty_half_is_one_block_without_noise() -> None:
    counts = np.array([500] * 16 + [0] * 16)
    plan = PRIVTREE.plan(box(32), {}, pure("1000"))
    measurement = PRIVTREE.measure(plan, counts, Noise(np.random.default_rng(2).bytes))
    partition = PRIVTREE.reconstruct(plan, measurement).partition
    assert partition is not None
    assert np.unique(partition[16:]).size == 1


@pytest.mark.slow
def test_trees_occur_as_often_as_the_law_says() -> None:
    # 4,000 trees on four cells; chi-square at a false alarm of 1e-6.
    counts, runs = (9, 2, 0, 4), 4000
    plan = PRIVTREE.plan(box(4), {}, pure("1"))
    scale, bias = Fraction(6), int(plan.details["decay"])
    seen = Counter(_measured_tree(plan, counts) for _ in range(runs))
    expected = {t: runs * math.exp(log_probability(t, counts, scale, bias)) for t in trees(4)}
    statistic = sum((seen[t] - e) ** 2 / e for t, e in expected.items())
    assert min(expected.values()) > 5
    assert seen.total() == sum(seen[t] for t in expected)
    assert statistic < chi2.isf(1e-6, len(expected) - 1)


def _measured_tree(plan: object, counts: tuple[int, ...]) -> Tree:
    values = PRIVTREE.measure(plan, np.array(counts), Noise()).values.tolist()  # type: ignore[arg-type]
    if not values[0]:
        return ()
    return tuple(((), ()) if halved else () for halved in values[1:3])
