"""One more row moves one cell by one, whatever it says: no row is re-read because of another.

Each example stores a table twice, without and with a row of awkward texts, under the same declared options, and
compares what every kind of attribute counts.
"""

from __future__ import annotations

import csv
import datetime as dt
import io
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from dpportal.tables import Limits, Persons, ReadOptions, UploadFault, count_cells, first_rows
from dpportal.tables.formats import Reading
from dpportal.tables.formats.import_worker import convert_here
from mechanisms.domain import Attribute, Boolean, Categorical, Date, Domain, Integer, Real
from tests.dpportal.tables.awkward import OPTIONS, TEXTS

pytestmark = pytest.mark.slow

KEY = b"one key for both tables"
EXAMPLES = 12
ATTRIBUTES: list[Attribute] = [
    Categorical("x", values=("1", "2", "250.00", "250.1", "Zürich", "TRUE", "FALSE")),
    Categorical("x", True, closed=True, values=("1.0", "0.0", "Zu\u0308rich")),
    Categorical("x", closed=True, misfits_to=0, values=("1", "U", "true")),
    Categorical("x", as_numbers=True, values=("1", "250.1", "1234")),
    Boolean("x", True),
    Boolean("x", closed=True),
    Integer("x", True, 0, 20),
    Integer("x", closed=True, lower=0, upper=1000, width=100),
    Real("x", True, lower=4.0, upper=14.0, bins=100),
    Real("x", lower=0.0, upper=300.0, edges=(0.0, 0.3, 250.1, 300.0)),
    Date("x", True, dt.date(2020, 1, 1), dt.date(2020, 12, 31), "month"),
]
COLUMNS = [
    ["1.0", "2.0", "1", "250.00"],
    ["1.0", "0.0", "1", "0"],
    ["true", "false", "TRUE", "FALSE"],
    ["1,234", "2,345.5", "1,234", "99"],
    ["Zürich", "Genève", "Zu\u0308rich", "Zürich"],
    ["6.3", "4.0", "4.1", "13.9"],
    ["31.12.2020", "01.02.2020", "13.03.2020", "1.1.2020"],
    ["2020-02-01", "2020-03-01", "2020-04-01 10:00", ""],
    [" a", " job", " Zürich", " 1"],
    ["P1", "P1 ", "P2", ""],
]
ENCODINGS = ("utf-8", "windows-1252", "utf-16", "latin-1")
FOREIGN = [
    b"Z\xfcrich",
    b"\xff\xfe",
    b"\x81",
    "Zürich".encode(),
    b"\xc3",
    b"1\xa0",
    b'"a\rb"',
    b'"a\nb"',
    b"1\xe2\x80\xaf",
]
TYPED = [
    True,
    False,
    1,
    0,
    2,
    1.0,
    0.0,
    1.5,
    250.1,
    1e300,
    1e15,
    None,
    dt.date(2020, 2, 1),
    "1.0",
    "U",
    " 1",
    "#N/A",
]
TYPED += [dt.datetime(2020, 2, 1), dt.datetime(2020, 2, 1, 23, 30), "Zürich"]  # noqa: DTZ001 as workbooks have them
NUMBERS = [1.0, 0.0, 2.5, None, float("nan"), float("-inf"), 1e15, 2.0**53, 0.1, -0.0, 250.1, 6.3]


def line(*fields: str) -> str:
    file = io.StringIO()
    csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL).writerow(fields)
    return file.getvalue()


def as_csv(rows: list[list[str]], encoding: str = "utf-8") -> bytes:
    return "".join(line(*row) for row in rows).encode(encoding, "replace")


def as_workbook(rows: list[list]) -> bytes:
    made = openpyxl.Workbook()
    for row in rows:
        made.active.append(row)
    file = io.BytesIO()
    made.save(file)
    return file.getvalue()


def as_parquet(rows: list[list]) -> bytes:
    names, *values = rows
    columns = [pa.array(typed(list(column))) for column in zip(*values, strict=True)]
    file = io.BytesIO()
    pq.write_table(pa.table(columns, names=names), file)
    return file.getvalue()


def typed(column: list) -> list:
    """As pandas has them: whole numbers become doubles as soon as one is missing or none."""
    if all(isinstance(value, int) for value in column) or not all(
        isinstance(v, int | float | None) for v in column
    ):
        return column
    return [None if value is None else float(value) for value in column]


def changes(
    before: bytes,
    after: bytes,
    name: str,
    options: ReadOptions,
    attributes: list[Attribute],
    persons: Persons | None = None,
) -> list[np.ndarray]:
    """How the counts of three attributes at a time change from one file to the other."""
    key = KEY if persons else None
    with TemporaryDirectory() as folder:
        tables = []
        for number, content in enumerate((before, after)):
            source, target = Path(folder) / f"{number}.in", Path(folder) / f"{number}.parquet"
            source.write_bytes(content)
            convert_here(Reading(source, target, name, options, Limits(), lambda *_: None))
            tables.append(target)
        domains = [Domain(tuple(attributes[i : i + 3])) for i in range(0, len(attributes), 3)]
        counts = [
            [count_cells(t, domain, options, persons=persons, key=key) for t in tables] for domain in domains
        ]
    return [new - old for old, new in counts]


def at_most_one_more(change: np.ndarray) -> bool:
    return bool(((change == 0) | (change == 1)).all() and change.sum() <= 1)


def table(columns: list[list]) -> list[list]:
    """Rows of a person and the columns x0, x1, ... under a row of names."""
    rows = [[f"P{number % 3}", *row] for number, row in enumerate(zip(*columns, strict=True))]
    return [["who", *(f"x{number}" for number in range(len(columns)))], *rows]


def on(number: int, attribute: Attribute) -> Attribute:
    return replace(attribute, name=f"x{number}")


def declared(encoding: str, options: ReadOptions) -> ReadOptions:
    return replace(options, delimiter=",", encoding=encoding).settled()


WIDTH = len(COLUMNS)
attributes_of = st.lists(st.sampled_from(ATTRIBUTES), min_size=WIDTH, max_size=WIDTH).map(
    lambda chosen: [on(number, attribute) for number, attribute in enumerate(chosen)]
)
options_of = st.sampled_from(OPTIONS)
persons_of = st.sampled_from([None, Persons("who", 100), Persons("who", 100, ignore_case=True)])
writable = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=5)
texts_of = st.lists(st.sampled_from(TEXTS) | writable, min_size=WIDTH, max_size=WIDTH)
several = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))


@given(texts_of, attributes_of, options_of, persons_of)
@several
def test_any_texts_in_a_csv(texts, attributes, options, persons):
    before = as_csv(table(COLUMNS))
    after = before + line("P9", *texts).encode()
    assert all(
        map(
            at_most_one_more, changes(before, after, "t.csv", declared("utf-8", options), attributes, persons)
        )
    )


@given(
    st.lists(st.sampled_from(FOREIGN), min_size=WIDTH, max_size=WIDTH),
    st.sampled_from(ENCODINGS),
    attributes_of,
    options_of,
)
@several
def test_bytes_of_another_encoding_in_a_csv(foreign, encoding, attributes, options):
    before = as_csv(table(COLUMNS), encoding)
    added = b",".join([b"P9", *foreign]) + b"\n"
    if encoding == "utf-16":
        added = (
            added.replace(b"\xff\xfe", b"")
            .decode("latin-1")
            .encode("utf-16-le")
            .replace(b"\xfc\x00", b"\x00\xd8")
        )
    assert all(
        map(
            at_most_one_more,
            changes(before, before + added, "t.csv", declared(encoding, options), attributes),
        )
    )


@given(
    st.lists(st.sampled_from(TYPED), min_size=WIDTH, max_size=WIDTH), attributes_of, options_of, persons_of
)
@several
def test_any_cells_in_a_workbook(cells, attributes, options, persons):
    rows = table([[*column[:2], TYPED[number], 2.5] for number, column in enumerate(COLUMNS)])
    before, after = as_workbook(rows), as_workbook([*rows, ["P9", *cells]])
    assert all(
        map(at_most_one_more, changes(before, after, "t.xlsx", options.settled(), attributes, persons))
    )


@given(
    st.lists(st.sampled_from(NUMBERS), min_size=WIDTH, max_size=WIDTH), attributes_of, options_of, persons_of
)
@several
def test_any_numbers_in_a_parquet_file(numbers, attributes, options, persons):
    rows = table([[0, 1, 2, 250 + number] for number in range(WIDTH)])
    before, after = as_parquet(rows), as_parquet([*rows, ["P9", *numbers]])
    assert all(
        map(at_most_one_more, changes(before, after, "t.parquet", options.settled(), attributes, persons))
    )


@given(texts_of, attributes_of, options_of, persons_of)
@several
def test_any_texts_in_a_parquet_file(texts, attributes, options, persons):
    rows = table(COLUMNS)
    before, after = as_parquet(rows), as_parquet([*rows, ["P9", *texts]])
    assert all(
        map(at_most_one_more, changes(before, after, "t.parquet", options.settled(), attributes, persons))
    )


@given(
    st.lists(
        st.tuples(st.sampled_from(["P9", "P9 ", " P9", "P9\u00a0", "\u2003P9"]), texts_of),
        min_size=1,
        max_size=6,
    ),
    attributes_of,
    options_of,
    st.integers(1, 3),
)
@several
def test_one_persons_rows_move_the_counts_by_at_most_m(rows, attributes, options, most):
    before = as_csv(table(COLUMNS))
    after = before + "".join(line(who, *texts) for who, texts in rows).encode()
    for change in changes(
        before, after, "t.csv", declared("utf-8", options), attributes, Persons("who", most)
    ):
        assert (change >= 0).all()
        assert change.sum() <= most


PARSEABLE = ['9,a"b', '9,"a""b"', '9, "a"', '9,"', "9,'", "'9,1'", '9,"a"b', "9", "9,1,2", "9,1,", ",", ""]


@pytest.mark.parametrize("text", PARSEABLE)
def test_a_line_with_odd_quotes_moves_one_row_or_is_refused(text):
    rows = [row[:2] for row in table([["1", "2.0", "x"]])]
    before = as_csv(rows)
    attributes = [on(0, ATTRIBUTES[1])]
    try:
        moved = changes(
            before, before + text.encode() + b"\n", "t.csv", declared("utf-8", ReadOptions()), attributes
        )
    except UploadFault as fault:
        assert fault.code in ("ragged", "quotes")
    else:
        assert all(map(at_most_one_more, moved))


def test_a_quoted_field_over_the_parallel_readers_pieces_is_one_field(tmp_path):
    """The field looks like rows inside and out; the reader starts a second thread in the middle of it."""
    rows = b"1,2,3\n" * 1_333_000
    swallowed = b'7,"' + b"9,9,9\n" * 1000 + b'9,t",8\n'
    (tmp_path / "t.csv").write_bytes(b"a,b,c\n" + rows + swallowed + rows)
    facts = convert_here(
        Reading(tmp_path / "t.csv", tmp_path / "t", "t.csv", ReadOptions(), Limits(), lambda *_: None)
    )
    assert facts.rows == 2_666_001
    assert (facts.oddities.broken_fields, facts.oddities.longest_broken) == (1, 6003)


@pytest.mark.parametrize("column", [[1], [1, None], [1.0, 2.5], [Decimal("1.00"), None], [1.0, float("nan")]])
def test_a_typed_value_has_one_text_whatever_its_column_holds(tmp_path, column):
    pq.write_table(pa.table({"x": column}), tmp_path / "t.in")
    convert_here(Reading(tmp_path / "t.in", tmp_path / "t", "t", ReadOptions(), Limits(), lambda *_: None))
    assert first_rows(tmp_path / "t", 1)[0][0] == "1"


@pytest.mark.parametrize("beside", ["1.5", "1.123456789", "1.0000000000000000001"])
@pytest.mark.parametrize(
    ("value", "text"), [("0", "0"), ("0.0000001", "0.0000001"), ("100", "100"), ("-0.50", "-0.5")]
)
def test_a_decimal_s_text_does_not_depend_on_the_places_of_the_others(tmp_path, value, text, beside):
    """A column of decimals has the places of its most exact value; with many of them Arrow writes exponents."""
    column = pa.array([Decimal(value), Decimal(beside)])
    pq.write_table(pa.table({"x": column}), tmp_path / "t.in")
    convert_here(Reading(tmp_path / "t.in", tmp_path / "t", "t", ReadOptions(), Limits(), lambda *_: None))
    assert first_rows(tmp_path / "t", 1)[0][0] == text
