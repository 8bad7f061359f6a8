from __future__ import annotations

import datetime as dt
import hashlib

import numpy as np
import pandas as pd
import pytest

from mechanisms import arrays
from mechanisms.domain import Attribute, Boolean, Categorical, Date, Domain, Integer, Real
from mechanisms.synthesis import table as tables
from mechanisms.synthesis.table import MIDPOINT, SMOOTH, rows

DIGEST = hashlib.sha256(b"a release").digest()
MIXED = Domain(
    (
        Categorical("sex", missing_cell=True, values=("female", "male")),
        Integer("age", missing_cell=True, lower=17, upper=90, width=10),
        Real("weight", missing_cell=True, lower=0.0, upper=1.0, bins=3),
        Date("admitted", missing_cell=True, lower=dt.date(2024, 1, 15), upper=dt.date(2024, 3, 10)),
        Boolean("insured", missing_cell=True),
    )
)


def _counts(domain: Domain, top: int = 3) -> np.ndarray:
    return np.random.default_rng(0).integers(0, top, domain.size)


def _table(domain: Domain, counts: np.ndarray, within_bins: str = SMOOTH, **size: int) -> pd.DataFrame:
    return pd.concat(rows(domain, counts, DIGEST, within_bins, **size), ignore_index=True)


def _cell(attribute: Attribute, value: object) -> int:
    """The cell of a synthetic value, found by its bounds or label."""
    if pd.isna(value):  # type: ignore[call-overload]
        return attribute.regular_size
    if isinstance(attribute, Categorical | Boolean):
        return attribute.labels().index(str(value).lower() if isinstance(attribute, Boolean) else str(value))
    for cell in range(attribute.regular_size):
        first, last = attribute.bounds(cell)  # type: ignore[attr-defined]
        value = value.date() if isinstance(value, pd.Timestamp) else value
        alone = first == last == value
        if alone or first <= value < last or (value == last and not isinstance(attribute, Real)):
            return cell
    raise AssertionError("a synthetic value lies in no bin")


@pytest.mark.slow
@pytest.mark.parametrize("within_bins", [SMOOTH, MIDPOINT])
def test_counting_the_rows_gives_the_counts_back(within_bins: str) -> None:
    counts = _counts(MIXED)
    table = _table(MIXED, counts, within_bins)
    parts = [[_cell(a, value) for value in table[a.name]] for a in MIXED.attributes]
    cells = np.ravel_multi_index([np.array(p) for p in parts], MIXED.shape)
    assert np.array_equal(np.bincount(cells, minlength=MIXED.size), counts)


@pytest.mark.parametrize(
    "attribute",
    [
        Integer("x", lower=0, upper=99, width=10, single_values=(0, 50, 99)),
        Integer("x", lower=0, upper=9, width=100, single_values=(4, 5)),
        Real("x", lower=0.0, upper=5e4, bins=7, single_values=(0.0, 100.0, 5e4)),
        Real("x", lower=0.0, upper=1.0, bins=1, single_values=(1 / 3,)),
    ],
)
def test_rows_with_single_values_count_back_to_their_cells(attribute: Integer | Real) -> None:
    counts = np.arange(attribute.size) * 97 + 1
    drawn = _table(Domain((attribute,)), counts)["x"]
    for value, cell in zip(attribute.single_values, attribute.single_cells, strict=True):
        assert (drawn == value).sum() == counts[cell]
    cells = np.searchsorted([attribute.start(cell) for cell in range(attribute.size)], drawn, "right") - 1
    assert np.bincount(cells, minlength=attribute.size).tolist() == counts.tolist()


def test_the_same_digest_gives_the_same_bytes() -> None:
    first, second = (_table(MIXED, _counts(MIXED)).to_csv() for _ in range(2))
    assert first == second


@pytest.mark.slow
def test_the_chunk_changes_nothing() -> None:
    counts = _counts(MIXED)
    pd.testing.assert_frame_equal(_table(MIXED, counts), _table(MIXED, counts, chunk=7))


def test_another_digest_gives_other_values() -> None:
    domain, counts = Domain((Real("x"),)), np.array([5])
    one, other = (next(rows(domain, counts, hashlib.sha256(d).digest())) for d in (b"1", b"2"))
    assert not one.equals(other)


def test_two_columns_with_the_same_bins_are_drawn_apart() -> None:
    table = _table(Domain((Real("x"), Real("y"))), np.array([1000]))
    assert abs(np.corrcoef(table["x"], table["y"])[0, 1]) < 0.2


@pytest.mark.parametrize("run", [1, 2, 1000])
def test_very_many_people_come_in_the_order_of_cells_in_full_frames(
    run: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrays, "RUN", run)
    monkeypatch.setattr(tables, "MAX_SHUFFLED", 17)
    counts = np.array([0, 5, 0, 0, 9, 1, 0, 3])
    frames = list(rows(Domain((Integer("x", lower=0, upper=7),)), counts, DIGEST, chunk=4))
    assert [len(frame) for frame in frames] == [4, 4, 4, 4, 2]
    assert pd.concat(frames)["x"].tolist() == np.repeat(np.arange(8), counts).tolist()


def test_no_row_tells_by_its_place_in_which_cell_it_is() -> None:
    counts = np.array([0, 500, 0, 0, 900, 100, 0, 300])
    found = _table(Domain((Integer("x", lower=0, upper=7),)), counts)["x"].astype(int)
    assert np.bincount(found, minlength=8).tolist() == counts.tolist()
    # Of places and values in random order the correlation is within three over the root of 1,800.
    assert abs(np.corrcoef(np.arange(1800), found)[0, 1]) < 0.07


def test_frames_hold_at_most_a_chunk() -> None:
    frames = rows(Domain((Boolean("x"),)), np.array([5, 6]), DIGEST, chunk=4)
    assert [len(f) for f in frames] == [4, 4, 3]


def test_columns_keep_their_order_and_have_their_types() -> None:
    types = {name: str(dtype) for name, dtype in _table(MIXED, _counts(MIXED)).dtypes.items()}
    assert list(types.items()) == [
        ("sex", "string"),
        ("age", "Int64"),
        ("weight", "float64"),
        ("admitted", "datetime64[s]"),
        ("insured", "boolean"),
    ]


def test_no_rows_are_one_empty_frame_with_the_same_types() -> None:
    empty, full = (_table(MIXED, c) for c in (np.zeros(MIXED.size, int), _counts(MIXED)))
    assert len(empty) == 0
    assert empty.dtypes.equals(full.dtypes)


@pytest.mark.parametrize(
    ("column", "values"),
    [
        (Boolean("x", closed=True), {False, True}),
        (Boolean("x", closed=True, misfits_to=1), {False, True}),
        (Categorical("x", values=("yes", "no"), closed=True), {"yes", "no"}),
        (Categorical("x", values=("1", "02"), closed=True, misfits_to=0, as_numbers=True), {"1", "02"}),
        (Integer("x", lower=3, upper=4, closed=True), {3, 4}),
    ],
    ids=["yes or no", "yes or no, misfits yes", "texts", "numbers", "whole numbers"],
)
def test_a_closed_column_holds_its_values_and_nothing_else(column: Attribute, values: set[object]) -> None:
    assert set(_table(Domain((column,)), np.full(column.size, 9))["x"]) == values


def test_a_closed_column_may_have_missing_values() -> None:
    column = Boolean("x", closed=True, missing_cell=True)
    drawn = _table(Domain((column,)), np.array([2, 1, 4]))["x"]
    assert (drawn.isna().sum(), drawn.sum(), (~drawn.dropna()).sum()) == (4, 1, 2)


@pytest.mark.parametrize("attribute", MIXED.attributes, ids=lambda a: a.kind)
def test_the_missing_cell_gives_nulls(attribute: Attribute) -> None:
    counts = np.zeros(attribute.size, int)
    counts[-1] = 3
    assert _table(Domain((attribute,)), counts)[attribute.name].isna().all()


def test_every_integer_of_a_bin_is_drawn_equally() -> None:
    drawn = _table(Domain((Integer("x", lower=3, upper=7, width=5),)), np.array([100_000]))["x"]
    # 20,000 each, standard deviation 126; the digest is fixed, so the outcome never changes.
    assert sorted(drawn.unique()) == [3, 4, 5, 6, 7]
    assert drawn.value_counts().sub(20_000).abs().max() < 800


def test_every_day_of_a_month_is_drawn() -> None:
    february = Date("x", lower=dt.date(2024, 2, 1), upper=dt.date(2024, 2, 29))
    drawn = _table(Domain((february,)), np.array([10_000]))["x"]
    assert sorted(drawn.dt.day.unique()) == list(range(1, 30))


def test_midpoints() -> None:
    domain = Domain((Integer("i", lower=0, upper=9, width=10), Real("r", lower=0.0, upper=0.3), Boolean("b")))
    table = _table(domain, np.array([1, 0]), MIDPOINT)
    assert table.iloc[0].tolist() == [5, 0.15, False]


def test_real_values_show_a_few_digits_more_than_their_bin() -> None:
    drawn = _table(Domain((Real("x", lower=0.0, upper=200.0, bins=2),)), np.array([50, 50]))["x"]
    assert np.allclose(drawn * 10, (drawn * 10).round())


@pytest.mark.parametrize(
    ("lower", "upper"), [(1e15, 1e15 + 1), (0.0, 1e-12), (-1e300, 1e300), (1 / 3, 2 / 3)]
)
def test_real_values_stay_in_bins_of_any_width(lower: float, upper: float) -> None:
    drawn = _table(Domain((Real("x", lower=lower, upper=upper),)), np.array([1000]))["x"]
    assert (drawn >= lower).all()
    assert (drawn < upper).all()


def test_integers_up_to_a_billion_billion() -> None:
    far = Integer("x", lower=-(10**18), upper=10**18, width=2 * 10**18 + 1)
    drawn = _table(Domain((far,)), np.array([1000]))["x"]
    assert drawn.between(-(10**18), 10**18).all()
    assert drawn.max() > 0 > drawn.min()


@pytest.mark.parametrize(
    ("counts", "within_bins", "message"),
    [
        (np.zeros(3, int), SMOOTH, r"must have shape \(2,\), got \(3,\)"),
        (np.array([1, -1]), SMOOTH, "must not be negative"),
        (np.array([1, 1]), "edges", "must be one of smooth, midpoint"),
    ],
)
def test_what_makes_no_table_is_refused_at_once(counts: np.ndarray, within_bins: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rows(Domain((Boolean("x"),)), counts, DIGEST, within_bins)
