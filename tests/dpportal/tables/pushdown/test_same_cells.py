"""A value means the same in an engine as its text does in an uploaded file, cell by cell."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from dpportal.tables import Persons, ReadOptions
from dpportal.tables.pushdown.dialects import NotExactError
from mechanisms.domain import Boolean, Categorical, Date, Domain, Integer, Real
from tests.dpportal.tables.awkward import OPTIONS, TEXTS
from tests.dpportal.tables.pushdown import laws, twins
from tests.dpportal.tables.pushdown.twins import both, compared

MISSING = ("U", "-99", "5", "true", "2020-02-29", "0.1", "nan")
TYPED_OPTIONS = [ReadOptions(), ReadOptions(missing=MISSING, strip=False)]
DATED = ReadOptions(date_format="%Y%m%d")
INTEGERS = ["0", "1", "-1", "5", "-99", "9", "10", "11", "32767", "20200229", "20200230", "20191231"]
LARGE = ["999999999999999999", "1000000000000000000", "-1000000000000000000", "9223372036854775807"]
LARGE += ["-9223372036854775808", "9007199254740993", "4611686018427387905", "123456789012345678"]
DECIMALS = [
    "0",
    "0.0",
    "-0.00",
    "1.0",
    "5.000",
    "250.10",
    "0.1",
    "0.30000000000000004",
    "-3.5",
    "99.99",
    "-99.0",
]
DECIMALS += [
    "99999999999999999.9",
    "9007199254740993",
    "0.000000000001",
    "123456789012345678.5",
    "1.000000000001",
]
HUGE = ["1e400", "-1e400", "1e-400", "-1e-400", "1.7976931348623158e308", "1.797693134862315808e308", "NaN"]
HUGE += ["Infinity", "-Infinity", "4.9e-324", "2.4703282292062327e-324", "2.47032822920623272e-324"]
FLOATS = [
    "0",
    "-0.0",
    "0.1",
    "0.7",
    "0.3",
    "0.30000000000000004",
    "1",
    "5",
    "-99",
    "2.5",
    "10",
    "1e300",
    "1e-300",
]
FLOATS += [
    "nan",
    "inf",
    "-inf",
    "9007199254740994",
    "1.152921504606847e18",
    "1e16",
    "1e15",
    "123456.789",
    "1e-5",
]
FLOATS += ["1e-7", "-3.5000000001", "9.999999999999998", "5e-324", "20200229"]
SINGLES = [
    "0",
    "-0",
    "0.1",
    "0.7",
    "1.1",
    "2.5",
    "16777216",
    "1073741824",
    "1e10",
    "1e38",
    "nan",
    "inf",
    "-inf",
]
SINGLES += ["1.1529215e18", "1e-7", "3.4e-5", "5", "-99", "1e-45"]
DAYS = [
    "2020-02-29",
    "2019-12-31",
    "2020-01-01",
    "2020-12-31",
    "2021-06-30",
    "1000-01-01",
    "0999-12-31",
    "9999-12-31",
]
OUTSIDE = ["infinity", "-infinity", "0044-03-15 BC", "10000-01-01"]
CLOCKS = ["", " 00:00:00", " 23:59:59.999999", " 00:00:00.5", " 12:30:00", " 00:30:00"]
ZONES = ["+00", "+02:00", "-11:00"]
TEXT_KINDS = ("text", "varchar", "bpchar", "enum", "uuid")
IDS = ["0f8fad5b-d9cb-469f-a165-70867728950e", "7c9e6679-7425-40de-944b-e07fc1f90ae7"]
SHORT = [text[:40].replace("\0", "") for text in TEXTS]
VALUES = {
    "text": [
        *TEXTS,
        "9" * 400,
        "0." + "0" * 400 + "1",
        "1" * 1001,
        "1" + "0" * 310 + "e-300",
        "4.9e-324",
        "2e-324",
    ],
    "varchar": SHORT,
    "bpchar": ["", "ab", "ab  ", " ab", "5", "abcd", "é", "true", "-99"],
    "enum": list(twins.MOODS),
    "uuid": IDS,
    "int2": [value for value in INTEGERS if abs(int(value)) < 2**15],
    "int4": INTEGERS,
    "int8": INTEGERS + LARGE,
    "numeric": DECIMALS + HUGE,
    "float4": SINGLES,
    "float8": FLOATS,
    "bool": ["true", "false"],
    "date": DAYS + OUTSIDE,
    "timestamp": [d + c for d in DAYS for c in CLOCKS] + OUTSIDE,
    "timestamptz": [d + c + z for d in DAYS[:5] for c in CLOCKS[1:] for z in ZONES] + OUTSIDE[:3],
}
CATEGORIES = (
    "a",
    "5",
    "5.0",
    "-99",
    "0.1",
    "0.7",
    "true",
    "Zürich",
    "2020-02-29",
    "ab",
    "so so",
    "1e+16",
    "nan",
)
CATEGORIES += ("1073741824", "9007199254740993", "20200229", "inf", "0.00001", "1e-7", "2020-02-29 12:30:00")
CATEGORIES += (
    "2020-02-29 00:00:00",
    "Zu\u0308rich",
    "250.1",
    "001",
    "1.1529215e+18",
    IDS[0],
    "1E1",
    "007",
    "glad",
)
ATTRIBUTES = [
    lambda name: Categorical(name, True, values=CATEGORIES),
    lambda name: Categorical(name, values=CATEGORIES, as_numbers=False, closed=True, misfits_to=1),
    lambda name: Integer(name, True, -5, 10, width=3),
    lambda name: Integer(name, False, -(10**18), 10**18, width=10**17),
    lambda name: Integer(name, True, 0, 10**17, edges=(0, 1, 5, 10, 10**16, 10**17)),
    lambda name: Real(name, True, 0.0, 1.0, bins=10),
    lambda name: Real(name, False, -1.0, 2.1, bins=7),
    lambda name: Real(name, True, 0.0, 10.0, edges=(0.0, 0.1, 0.30000000000000004, 0.7, 2.5, 10.0)),
    lambda name: Boolean(name, True),
    *(
        lambda name, step=step: Date(name, True, dt.date(2019, 11, 5), dt.date(2021, 3, 17), step)
        for step in ("day", "week", "month", "quarter", "year")
    ),
    lambda name: Integer(name, True, -99, 32767, width=1000, single_values=(0, 5, 32767)),
    lambda name: Real(name, True, 0.0, 10.0, bins=4, single_values=(0.0, 0.1, 2.5, 10.0)),
    lambda name: Real(name, True, -99.0, 99.99, bins=40, single_values=(0.0, 0.7, 5.0)),
]
NUMBERS = (
    "0",
    "5",
    "0.1",
    "0.7",
    "250.1",
    "-99",
    "9007199254740993",
    "999999999999999999",
    "1e400",
    "1e-7",
    "1e16",
)


def column_for_each_attribute(kind: str, values, attributes=ATTRIBUTES, skip=()):
    """A column of its own for each way to declare it, so that one count looks at all of them."""
    domain = Domain(tuple(make(f"c {i}") for i, make in enumerate(attributes) if i not in skip))
    return dict.fromkeys(domain.names, (kind, values)), domain


def lacking(kind: str) -> set[int]:
    """Attributes that are refused: a date of a number with a point."""
    return set(range(9, 14)) if kind in ("numeric", "float4", "float8") else set()


@pytest.mark.sampled
@pytest.mark.postgres
@pytest.mark.parametrize("kind", VALUES)
def test_every_awkward_value_has_the_cell_of_its_text_in_postgresql(postgres, tmp_path, kind):
    values = [*VALUES[kind], None]
    columns, domain = column_for_each_attribute(kind, values, skip=lacking(kind))
    further = OPTIONS if kind in TEXT_KINDS else [DATED] if kind.startswith("int") else []
    path = twins.stored(tmp_path, columns)
    postgres.fill(columns)
    for how in [*TYPED_OPTIONS, *further]:
        theirs, ours = compared(postgres, path, columns, domain, how)
        assert theirs == ours, how


@pytest.mark.postgres
@pytest.mark.parametrize("kind", [k for k in VALUES if k not in ("bool", "date", "timestamp", "timestamptz")])
def test_numbers_are_compared_exactly_where_that_is_declared(postgres, tmp_path, kind):
    columns = {"x": (kind, [*VALUES[kind], None])}
    domain = Domain((Categorical("x", True, values=NUMBERS, as_numbers=True),))
    for how in [*TYPED_OPTIONS, *(OPTIONS if kind in TEXT_KINDS else [])]:
        theirs, ours = both(postgres, tmp_path, columns, domain, how)
        assert theirs == ours, how


anything = st.characters(exclude_categories=("Cs", "Cn"), exclude_characters="\0İΣ")
drawn = {
    "text": st.text(st.sampled_from("0123456789.,-+eE' \u00a0\t/:TZinfayesNtruéé\u0301\u200b"), max_size=24)
    | st.text(anything, max_size=8),
    "int8": st.integers(-(2**63), 2**63 - 1).map(str),
    "numeric": st.decimals(allow_nan=False, allow_infinity=False)
    .filter(lambda d: abs(d.as_tuple().exponent) < 900)
    .map(str),
    "float4": st.floats(width=32).map(repr),
    "float8": st.floats().map(repr),
    "date": st.dates().map(str),
    "timestamp": st.datetimes().map(str),
}
some = {kind: st.none() | st.sampled_from(VALUES[kind]) | strategy for kind, strategy in drawn.items()}
HOW = {
    "text": [0, 1, 3, 5, 8, 13, 14, 15],
    "int8": [0, 3, 4, 5, 14],
    "numeric": [0, 3, 4, 7, 15],
    "float4": [0, 2, 5, 7, 16],
    "float8": [0, 4, 6, 7, 15],
    "date": [1, 9, 10, 12],
    "timestamp": [1, 11, 13],
}


@st.composite
def tables(draw, kinds=(*drawn, "text")):
    """A table with a column of each kind, each declared in one of its ways."""
    rows = draw(st.integers(1, 12))
    columns = {
        f"{kind} {i}": (kind, draw(st.lists(some[kind], min_size=rows, max_size=rows)))
        for i, kind in enumerate(kinds)
    }
    attributes = (ATTRIBUTES[draw(st.sampled_from(HOW[kind]))](name) for name, (kind, _) in columns.items())
    return columns, Domain(tuple(attributes))


@pytest.mark.postgres
@given(table=tables(), options=st.sampled_from([*TYPED_OPTIONS, ReadOptions(missing=MISSING)]))
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_table_has_the_same_cells_in_postgresql(postgres, tmp_path, table, options):
    """Column by column, two together, and by person where each may have as many rows as there are."""
    columns, domain = table
    asked = [*((name,) for name in domain.names), domain.names[1:3]]
    theirs, ours = both(postgres, tmp_path, columns, domain, options, tables=asked)
    assert theirs == ours
    whose = Persons(domain.names[0], 12, ignore_case=True)
    theirs, ours = both(postgres, tmp_path, columns, domain, options, tables=asked, persons=whose)
    assert theirs == ours


@pytest.mark.postgres
@given(table=tables(("text",) * 6), options=st.sampled_from(OPTIONS))
@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_texts_have_the_same_cells_in_postgresql(postgres, tmp_path, table, options):
    theirs, ours = both(postgres, tmp_path, *table, options)
    assert theirs == ours


@pytest.mark.slow
@given(table=tables(), options=st.sampled_from([*TYPED_OPTIONS, ReadOptions(missing=MISSING)]))
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_table_has_the_same_cells_in_duckdb(duck, tmp_path, table, options):
    columns, domain = table
    names = [name for name in domain.names if not name.startswith("numeric")]  # its decimals end at 38 digits
    columns = {name: columns[name] for name in names}
    theirs, ours = both(duck, tmp_path, columns, domain.project(names), options)
    assert theirs == ours


@pytest.mark.sampled
@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", ["text", "int8", "float4", "float8", "bool", "date", "timestamp", "timestamptz"]
)
def test_every_awkward_value_has_the_cell_of_its_text_in_duckdb(duck, tmp_path, kind):
    values = [value for value in VALUES[kind] if not (kind != "text" and value in OUTSIDE)]
    columns, domain = column_for_each_attribute(kind, [*values, None], skip=lacking(kind))
    for how in [*TYPED_OPTIONS, *(OPTIONS[2:4] if kind == "text" else [])]:
        theirs, ours = both(duck, tmp_path, columns, domain, how)
        assert theirs == ours, how


@pytest.mark.parametrize("kind", ["float8", "text"])
def test_each_edge_begins_a_bin(duck, tmp_path, kind):
    laws.each_edge_begins_a_bin(duck, tmp_path, kind, 0)


def test_what_an_engine_cannot_say_exactly_is_refused(duck, tmp_path):
    a_date = Domain((Date("x", lower=dt.date(2020, 1, 1), upper=dt.date(2020, 2, 1)),))
    with pytest.raises(NotExactError, match="not read as a date"):
        both(duck, tmp_path, {"x": ("float8", ["20200101"])}, a_date, ReadOptions(date_format="%Y%m%d"))
