"""Counting cells, held against a slow reference that decides value by value in Python."""

import datetime as dt
import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpportal.tables import Persons, ReadOptions, count_cells, count_tables, counted_rows, packed_rows
from dpportal.tables.layout import NAMES_KEY, names_metadata, text_name
from mechanisms.domain import Attribute, Boolean, Categorical, Date, Domain, Integer, Real
from mechanisms.microdata.whole_rows import WholeRows
from tests.dpportal.tables.storing import number_columns

KEY = b"a key for these tests"


def stored(folder: Path, **columns: list) -> Path:
    """A table of texts as a conversion stores it, with plain numbers beside the columns that have only numbers."""
    path, texts = (
        folder / "table.parquet",
        {name: list(map(text_of, column)) for name, column in columns.items()},
    )
    fields = {text_name(i): pa.array(column, pa.string()) for i, column in enumerate(texts.values())}
    for number, column in enumerate(columns.values()):
        if not any(isinstance(value, str | dt.date | bool) for value in column):
            fields |= number_columns(number, list(texts.values())[number])
    table = pa.table(fields).replace_schema_metadata({NAMES_KEY: names_metadata(list(columns))})
    pq.write_table(table, path)
    return path


def text_of(value: object) -> str | None:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return None if value is None or value == "" else str(value)


def reference_cell(attribute: Attribute, value: object) -> int:
    """The cell of one value, by the words of `mechanisms.domain` and by the attribute's own bounds."""
    text = (text_of(value) or "").strip(" ")
    if not text:
        return attribute.missing
    if isinstance(attribute, Categorical):
        return attribute.cells.index(text) if text in attribute.cells else attribute.other
    if isinstance(attribute, Boolean):
        truth = {
            "true": 1,
            "t": 1,
            "yes": 1,
            "y": 1,
            "1": 1,
            "false": 0,
            "f": 0,
            "no": 0,
            "n": 0,
            "0": 0,
            "-0": 0,
        }
        return truth.get(text.lower(), attribute.missing)
    if isinstance(attribute, Date):
        day = reference_day(text)
        return attribute.missing if day is None else reference_bin(attribute, day, lambda b, d: d <= b[1])
    number = reference_number(text)
    if number is None:
        return attribute.missing
    if isinstance(attribute, Integer):
        number = number if math.isinf(number) else math.floor(number)
        return reference_bin(attribute, number, lambda b, x: x <= b[1])
    return reference_bin(attribute, number, lambda b, x: x < b[1])


def reference_bin(attribute, value, at_or_before) -> int:
    """The first bin that does not end before the value; the last if all do."""
    places = (i for i in range(attribute.regular_size) if at_or_before(attribute.bounds(i), value))
    return next(places, attribute.regular_size - 1)


def reference_number(text: str) -> float | int | None:
    if re.fullmatch("[-+]?[0-9]{1,18}", text):
        return int(text)
    if not re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?|[-+]?inf(inity)?", text, re.IGNORECASE):
        return None
    return float(text)


def reference_day(text: str) -> dt.date | None:
    try:
        return dt.date.fromisoformat(text[:10]) if re.match("[1-9]", text) and "-" in text[:5] else None
    except ValueError:
        return None


def reference_counts(columns: dict[str, list], domain: Domain) -> np.ndarray:
    counts = np.zeros(domain.shape, dtype=np.int64)
    for row in zip(*(columns[name] for name in domain.names), strict=True):
        counts[tuple(map(reference_cell, domain.attributes, row))] += 1
    return counts.ravel()


NUMBERS_AS_TEXT = [
    "5",
    " 7 ",
    "-3.5",
    "1e2",
    "+4",
    "007",
    "x",
    "",
    "nan",
    "inf",
    "-Infinity",
    "1_0",
    "0x5",
    None,
]
TRUTHS = ["true", "FALSE", " yes", "n", "1", "0", "2", "maybe", "", None]
DAYS_AS_TEXT = ["2020-02-29", "2019-12-31 23:00", " 2020-06-01", "2021-02-30", "01.02.2020", "", None]
REALS = [0.0, -0.0, 0.1, 0.2, 0.3, 0.7, 1.0, 1.0000001, -7.5, 2.5, 1e300, math.inf, -math.inf, math.nan, None]
WHOLES = [0, 1, 2, 3, 9, 10, 11, -5, 2**53 + 1, -(2**59), None]
DAYS = [
    dt.date(2019, 12, 31),
    dt.date(2020, 1, 1),
    dt.date(2020, 2, 29),
    dt.date(2020, 12, 31),
    dt.date(1, 1, 1),
]
DAYS += [dt.date(2020, 3, 31) + dt.timedelta(days=i) for i in range(0, 300, 7)] + [
    dt.date(9999, 12, 31),
    None,
]
WORDS = ["a", "b", "q\"uo'te", "<script>", "👩‍⚕️", "", " a", "Other", "Missing", "zzz", None]
INTEGERS = [
    {"lower": 0, "upper": 10},
    {"lower": -5, "upper": 10, "width": 3},
    {"lower": 0, "upper": 10, "edges": (0, 1, 5, 10)},
    {"lower": 3, "upper": 3},
    {"lower": -(10**18), "upper": 10**18, "width": 10**17},
]
REAL_BINS = [
    {"lower": 0.0, "upper": 1.0, "bins": 10},
    {"lower": -1.0, "upper": 2.1, "bins": 7},
    {"lower": 0.0, "upper": 10.0, "edges": (0.0, 0.1, 0.30000000000000004, 2.5, 10.0)},
    {"lower": 0.0, "upper": 1.0, "edges": (0.0, 1.0)},
]
KINDS: list[tuple[type, list[dict], list[list]]] = [
    (Integer, INTEGERS, [WHOLES, REALS, NUMBERS_AS_TEXT, [True, False, None], DAYS]),
    (Real, REAL_BINS, [REALS, WHOLES, NUMBERS_AS_TEXT, [True, False, None], DAYS]),
    (Categorical, [{"values": ("a", "q\"uo'te", "<script>", "👩‍⚕️", "5", "true")}], [WORDS, WHOLES, REALS]),
    (Categorical, [{"values": ("Other", "a")}], [WORDS, [True, False, None]]),
    (Boolean, [{}], [[True, False, None], TRUTHS, WHOLES, REALS, DAYS]),
    (Date, [{"step": s} for s in ("day", "week", "month", "quarter", "year")], [DAYS, DAYS_AS_TEXT, WHOLES]),
]
CASES = [(kind, how, values) for kind, hows, columns in KINDS for how in hows for values in columns]


@pytest.mark.parametrize("missing_cell", [False, True])
@pytest.mark.parametrize(("kind", "how", "values"), CASES)
def test_each_value_is_in_the_cell_of_the_reference(tmp_path, kind, how, values, missing_cell):
    if kind is Date:
        how = {"lower": dt.date(2020, 1, 1), "upper": dt.date(2021, 2, 15), **how}
    attribute = kind("x", missing_cell, **how)
    path = stored(tmp_path, x=values, row=list(range(len(values))))
    each = Domain((Integer("row", lower=0, upper=len(values) - 1), attribute))
    found = count_cells(path, each).reshape(each.shape)
    assert found.sum(axis=1).tolist() == [1] * len(values)
    assert found.argmax(axis=1).tolist() == [reference_cell(attribute, value) for value in values]


@pytest.mark.parametrize("seed", range(5))
def test_random_tables_of_four_columns_count_as_the_reference(tmp_path, seed):
    random = np.random.default_rng(seed)
    columns = {
        "age": [None if x < 0 else int(x) for x in random.integers(-5, 120, 500)],
        'wei"rd; drop': random.choice(["a", "b", "c", "<script>"], 500).tolist(),
        "pay": random.normal(0, 3, 500).round(1).tolist(),
        "day": [dt.date(2020, 1, 1) + dt.timedelta(int(d)) for d in random.integers(-100, 500, 500)],
    }
    domain = Domain(
        (
            Date("day", True, dt.date(2020, 1, 1), dt.date(2020, 12, 31), "quarter"),
            Categorical('wei"rd; drop', values=("a", "<script>")),
            Real("pay", lower=-1.0, upper=1.0, bins=20),
            Integer("age", True, 0, 99, width=7),
        )
    )
    assert (
        count_cells(stored(tmp_path, **columns), domain).tolist()
        == reference_counts(columns, domain).tolist()
    )


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 9, 100, 9999])
def test_own_edges_of_any_number_are_searched_right(tmp_path, size):
    edges = tuple(float(i) for i in range(size + 1))
    values = [i / 2 for i in range(-2, 2 * size + 4)]
    found = count_cells(
        stored(tmp_path, x=values), Domain((Real("x", lower=0.0, upper=float(size), edges=edges),))
    )
    wanted = np.bincount(
        np.clip(np.searchsorted(edges, values, side="right") - 1, 0, size - 1), minlength=size
    )
    assert found.tolist() == wanted.tolist()


def test_equal_bins_keep_their_own_float_edges(tmp_path):
    real = Real("x", lower=0.1, upper=0.7, bins=173)
    edges = [real.bounds(i)[0] for i in range(173)]
    below = [math.nextafter(edge, -1) for edge in edges[1:]]
    found = count_cells(stored(tmp_path, x=edges + below), Domain((real,)))
    assert found.tolist() == [2] * 172 + [1]


def test_a_column_that_is_not_there_is_a_key_error(tmp_path):
    with pytest.raises(KeyError):
        count_cells(stored(tmp_path, x=[1]), Domain((Integer("y", lower=0, upper=1),)))


def test_a_million_cells_are_counted(tmp_path):
    domain = Domain((Integer("x", lower=0, upper=999), Integer("y", lower=0, upper=999)))
    found = count_cells(stored(tmp_path, x=[0, 999, 5, 5], y=[0, 999, 7, 7]), domain)
    assert (found.size, found[0], found[-1], found[5007], found.sum()) == (10**6, 1, 1, 2, 4)


def test_a_unit_without_a_key_is_refused(tmp_path):
    with pytest.raises(ValueError, match="key"):
        count_cells(stored(tmp_path, x=[1]), Domain((Integer("x", lower=0, upper=1),)), persons=Persons("x"))


@pytest.mark.parametrize("rows_per_part", [1, 7, 1000])
@pytest.mark.parametrize("max_rows", [1, 3])
def test_of_each_unit_at_most_max_rows_count(tmp_path, monkeypatch, rows_per_part, max_rows):
    monkeypatch.setattr(counted_rows, "ROWS_PER_PART", rows_per_part)
    units = ["a"] * 5 + ["b"] * 2 + ["c"] + [None] * 4
    # One cell for each unit, so the counts show how many rows of it are kept.
    cells = [0] * 5 + [1] * 2 + [2] + [3] * 4
    found = count_cells(
        stored(tmp_path, unit=units, x=cells),
        Domain((Integer("x", lower=0, upper=3),)),
        persons=Persons("unit", max_rows),
        key=KEY,
    )
    assert found.tolist() == [min(max_rows, n) for n in (5, 2, 1, 0)]


def test_the_same_key_keeps_the_same_rows(tmp_path):
    path = stored(tmp_path, unit=[0] * 100, x=list(range(100)))
    domain = Domain((Integer("x", lower=0, upper=99),))
    once, again, other = (
        count_cells(path, domain, persons=Persons("unit", 10), key=key) for key in (KEY, KEY, b"another")
    )
    assert once.tolist() == again.tolist()
    # Two independent choices of 10 of 100 agree with probability 1 / C(100, 10) < 1e-13.
    assert once.tolist() != other.tolist()


def test_each_row_of_a_unit_is_kept_equally_often(tmp_path):
    """2000 people with 4 rows each, 1 kept: each of the four is kept 500 times ± 19.4 (one deviation).

    A fair choice is 110 (5.7 deviations) away in any of the four with probability below 1e-7.
    """
    path = stored(tmp_path, unit=[i // 4 for i in range(8000)], x=[i % 4 for i in range(8000)])
    kept = count_cells(path, Domain((Integer("x", lower=0, upper=3),)), persons=Persons("unit"), key=KEY)
    assert kept.sum() == 2000
    assert abs(kept - 500).max() <= 110


def test_a_count_matches_pandas_on_a_larger_table(tmp_path):
    random = np.random.default_rng(1)
    frame = pd.DataFrame({"a": random.integers(0, 10, 100_000), "b": random.choice(list("xyz"), 100_000)})
    domain = Domain((Integer("a", lower=0, upper=9), Categorical("b", values=("x", "y", "z"))))
    found = count_cells(stored(tmp_path, a=frame.a.tolist(), b=frame.b.tolist()), domain).reshape(
        domain.shape
    )
    wanted = frame.value_counts().to_dict()
    assert {(a, b): found[a, "xyz".index(b)] for a, b in wanted} == wanted
    assert found[:, 3].sum() == 0


def test_nothing_is_left_beside_the_table(tmp_path):
    count_cells(stored(tmp_path, x=[1]), Domain((Integer("x", lower=0, upper=1),)))
    assert [path.name for path in tmp_path.iterdir()] == ["table.parquet"]


HBA1C = Real("x", lower=4.0, upper=14.0, bins=100)
ICD = Categorical("x", values=("250.00", "250.10", "250.1"))


def test_values_on_an_edge_are_in_the_bin_that_begins_there(tmp_path):
    values = [f"{tenths // 10}.{tenths % 10}" for tenths in range(40, 140)]
    for column in (values, [f"{value}0" for value in values], [float(value) for value in values]):
        assert count_cells(stored(tmp_path, x=column), Domain((HBA1C,))).tolist() == [1] * 100


def test_codes_are_counted_by_their_text_and_by_their_number_where_declared(tmp_path):
    path = stored(tmp_path, x=["250.00", "250.0", "250.10", "250.1", "2.501e2", "U", "999999999999999999"])
    assert count_cells(path, Domain((ICD,))).tolist() == [1, 1, 1, 4]
    by_number = Categorical(
        "x", values=("250", "250.1", "999999999999999999", "1000000000000000000"), as_numbers=True
    )
    assert count_cells(path, Domain((by_number,))).tolist() == [2, 3, 1, 0, 1]


def test_words_of_truth_can_be_categories(tmp_path):
    found = count_cells(
        stored(tmp_path, x=["TRUE", "FALSE", "true", "TRUE"]),
        Domain((Categorical("x", values=("TRUE", "FALSE")),)),
    )
    assert found.tolist() == [2, 1, 1]


def test_composed_and_decomposed_texts_are_one_value(tmp_path):
    found = count_cells(
        stored(tmp_path, x=["Zürich", "Zu\u0308rich", "Zürich\u00a0"]),
        Domain((Categorical("x", values=("Zu\u0308rich",)),)),
    )
    assert found.tolist() == [3, 0]


def test_rows_that_a_closed_column_leaves_out_are_as_if_not_there(tmp_path):
    """Ann's only fitting row counts, whichever of her rows the key would have chosen."""
    path = stored(tmp_path, who=["Ann"] * 10, x=["?"] * 9 + ["yes"], y=["a"] * 10)
    domain = Domain((Boolean("x", closed=True), Categorical("y", closed=True, values=("a",))))
    assert count_cells(path, domain).tolist() == [0, 1]
    assert count_cells(path, domain, persons=Persons("who"), key=KEY).tolist() == [0, 1]
    misfits = Domain((Boolean("x", closed=True, misfits_to=0),))
    assert count_cells(path, misfits).tolist() == [9, 1]


def test_persons_are_one_with_spaces_around_and_capitals_where_declared(tmp_path):
    path = stored(tmp_path, who=["P1", "P1 ", " P1", "P1\u00a0", "p1", "7", "7.0", "007"], x=[0] * 8)
    domain = Domain((Integer("x", lower=0, upper=0),))
    assert count_cells(path, domain, persons=Persons("who"), key=KEY).tolist() == [5]
    assert count_cells(path, domain, persons=Persons("who", ignore_case=True), key=KEY).tolist() == [4]


@pytest.mark.parametrize(
    "options", [ReadOptions(missing=("-99",)), ReadOptions(decimal=",", thousands=".", missing=("-99",))]
)
def test_words_for_missing_are_texts_also_beside_plain_numbers(tmp_path, options):
    path = stored(tmp_path, x=[1, -99, 5, None])
    assert count_cells(path, Domain((Integer("x", True, -100, 10, width=100),)), options).tolist() == [
        0,
        2,
        2,
    ]


class TestTables:
    """Tables of some columns each, held against counting every table by itself."""

    DOMAIN = Domain(
        (
            Categorical("colour", values=("red", "green"), closed=True),
            Integer("age", lower=0, upper=9, missing_cell=True),
            Boolean("ill"),
        )
    )
    TABLES = (("colour", "age"), ("ill",), ("colour", "age", "ill"), ("age", "ill"))

    def test_each_is_what_counting_it_alone_gives(self, tmp_path) -> None:
        random = np.random.default_rng(3)
        path = stored(
            tmp_path,
            colour=random.choice(["red", "green", "blue"], 5000).tolist(),
            age=[None if a > 9 else int(a) for a in random.integers(0, 12, 5000)],
            ill=random.choice(["true", "false", "perhaps"], 5000).tolist(),
            who=[f"p{i}" for i in random.integers(0, 700, 5000)],
        )
        for persons in (None, Persons("who", 2)):
            together = count_tables(path, self.DOMAIN, self.TABLES, persons=persons, key=KEY)
            apart = []
            for columns in self.TABLES:
                further = [a for a in self.DOMAIN.attributes if a.leaves_out and a.name not in columns]
                domain = self.DOMAIN.project(columns)
                apart.append(count_cells(path, domain, persons=persons, key=KEY, further=further))
            assert together.dtype == np.int64
            assert together.tolist() == np.concatenate(apart).tolist()
            packed = packed_rows(path, self.DOMAIN, persons=persons, key=KEY)
            rows = np.concatenate(list(WholeRows(self.DOMAIN.shape).blocks(packed)))
            of_rows = []
            for columns in self.TABLES:
                places = [self.DOMAIN.names.index(name) for name in columns]
                shape = tuple(self.DOMAIN.shape[place] for place in places)
                cells = np.ravel_multi_index(tuple(rows[:, place] for place in places), shape)
                of_rows.append(np.bincount(cells, minlength=int(np.prod(shape))))
            assert together.tolist() == np.concatenate(of_rows).tolist()

    def test_persons_need_a_key(self, tmp_path) -> None:
        path = stored(tmp_path, colour=["red"], age=[1], ill=["true"], who=["p"])
        with pytest.raises(ValueError, match="needs a key"):
            count_tables(path, self.DOMAIN, self.TABLES, persons=Persons("who"))
