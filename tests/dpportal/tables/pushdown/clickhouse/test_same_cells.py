"""A value means the same in ClickHouse as its text does in an uploaded file, cell by cell."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from dpportal.tables import Persons, ReadOptions
from dpportal.tables.pushdown.count_query import QuerySource, count_statement
from dpportal.tables.pushdown.types import TYPES, written_by
from mechanisms.domain import Categorical, Date, Domain, Integer, Real
from tests.dpportal.tables.awkward import OPTIONS
from tests.dpportal.tables.pushdown import laws, twins
from tests.dpportal.tables.pushdown.clickhouse.twin import DECLARED, fits
from tests.dpportal.tables.pushdown.test_same_cells import (
    ATTRIBUTES,
    DATED,
    HOW,
    MISSING,
    NUMBERS,
    TEXT_KINDS,
    TYPED_OPTIONS,
    VALUES,
    column_for_each_attribute,
    drawn,
    lacking,
)
from tests.dpportal.tables.pushdown.twins import both, compared

pytestmark = pytest.mark.clickhouse
# ClickHouse knows no moments without a zone.
DRAWN = {
    {"timestamp": "timestamptz"}.get(kind, kind): strategy
    for kind, strategy in {
        **drawn,
        "timestamp": drawn["timestamp"].map(lambda moment: f"{moment}+00:00"),
    }.items()
}


def of_clickhouse(kind: str) -> list[str | None]:
    return [value for value in [*VALUES[kind], None] if fits(kind, value)]


@pytest.mark.sampled
@pytest.mark.parametrize("kind", DECLARED)
def test_every_awkward_value_has_the_cell_of_its_text_in_clickhouse(clickhouse, tmp_path, kind):
    columns, domain = column_for_each_attribute(kind, of_clickhouse(kind), skip=lacking(kind))
    further = {"text": OPTIONS[2:4], "varchar": OPTIONS[2:3], "int4": [DATED], "int8": [DATED]}.get(kind, [])
    path = twins.stored(tmp_path, columns)
    clickhouse.fill(columns)
    for how in [*TYPED_OPTIONS, *further]:
        theirs, ours = compared(clickhouse, path, columns, domain, how)
        assert theirs == ours, how


@pytest.mark.parametrize("kind", [k for k in DECLARED if k not in ("bool", "date", "timestamptz")])
def test_numbers_are_compared_exactly_where_that_is_declared(clickhouse, tmp_path, kind):
    columns = {"x": (kind, of_clickhouse(kind))}
    domain = Domain((Categorical("x", True, values=NUMBERS, as_numbers=True),))
    for how in [*TYPED_OPTIONS, *(OPTIONS[2:4] if kind in TEXT_KINDS else [])]:
        theirs, ours = both(clickhouse, tmp_path, columns, domain, how)
        assert theirs == ours, how


some = {
    kind: st.none()
    | st.sampled_from(of_clickhouse(kind))
    | strategy.filter(lambda value, kind=kind: fits(kind, value))
    for kind, strategy in DRAWN.items()
}


@st.composite
def tables(draw, kinds=(*DRAWN, "text")):
    """A table with a column of each kind, each declared in one of its ways."""
    rows = draw(st.integers(1, 30))
    columns = {
        f"{kind} {i}": (kind, draw(st.lists(some[kind], min_size=rows, max_size=rows)))
        for i, kind in enumerate(kinds)
    }
    how = {**HOW, "timestamptz": HOW["timestamp"]}
    attributes = (ATTRIBUTES[draw(st.sampled_from(how[kind]))](name) for name, (kind, _) in columns.items())
    return columns, Domain(tuple(attributes))


@given(table=tables(), options=st.sampled_from([*TYPED_OPTIONS, ReadOptions(missing=MISSING)]))
@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_table_has_the_same_cells_in_clickhouse(clickhouse, tmp_path, table, options):
    """Column by column, two together, and by person where each may have as many rows as there are."""
    columns, domain = table
    asked = [*((name,) for name in domain.names), domain.names[1:3]]
    theirs, ours = both(clickhouse, tmp_path, columns, domain, options, tables=asked)
    assert theirs == ours
    whose = Persons(domain.names[0], 30, ignore_case=True)
    theirs, ours = both(clickhouse, tmp_path, columns, domain, options, tables=asked, persons=whose)
    assert theirs == ours


@given(table=tables(("text",) * 6), options=st.sampled_from(OPTIONS))
@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_texts_have_the_same_cells_in_clickhouse(clickhouse, tmp_path, table, options):
    theirs, ours = both(clickhouse, tmp_path, *table, options)
    assert theirs == ours


def asked(clickhouse, expression: str, declared: str, values: list[str]) -> list[object]:
    """What an expression says of each value of a column x."""
    clickhouse.owner("DROP TABLE IF EXISTS twin")
    clickhouse.owner(f"CREATE TABLE twin (place UInt32, x {declared}) ENGINE = Memory")
    rows = ", ".join(f"({place}, {value})" for place, value in enumerate(values))
    clickhouse.owner(f"INSERT INTO twin VALUES {rows}")
    found = clickhouse.connection.fetch(f"SELECT {expression} AS found FROM twin ORDER BY place")
    return [row["found"] for row in found]


def test_a_float_of_32_bits_means_its_shortest_digits(clickhouse):
    """Two hundred next to nothing, and many of any size: each is at or above the edge that its digits write."""
    random = np.random.default_rng(5)
    bits = np.concatenate([np.arange(1, 200), random.integers(0, 0x7F800000, 2000)]).astype(np.uint32)
    dialect, column = clickhouse.dialect, clickhouse.column("x")
    wide = dialect.sql(dialect.widened(dialect.held(column, "float4"), 2.0**53))
    values = [f"reinterpretAsFloat32(toUInt32({each}))" for each in bits]
    found = asked(clickhouse, f"toString({wide})", "Float32", values)
    floats = [float(number) for number in bits.view(np.float32)]
    assert [float(str(each)) for each in found] == [float(written_by(TYPES["float4"], x)) for x in floats]


def test_bytes_that_are_no_unicode_are_as_a_file_has_them(clickhouse):
    """One U+FFFD for what is no character or only the beginning of one, as Python decodes it."""
    random = np.random.default_rng(7)
    begun = [
        b"\xe2\x82",
        b"\xf0\x9f\x92",
        b"\xed\xa0\x80",
        b"\xc0\xaf",
        b"\xf4\x90\x80\x80",
        b"\xff\xff",
        b"",
    ]
    pieces = [*begun, b"a", "é".encode(), "€".encode(), "😀".encode(), b"\x80", b"\xf1"]
    texts = [b"".join(pieces[i] for i in random.integers(0, len(pieces), 5)) for _text in range(500)]
    dialect = clickhouse.dialect
    expression = dialect.sql(dialect.written(clickhouse.column("x"), "text"))
    found = asked(
        clickhouse, f"hex({expression})", "Nullable(String)", [f"unhex('{t.hex()}')" for t in texts]
    )
    assert found == [text.decode("utf-8", "replace").encode().hex().upper() for text in texts]


def test_days_of_all_years_that_are_read(clickhouse, tmp_path):
    """Its own dates end in 1900 and 2299; days of the years 1000 to 9999, and the ends of both."""
    numbers = {*range(365_000, 3_652_059, 997), 364_878, 3_652_059, 693_596, 693_595, 839_692, 839_693}
    days = [dt.date.fromordinal(number) for number in sorted(numbers) if number >= 364_878]
    texts = [*map(str, days), "1900-02-29", "2100-02-29", "2000-02-29", "1000-02-29", "9999-02-30"]
    bounds = dt.date(1000, 1, 1), dt.date(9999, 12, 31)
    steps = ("day", "week", "month", "quarter", "year")
    domain = Domain(tuple(Date(step, True, *bounds, step) for step in steps[1:]))
    columns = dict.fromkeys(steps[1:], ("text", texts))
    theirs, ours = both(clickhouse, tmp_path, columns, domain, ReadOptions())
    assert theirs == ours


@pytest.mark.parametrize("more", [0, 1])
@pytest.mark.parametrize("kind", ["float8", "text"])
def test_each_edge_begins_a_bin(clickhouse, tmp_path, kind, more):
    laws.each_edge_begins_a_bin(clickhouse, tmp_path, kind, more)


def test_nested_queries_stay_apart(clickhouse):
    """Merged, what one finds of a text is computed again for each branch of another that names it."""
    clickhouse.fill({"x": ("text", ["a"])})
    source = QuerySource(clickhouse.dialect, "twin", {"x": TYPES["text"]})
    domain = Domain((Categorical("x", True, values=("a", "b")),))
    statement = count_statement(source, domain, [("x",)], ReadOptions().settled(), None)
    steps = [line["explain"] for line in clickhouse.connection.fetch(f"EXPLAIN actions = 0 {statement}")]
    # What was merged is named by its parts: (Projection + Change column names).
    assert sum("Projection" in step for step in steps) > 5
    assert not any("Projection +" in step for step in steps)


def test_thousands_of_edges_and_categories_are_found_as_in_an_upload(clickhouse, tmp_path):
    edges = tuple(sorted({i / 7 for i in range(4000)}))
    numbers = [repr(edge) for edge in edges[::97]] + ["-1", "0.5", "571.1", "9999"]
    names = tuple(f"C{i}" for i in range(20_000))
    attributes = (
        Real("x", True, edges[0], edges[-1], edges=edges),
        Integer("y", True, 0, 40_000, edges=tuple(range(0, 40_001, 10))),
        Categorical("z", True, values=names),
    )
    columns = {
        "x": ("float8", numbers),
        "y": ("int8", [str(i * 977 - 3) for i in range(len(numbers))]),
        "z": ("text", [f"C{i * 499}" for i in range(len(numbers))]),
    }
    theirs, ours = both(clickhouse, tmp_path, columns, Domain(attributes), ReadOptions())
    assert theirs == ours


@pytest.mark.parametrize(
    ("declared", "values", "texts"),
    [
        ("FixedString(4)", ["'ab'", "'abcd'", "''"], ["ab", "abcd", None]),
        ("UInt64", ["18446744073709551615", "5"], ["18446744073709551615", "5"]),
        ("Int256", ["toInt256('-1{}')".format("0" * 70), "5"], ["-1" + "0" * 70, "5"]),
        ("Decimal(9, 3)", ["0.500", "-0.001"], ["0.5", "-0.001"]),
        (
            "Decimal(76, 75)",
            ["toDecimal256('0.{}1', 75)".format("0" * 74), "5"],
            ["0." + "0" * 74 + "1", "5"],
        ),
        ("UInt8", ["200", "5"], ["200", "5"]),
        ("UInt32", ["4294967295"], ["4294967295"]),
        ("Date", ["'1970-01-01'", "'2149-06-06'"], ["1970-01-01", "2149-06-06"]),
        ("DateTime", ["0", "4294967295"], ["1970-01-01", "2106-02-07 06:28:15"]),
        ("DateTime('Asia/Tokyo')", ["0"], ["1970-01-01"]),
        ("DateTime64(3, 'America/New_York')", ["'1905-01-01 00:00:00.250'"], ["1905-01-01 05:00:00.25"]),
        ("Enum16('Zürich' = -5, 'a' = 700)", ["'Zürich'", "'a'"], ["Zürich", "a"]),
        ("LowCardinality(FixedString(2))", ["'ab'"], ["ab"]),
    ],
)
def test_a_type_that_only_clickhouse_has_means_its_text(clickhouse, tmp_path, declared, values, texts):
    """Each value is the category that its text is, and is looked at as what its column is proposed as."""
    clickhouse.owner("DROP TABLE IF EXISTS twin")
    clickhouse.owner(f"CREATE TABLE twin (x {declared}) ENGINE = Memory")
    clickhouse.owner(f"INSERT INTO twin VALUES {', '.join(f'({value})' for value in values)}")
    [column] = clickhouse.connection.describe("twin")
    known = tuple(text for text in texts if text)
    for attribute in (Categorical("x", True, values=known), ATTRIBUTES[3]("x"), ATTRIBUTES[6]("x")):
        domain = Domain((attribute,))
        theirs = clickhouse.counts({"x": (column.type, [])}, domain, [("x",)], ReadOptions(), None)
        path = twins.stored(tmp_path, {"x": ("text", texts)})
        ours = twins.uploaded_counts(path, domain, [("x",)], ReadOptions(), None)
        assert theirs.tolist() == ours.tolist()


@pytest.mark.parametrize(
    "declared",
    [
        "Array(String)",
        "Map(String, Int8)",
        "Tuple(Int8, Int8)",
        "IPv4",
        "BFloat16",
        "DateTime64(9)",
        "Variant(String, Int8)",
        "JSON",
        "SimpleAggregateFunction(sum, Int64)",
        "Time",
    ],
)
def test_a_type_without_one_text_is_left_out(clickhouse, declared):
    [column] = clickhouse.connection.describe(
        f"(SELECT CAST(NULL AS Nullable(String)) AS y, x FROM {made(clickhouse, declared)})"
    )[1:]
    assert column.type not in TYPES


def made(clickhouse, declared: str) -> str:
    clickhouse.owner("DROP TABLE IF EXISTS odd")
    clickhouse.owner(f"CREATE TABLE odd (x {declared}) ENGINE = Memory")
    return "odd"


def test_a_number_of_more_decimals_than_the_type_has_does_not_fit():
    """However many digits are before them."""
    assert not fits("numeric", "1234567890123.123456789012345678901")
    assert fits("numeric", "1234567890123.12345678901234567890") and fits("numeric", "0.000")
