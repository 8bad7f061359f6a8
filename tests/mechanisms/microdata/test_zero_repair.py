"""Rows are mended where they hold what cannot occur and nowhere else, by the columns' own counts."""

from __future__ import annotations

import time
from collections.abc import Mapping
from itertools import combinations

import numpy as np
import pytest

from mechanisms.domain import Boolean, Categorical, Domain
from mechanisms.microdata.constraints import Wishes
from mechanisms.microdata.feasible_row import SearchEndedError, possible_row
from mechanisms.microdata.impossible import Impossible
from mechanisms.microdata.zero_repair import repaired
from mechanisms.noise import Noise
from mechanisms.protocol import PlanError
from mechanisms.registry import microdata
from tests.mechanisms.microdata.building import counted, loss

ALIKE = ((0, 0), (1, 1))


def brute_broken(rows: np.ndarray, cells: Mapping[tuple[int, int], tuple[tuple[int, int], ...]]) -> bool:
    return any(
        row[a] == x and row[b] == y for row in rows for (a, b), pairs in cells.items() for x, y in pairs
    )


def counts(rows: np.ndarray, sizes: tuple[int, ...]) -> list[np.ndarray]:
    return [np.bincount(rows[:, j], minlength=size).astype(float) for j, size in enumerate(sizes)]


def no_row() -> list[int]:
    raise AssertionError("the last remedy is not needed")


def test_repair_keeps_columns_where_exchanges_suffice():
    random = np.random.default_rng(8)
    rows = np.column_stack([random.integers(0, 4, 500), random.integers(0, 4, 500)])
    impossible = Impossible({(0, 1): ((0, 0),)})
    whole = repaired(rows, counts(rows, (4, 4)), impossible, no_row, random)
    assert not brute_broken(whole, impossible.cells)
    assert all((np.sort(whole[:, j]) == np.sort(rows[:, j])).all() for j in range(2))


def test_rows_that_hold_nothing_impossible_stay():
    random = np.random.default_rng(8)
    rows = np.column_stack([random.integers(1, 4, 500), random.integers(0, 4, 500)])
    impossible = Impossible({(0, 1): ((0, 0), (0, 3))})
    assert (repaired(rows, counts(rows, (4, 4)), impossible, no_row, random) == rows).all()


def test_only_columns_of_the_fault_change_though_others_have_zeros_of_their_own():
    """Columns 2 and 3 are alike in every row and may not be; columns 0 and 1 have a zero that no row holds."""
    random = np.random.default_rng(8)
    alike = np.ones(3000, dtype=np.int64)
    rows = np.column_stack([random.integers(1, 9, 3000), random.integers(0, 2, 3000), alike, alike])
    impossible = Impossible({(0, 1): ((0, 1),), (2, 3): ALIKE})
    whole = repaired(rows, counts(rows, (9, 2, 2, 2)), impossible, no_row, random)
    assert (whole[:, :2] == rows[:, :2]).all()
    assert (whole[:, 2] != whole[:, 3]).all()


def test_new_cells_follow_the_wanted_counts():
    """All hold (0, 0). Both columns' other cells are wanted 97 to 3, and a third one nobody should have."""
    rows, wanted = np.zeros((4000, 2), dtype=np.int64), np.array([2000, 1940, 60, 0.0])
    random = np.random.default_rng(8)
    whole = repaired(rows, [wanted, wanted], Impossible({(0, 1): ((0, 0),)}), no_row, random)
    assert ((whole == 0).sum(axis=1) == 1).all()
    for found in counts(whole, (4, 4)):
        assert found == pytest.approx(wanted, abs=45)
        assert found[3] == 0


def test_what_no_single_cell_mends_is_mended_cell_by_cell():
    """Next to 0 in the first column the others may have neither 0 nor 1; the first has no other cell but 1, in vain."""
    pairs = {(0, 1): ((0, 0), (0, 1), (1, 0)), (0, 2): ((0, 0), (0, 1), (1, 0))}
    rows = np.zeros((50, 3), dtype=np.int64)
    wanted = [np.array([50.0, 0]), np.array([10, 20, 20.0]), np.array([10, 20, 20.0])]
    whole = repaired(rows, wanted, Impossible(pairs), no_row, np.random.default_rng(8))
    assert not brute_broken(whole, pairs)


def test_the_last_remedy_leaves_columns_alone_that_no_zero_ties_to_the_fault():
    """Three columns all different, three cells, only two wanted: stuck rows take what the search finds."""
    apart = tuple((x, x) for x in range(3))
    cells = {
        (a, b): apart if (a, b) != (0, 1) else (*apart, (0, 2), (1, 0), (2, 1))
        for a, b in combinations(range(3), 2)
    }
    rows = np.column_stack([np.zeros((40, 3), dtype=np.int64), np.arange(40) % 4])
    impossible = Impossible(cells)
    row = possible_row((3, 3, 3, 4), impossible)
    assert row is not None
    whole = repaired(rows, counts(rows, (3, 3, 3, 4)), impossible, lambda: row, np.random.default_rng(8))
    assert not brute_broken(whole, cells) and (whole[:, 3] == rows[:, 3]).all()


DOMAIN = Domain(
    (
        Categorical("code", values=tuple("abcdefghij"), closed=True, misfits_to=0),
        Boolean("done"),
        Boolean("own"),
        Boolean("rented"),
    )
)


@pytest.mark.parametrize(
    "name",
    ["independent-columns", "tree-of-pairs", "private-partition", "clusters", "latent-classes"],
)
def test_a_released_column_outside_of_the_fault_keeps_its_counts(name):
    """Owned and rented exclude each other; 9 of 10 have code b, and code a is never done, so that column has a zero."""
    random = np.random.default_rng(1)
    code = np.where(random.random(5000) < 0.9, 1, random.integers(0, 10, 5000))
    done, own = np.where(code == 0, 0, random.integers(0, 2, 5000)), random.integers(0, 2, 5000)
    zeros = (
        ("own", "true", "rented", "true"),
        ("own", "false", "rented", "false"),
        ("code", "a", "done", "true"),
    )
    method = microdata(name)
    plan = method.plan(DOMAIN, Wishes(zeros=zeros), loss("1"))
    true = np.column_stack([code, done, own, 1 - own])
    noise = Noise(np.random.default_rng(2).bytes)
    result = method.reconstruct(plan, method.measure(plan, counted(plan, true), noise))
    assert not plan.wishes.impossible(DOMAIN).broken(result.rows).any()
    for made, wanted in zip(counts(result.rows, DOMAIN.shape), result.smoothed, strict=True):
        assert np.abs(made / len(result.rows) - wanted / result.total).sum() / 2 < 0.01


def test_a_row_is_found_if_and_only_if_there_is_one():
    random = np.random.default_rng(9)
    for _ in range(300):
        density = random.random()
        cells = {
            pair: tuple((x, y) for x in range(2) for y in range(3) if random.random() < density)
            for pair in ((0, 1), (0, 2), (1, 2), (1, 3))
        }
        cells = {pair: found for pair, found in cells.items() if found}
        shape = (2, 3, 3, 3)
        possible = [r for r in np.ndindex(*shape) if not brute_broken(np.array([r]), cells)]
        row = possible_row(shape, Impossible(cells))
        assert (row is None) == (not possible)
        assert row is None or tuple(row) in possible


def all_different(
    columns: int, size: int, first: int = 0
) -> dict[tuple[int, int], tuple[tuple[int, int], ...]]:
    return {
        (first + a, first + b): tuple((x, x) for x in range(size)) for a, b in combinations(range(columns), 2)
    }


def test_a_row_behind_a_long_blind_alley_is_found():
    """The first cell of column 0 leaves eight cells to nine columns that must differ; its other one leaves nine."""
    cells = all_different(9, 9, first=1) | {(0, j): ((0, 8),) for j in range(1, 10)}
    row = possible_row([2] + [9] * 9, Impossible(cells))
    assert row is not None and row[0] == 1 and sorted(row[1:]) == list(range(9))


def test_a_search_that_does_not_end_says_so_and_is_short():
    """Twelve columns that must differ and have eleven cells: impossible, and no search by cells finds that out."""
    start = time.process_time()
    with pytest.raises(SearchEndedError):
        possible_row([11] * 12, Impossible(all_different(12, 11)))
    assert time.process_time() - start < 3
    columns = [
        Categorical(f"c{j}", values=tuple("abcdefghijk"), closed=True, misfits_to=0) for j in range(12)
    ]
    zeros = tuple((f"c{a}", x, f"c{b}", x) for a, b in combinations(range(12), 2) for x in "abcdefghijk")
    with pytest.raises(PlanError, match="perhaps there is one"):
        Wishes(zeros=zeros).check(Domain(tuple(columns)))
