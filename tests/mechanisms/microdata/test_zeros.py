"""What cannot occur is known without asking: tables, fits and rows have nobody there, and come nearer to the truth."""

from __future__ import annotations

import time
from itertools import combinations

import numpy as np
import pytest

from mechanisms.domain import Categorical, Domain, Integer
from mechanisms.microdata.constraints import Wishes
from mechanisms.microdata.impossible import Impossible
from mechanisms.microdata.margins import Margins
from mechanisms.microdata.quality import closeness, table_of_rows
from mechanisms.microdata.scoring import independent
from mechanisms.microdata.table_with_sums import with_sums
from mechanisms.microdata.tables import Grouping
from mechanisms.noise import Noise, repeatable
from mechanisms.protocol import PlanError
from mechanisms.registry import microdata
from tests.mechanisms.microdata.building import counted, loss

SIZE, COLUMNS, PEOPLE, RELEASES = 5, 5, 3000, 4
DOMAIN = Domain(
    tuple(
        Categorical(f"c{j}", values=tuple(map(str, range(SIZE))), closed=True, misfits_to=0)
        for j in range(COLUMNS)
    )
)
# Each column is the one before or one more, in a circle: two of five values, the other three cannot be.
NEVER = tuple(
    (f"c{j}", str(x), f"c{j + 1}", str((x + step) % SIZE))
    for j in range(COLUMNS - 1)
    for x in range(SIZE)
    for step in (2, 3, 4)
)


def people() -> np.ndarray:
    random = np.random.default_rng(8)
    rows = [random.integers(0, SIZE, PEOPLE)]
    for _ in range(COLUMNS - 1):
        rows.append((rows[-1] + (random.random(PEOPLE) < 0.3)) % SIZE)
    return np.column_stack(rows)


def error(name: str, zeros: tuple[tuple[str, str, str, str], ...], amount: str) -> tuple[float, bool]:
    """Mean total variation of all pairs over some releases, and whether a row holds what cannot occur."""
    method, true = microdata(name), people()
    plan = method.plan(DOMAIN, Wishes(zeros=zeros), loss(amount))
    impossible, apart, broken = Wishes(zeros=NEVER).impossible(DOMAIN), [], False
    for release in range(RELEASES):
        noise = Noise(repeatable(bytes([release]) * 32).bytes)
        rows = method.reconstruct(plan, method.measure(plan, counted(plan, true), noise)).rows
        broken |= bool(impossible.broken(rows).any())
        apart += [
            closeness(*(table_of_rows(r, DOMAIN.shape, pair) for r in (true, rows))).synthetic
            for pair in combinations(range(COLUMNS), 2)
        ]
    return float(np.mean(apart)), broken


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tree-of-pairs", "latent-classes"])
@pytest.mark.parametrize("amount", ["0.01", "0.1"])
def test_errors_are_smaller_with_zeros_than_without(name, amount):
    """Sixty zeros of 250 cells; the same noise where the same is asked."""
    without, broken = error(name, (), amount)
    known, never = error(name, NEVER, amount)
    assert broken and not never
    assert known < 0.95 * without


def test_a_thousand_zeros_of_a_column_of_thousands_are_read_while_a_page_waits():
    domain = Domain((Integer("a", lower=0, upper=4999), Categorical("b", values=("x", "y"))))
    wishes = Wishes(zeros=tuple(("a", str(value), "b", "x") for value in range(1250)))
    start = time.process_time()
    wishes.check(domain)
    assert time.process_time() - start < 5
    assert len(wishes.impossible(domain).cells[(0, 1)]) == 1250


def test_a_range_of_values_can_be_typed_with_a_hyphen():
    domain = Domain((Integer("a", lower=-4, upper=5, width=5), Categorical("b", values=("1-2", "1–2"))))
    zeros = (("a", "-4-0", "b", "1-2"), ("a", "1–5", "b", "1–2"))
    assert Wishes(zeros=zeros).impossible(domain).cells == {(0, 1): ((0, 0), (1, 1))}


def test_a_label_of_two_cells_is_none_of_them():
    """Earlier declarations could call a value as the cell for missing values is called."""
    domain = Domain((Categorical("a", True, ("red", "Missing")), Categorical("b", True, ("x", "y"))))
    with pytest.raises(PlanError, match="two cells that are called Missing"):
        Wishes(zeros=(("a", "Missing", "b", "x"),)).check(domain)
    assert Wishes(zeros=(("a", "red", "b", "Missing"),)).impossible(domain).cells == {(0, 1): ((0, 3),)}


def test_groups_are_known_empty_only_if_all_their_cells_are():
    grouping = Grouping((np.array([0, 0, 1]), np.array([0, 1, 1])))
    impossible = Impossible({(0, 1): ((0, 0), (1, 0), (2, 1))})
    assert impossible.among_groups(grouping).nobody[(0, 1)].tolist() == [[True, False], [False, False]]
    assert not Impossible({(0, 1): ((0, 0),)}).among_groups(grouping).nobody


def test_what_independence_believes_keeps_columns_and_zeros():
    grouping = Impossible({(0, 1): ((0, 0), (2, 1))}).among_groups(Grouping((np.arange(3), np.arange(3))))
    counts = (np.array([20.0, 30, 50]), np.array([40.0, 30, 30]))
    table = independent(grouping, Margins(100.0, counts, (1.0, 1.0), ()))((0, 1))
    assert table[0, 0] == table[2, 1] == 0
    assert table.sum(axis=1) == pytest.approx(counts[0], rel=1e-3)
    assert table.sum(axis=0) == pytest.approx(counts[1], rel=1e-3)
    # Of relative entropy: odds ratios of what is left are those of independence.
    assert table[1, 0] * table[2, 2] == pytest.approx(table[2, 0] * table[1, 2])


def test_a_fitted_table_has_its_margins_and_nobody_where_nobody_can_be():
    noisy = np.random.default_rng(3).normal(10, 8, (4, 5))
    noisy[0, 0] = noisy[2, 3] = -np.inf
    noisy[3] = -np.inf
    rows, columns = np.array([30.0, 40, 50, 0]), np.full(5, 24.0)
    fitted = with_sums(noisy, rows, columns)
    assert fitted[0, 0] == fitted[2, 3] == 0 and (fitted[3] == 0).all() and (fitted >= 0).all()
    assert fitted.sum(axis=1) == pytest.approx(rows, abs=0.1)
    assert fitted.sum(axis=0) == pytest.approx(columns, abs=0.1)
