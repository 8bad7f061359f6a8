"""Mutual information: its value, how far one of n rows moves it, and columns chosen by it."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from mechanisms.accounting import Definition, Neighbours, PrivacyUnit
from mechanisms.domain import Domain, Integer
from mechanisms.microdata.constraints import Wishes
from mechanisms.microdata.features import INFORMATION, ColumnChoice
from mechanisms.microdata.information import PARTS, information, information_sensitivity
from mechanisms.microdata.limits import RowCount
from mechanisms.noise import Noise
from mechanisms.protocol import PlanError
from mechanisms.registry import microdata
from tests.mechanisms.microdata.building import counted, loss

REPLACE = PrivacyUnit(Neighbours.REPLACE_ONE)


def tables(people: int, cells: int) -> list[tuple[int, ...]]:
    """All ways that people fall into cells."""
    if cells == 1:
        return [(people,)]
    return [(first, *rest) for first in range(people + 1) for rest in tables(people - first, cells - 1)]


def by_entropies(table: np.ndarray) -> float:
    shares = table / table.sum()
    entropies = [
        -(p[p > 0] * np.log(p[p > 0])).sum() for p in (shares.sum(axis=1), shares.sum(axis=0), shares.ravel())
    ]
    return float(entropies[0] + entropies[1] - entropies[2])


def test_it_is_the_columns_entropies_less_the_tables():
    table = np.random.default_rng(1).integers(0, 9, (4, 5))
    assert information(table) == pytest.approx(PARTS * table.sum() * by_entropies(table), abs=1)
    assert information(np.zeros((2, 2), dtype=np.int64)) == 0
    assert information(np.outer([1, 2], [3, 4])) == 0


@pytest.mark.parametrize(
    ("shape", "people", "binary"),
    [((2, 2), 2, True), ((2, 2), 7, True), ((2, 3), 5, True), ((3, 3), 3, False), ((3, 3), 4, False)],
)
def test_no_neighbour_of_any_table_moves_it_further(shape, people, binary):
    """Brute force over all tables of so many people and all who become another; the bound is met up to a fifth."""
    found = {
        cells: information(np.array(cells).reshape(shape)) for cells in tables(people, int(np.prod(shape)))
    }
    furthest = 0
    for cells, own in found.items():
        for one, other in product(range(len(cells)), repeat=2):
            if cells[one] and one != other:
                moved = list(cells)
                moved[one] -= 1
                moved[other] += 1
                furthest = max(furthest, abs(own - found[tuple(moved)]))
    bound = information_sensitivity(people, binary=binary)
    assert 0.4 * bound < furthest <= bound


def test_a_single_pair_of_many_meets_the_bound_of_a_binary_column():
    """All alike but for one: the one becomes as the others."""
    people = 10_000
    apart, together = np.array([[people - 1, 0], [0, 1]]), np.array([[people, 0], [0, 0]])
    moved = information(apart) - information(together)
    assert (
        information_sensitivity(people, binary=True) - 4
        <= moved
        <= information_sensitivity(people, binary=True)
    )


@pytest.mark.parametrize("definition", Definition)
def test_the_column_that_tells_of_the_target_is_kept(definition):
    random = np.random.default_rng(3)
    rows = random.integers(0, 3, (3000, 5))
    rows[:, 4] = np.where(random.random(3000) < 0.8, rows[:, 2], rows[:, 4])
    domain = Domain(tuple(Integer(f"c{j}", lower=0, upper=2) for j in range(5)))
    method = microdata("tree-of-pairs")
    choices = {"rows": RowCount(public=3000), "choice": ColumnChoice(2, INFORMATION)}
    plan = method.plan(domain, Wishes(target="c4"), loss("5", definition, REPLACE), **choices)
    result = method.reconstruct(plan, method.measure(plan, counted(plan, rows), Noise()))
    assert result.columns == (2, 4)


def test_it_needs_a_public_number_of_rows():
    domain = Domain(tuple(Integer(f"c{j}", lower=0, upper=2) for j in range(3)))
    with pytest.raises(PlanError, match="not public"):
        microdata("tree-of-pairs").plan(
            domain, Wishes(target="c2"), loss(), choice=ColumnChoice(2, INFORMATION)
        )
    with pytest.raises(ValueError, match="two rows"):
        information_sensitivity(1, binary=True)
