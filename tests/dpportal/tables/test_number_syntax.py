"""The reading of one text: DuckDB against the Python reference, and the reference against examples checked by hand."""

import datetime as dt
import math
import unicodedata

import duckdb
import pytest
from hypothesis import given, settings, strategies as st
from sqlglot import exp

from dpportal.tables import Persons, ReadOptions
from dpportal.tables.engines.duckdb.dialect import DuckDB
from dpportal.tables.meaning import python_semantics
from dpportal.tables.meaning.parse_options import OptionError
from dpportal.tables.meaning.proposals import proposed_columns, proposed_options
from dpportal.tables.meaning.python_semantics import person_of
from dpportal.tables.pushdown.count_query import QuerySource, valued_rows
from dpportal.tables.pushdown.types import STORED
from mechanisms.domain import Boolean, Date, Integer, Real
from tests.dpportal.tables.awkward import OPTIONS, TEXTS

SWISS = [ReadOptions(decimal=",", thousands=mark) for mark in "'\u2019"]
SETTLED = [options.settled() for options in [*OPTIONS, *SWISS]]
characters = st.sampled_from("0123456789.,-+eE'\u2019 \u00a0\t/:TZinfayesNtruéé\u0301\u200b")
# Small letters of İ and Σ differ between libraries.
anything = st.characters(codec="utf-8", exclude_characters="\0İΣ")
texts = st.one_of(st.sampled_from(TEXTS), st.text(characters, max_size=24), st.text(anything, max_size=8))


@pytest.fixture(scope="module")
def database():
    with duckdb.connect() as connection:
        yield connection


def statement(rows: str, options: ReadOptions, ignore_case: bool) -> str:
    """SQL: of each row's x its text, number, whole number, truth and day, and whose row it is."""
    attributes = [Real("x"), Integer("x"), Boolean("x"), Date("x")]
    source = QuerySource(DuckDB(), rows, {"x": STORED})
    read = valued_rows(source, attributes, options, Persons("x", ignore_case=ignore_case))
    values = (f"value_{place}" for place in range(len(attributes)))
    return source.dialect.sql(exp.select("field_0", *values, "person").from_(read))


def read_all(database, fields: list[str | None], options: ReadOptions) -> list[tuple]:
    ones, others = (
        database.execute(
            statement("(SELECT unnest($1::VARCHAR[]) AS x)", options, ignore), [fields]
        ).fetchall()
        for ignore in (False, True)
    )
    assert [one[:-1] for one in ones] == [other[:-1] for other in others]
    return [
        (found, number, whole, None if truth is None else bool(truth), day, person, other[-1])
        for (found, number, whole, truth, day, person), other in zip(ones, others, strict=True)
    ]


def read(database, field: str | None, options: ReadOptions) -> tuple:
    [found] = read_all(database, [field], options)
    return found


def read_by_reference(field: str | None, options: ReadOptions) -> tuple:
    text = python_semantics.text_of(field, options)
    readers = (
        python_semantics.number_of,
        python_semantics.integer_of,
        python_semantics.truth_of,
        python_semantics.day_of,
    )
    values = [None if text is None else reader(text, options) for reader in readers]
    return (
        text,
        *values,
        *(python_semantics.person_of(field, ignore_case=ignore, options=options) for ignore in (False, True)),
    )


@pytest.mark.slow
@given(fields=st.lists(st.none() | texts, min_size=1, max_size=40), options=st.sampled_from(SETTLED))
@settings(max_examples=40, deadline=None)
def test_sql_reads_a_text_as_the_reference_does(database, fields, options):
    assert read_all(database, fields, options) == [read_by_reference(field, options) for field in fields]


@pytest.mark.slow
def test_every_awkward_text_is_read_as_by_the_reference(database):
    for options in SETTLED:
        for field, found in zip(TEXTS, read_all(database, list(TEXTS), options), strict=True):
            assert found == read_by_reference(field, options), (field, options)


GERMAN = ReadOptions(decimal=",", thousands=".", date_format="day-first").settled()
PLAIN = ReadOptions().settled()


@pytest.mark.parametrize(
    ("text", "options", "number"),
    [
        ("1.5", PLAIN, 1.5),
        ("1,5", PLAIN, None),
        ("1,5", GERMAN, 1.5),
        ("1.234", GERMAN, 1234.0),
        ("1.234.567,25", GERMAN, 1234567.25),
        ("12.34", GERMAN, None),
        ("1.23.456", GERMAN, None),
        ("1E1", PLAIN, 10.0),
        ("-.5", PLAIN, -0.5),
        ("nan", PLAIN, None),
        ("-Inf", PLAIN, float("-inf")),
        ("1e999", PLAIN, float("inf")),
        ("1_0", PLAIN, None),
    ],
)
def test_numbers_follow_the_declared_marks(text, options, number):
    assert python_semantics.number_of(text, options) == number


@pytest.mark.slow
def test_a_text_of_more_than_a_thousand_characters_is_no_number(database):
    """Not every engine reads one of any length, and a text means the same in all."""
    for text, number in (
        ("0." + "0" * 998, 0.0),
        ("0." + "0" * 999, None),
        ("9" * 1000, math.inf),
        ("9" * 1001, None),
    ):
        assert read(database, text, PLAIN)[1:3] == read_by_reference(text, PLAIN)[1:3]
        assert python_semantics.number_of(text, PLAIN) == number


def test_whole_numbers_are_exact_up_to_eighteen_digits():
    assert python_semantics.integer_of("999999999999999999", PLAIN) == 999_999_999_999_999_999
    assert python_semantics.integer_of("17.9", PLAIN) == 17
    assert python_semantics.integer_of("-0.5", PLAIN) == -1


@pytest.mark.parametrize(
    ("text", "form", "day"),
    [
        ("2020-02-29", "iso", dt.date(2020, 2, 29)),
        ("2020-02-29T23:59:59.5+01:00", "iso", dt.date(2020, 2, 29)),
        ("2020-02-30", "iso", None),
        ("29.02.2020", "iso", None),
        ("29.02.2020", "day-first", dt.date(2020, 2, 29)),
        ("1/2/2020 10:00", "day-first", dt.date(2020, 2, 1)),
        ("1/2/2020", "month-first", dt.date(2020, 1, 2)),
        ("13/2/2020", "month-first", None),
        ("3 mar 69", "%d %b %y", dt.date(1969, 3, 3)),
        ("March 3, 2068", "%B %d, %Y", dt.date(2068, 3, 3)),
        ("20200229", "%Y%m%d", dt.date(2020, 2, 29)),
    ],
)
def test_days_follow_the_declared_format(text, form, day):
    assert python_semantics.day_of(text, ReadOptions(date_format=form).settled()) == day


@pytest.mark.parametrize("same", ["P1", "P1 ", " P1", "P1\u00a0", "\tP1\u2003"])
def test_a_person_is_the_same_with_any_spaces_around(same):
    assert python_semantics.person_of(same, ignore_case=False) == "P1"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ΝΙΚΟΣ", "Νικος"),
        ("νικος", "νικοσ"),
        ("H\u0331asan", "\u1e96asan"),
        ("J\u030cane", "\u01f0ane"),
        ("\u0130pek", "i\u0307pek"),
        ("STRA\u1e9eE", "straße"),
    ],
)
def test_a_person_is_the_same_whatever_the_capitals(database, one, other):
    persons = {read(database, text, ReadOptions().settled())[-1] for text in (one, other)}
    assert len(persons) == 1
    assert persons == {python_semantics.person_of(text, ignore_case=True) for text in (one, other)}


@pytest.mark.slow
def test_every_letter_is_made_small_as_by_the_reference(database):
    letters = (chr(code) for code in range(1, 0x110000) if not 0xD800 <= code < 0xE000)
    texts = [f"x{letter}y" for letter in letters if unicodedata.category(letter)[0] in "LMN"]
    query = statement("(SELECT unnest(?::VARCHAR[]) AS x)", ReadOptions().settled(), ignore_case=True)
    read = [(found, person) for found, *_values, person in database.execute(query, [texts]).fetchall()]
    assert len(read) > 100_000
    assert [text for text, found in read if found != python_semantics.person_of(text, ignore_case=True)] == []


def test_persons_are_compared_as_texts():
    assert (
        len({python_semantics.person_of(text, ignore_case=False) for text in ("7", "7.0", "007", "p1", "P1")})
        == 5
    )
    assert len({python_semantics.person_of(text, ignore_case=True) for text in ("p1", "P1")}) == 1
    assert python_semantics.person_of("e\u0301", ignore_case=False) == python_semantics.person_of(
        "\u00e9", ignore_case=False
    )


@pytest.mark.parametrize(
    ("field", "options"),
    [
        ("thousands", {"thousands": ".", "decimal": "."}),
        ("decimal", {"decimal": ";"}),
        ("encoding", {"encoding": "klingon"}),
        ("encoding", {"encoding": "iso-2022-jp"}),
        ("date_format", {"date_format": "%d.%m"}),
        ("date_format", {"date_format": "%d%d%m%Y"}),
        ("delimiter", {"delimiter": "x"}),
    ],
)
def test_a_wrong_option_is_refused_by_its_name(field, options):
    with pytest.raises(OptionError) as caught:
        ReadOptions(**options)
    assert caught.value.field == field


@pytest.mark.parametrize("word", ["None", "none", "NULL", "Null", "[NULL]", "#NULL!", "nan", "NaN", r"\N"])
def test_a_word_that_programs_write_for_no_value_names_nobody(word):
    assert person_of(f" {word} ", ignore_case=False) is None
    assert person_of(f"{word}1", ignore_case=False) == f"{word}1"


@pytest.mark.parametrize(
    ("texts", "decimal", "thousands", "kind"),
    [
        (["6'160,87", "800,00", "12'345'678,10"], ",", "'", "real"),
        (["1'234.50", "12.00"], ".", "'", "real"),
        (["1\u2019234", "12", "900"], ".", "\u2019", "integer"),
        (["1.234,50", "2,5"], ",", ".", "real"),
        (["5.5", "1'2"], ".", "", "text"),
        (["O'Neil", "1'234"], ".", "", "text"),
    ],
)
def test_apostrophes_between_thousands_are_proposed(texts, decimal, thousands, kind):
    options = proposed_options([texts], ReadOptions())
    assert (options.decimal, options.thousands) == (decimal, thousands)
    (column,) = proposed_columns(["pay"], [texts], options.settled())
    assert column.kind == kind


COMMAS = [f"{n},{n % 10}0" for n in range(100, 190)]


@pytest.mark.parametrize(
    "others", [["ab 350,00 €"] * 10, ["k. A."] * 6, ["1.200,00", "δ/υ", "350,00 €", "-"] * 9]
)
def test_numbers_among_other_texts_propose_their_marks(others):
    """Else a tenth of a column's texts would make all its numbers unreadable."""
    (options, (column,)) = proposals([*COMMAS, *others])
    assert (options.decimal, options.thousands) == (",", "." if "1.200,00" in others else "")
    unread = sum(text not in COMMAS and text != "1.200,00" for text in others)
    assert (column.values, column.unread["number"]) == (len(COMMAS + others), unread)


def test_other_texts_propose_no_marks_against_a_column_of_points():
    answers = [*["1,2", "2,3"] * 40, *["none of them"] * 20]  # several answers in a field
    options = proposed_options([answers, ["12.50", "7.25"]], ReadOptions())
    assert options.decimal == "."
    assert proposals([*["1,5"] * 5, *["a"] * 5])[0].decimal == "."


def test_a_mark_that_is_declared_otherwise_is_told_where_other_texts_are_among_the_numbers():
    (column,) = proposed_columns(["pay"], [[*COMMAS, *["k. A."] * 10]], ReadOptions().settled())
    assert column.kind == "text" and "a decimal comma" in column.remark
    (names,) = proposed_columns(["pay"], [[*["Anna", "Ben"] * 50, *COMMAS]], ReadOptions().settled())
    assert names.remark == ""


def test_what_cannot_be_read_is_counted_by_meaning():
    texts = ["1", "yes", "2020-01-31", "2,5", "x", None, ""]
    (column,) = proposed_columns(["mixed"], [texts], ReadOptions().settled())
    assert (column.values, column.unread) == (5, {"number": 4, "date": 4, "truth": 3})


def proposals(texts):
    """The options that a column's first texts propose, and what these say of it."""
    options = proposed_options([texts], ReadOptions())
    return options, proposed_columns(["pay"], [texts], options.settled())


def test_where_other_marks_are_declared_apostrophes_are_told():
    (column,) = proposed_columns(["pay"], [["6'160,87", "800,00"]], ReadOptions().settled())
    assert "an apostrophe between thousands" in column.remark


@pytest.mark.parametrize(
    ("texts", "kind", "number"),
    [
        (["1 239,41 €", "12,00 €", "999,99 €"], "real", 1239.41),
        (["1\u202f200\u00a0kg", "35kg", "7"], "integer", 1200.0),
        (["1\u202f200\u00a0kg", "1\u00a0300 kg", "1 400 kg"], "integer", 1200.0),
        (["2\u00a0697,83 €", "1\u202f000\u202f250,5 €", "812,00 €", "3 400,10 €"], "real", 2697.83),
        (["12 %", "7 %", "0 %"], "integer", 12.0),
        (["12 \u20b9", "7 \u20b9", "0 \u20b9"], "integer", 12.0),
        (["12a", "12b", "3"], "text", None),
        (["12 ?", "7", "8"], "text", None),
        (["12*", "7*", "8"], "text", None),
        (["030 123 456", "030 222 333", "1 234 567"], "text", None),
    ],
)
def test_a_unit_behind_all_numbers_of_a_column_is_proposed_and_named(texts, kind, number) -> None:
    """Amounts in euros were texts, of which nobody could declare limits."""
    options = proposed_options([texts], ReadOptions()).settled()
    [column] = proposed_columns(["x"], [texts], options)
    assert column.kind == kind
    assert bool(options.units) == ("read without it" in column.remark) == (number is not None)
    if number is not None:
        assert python_semantics.number_of(texts[0], options) == number


def test_a_unit_that_nobody_wants_left_out_makes_texts() -> None:
    options = proposed_options([["12 %", "7 %"]], ReadOptions(units=())).settled()
    assert options.units == () and python_semantics.number_of("12 %", options) is None


@pytest.mark.parametrize("unit", ["5", "a b", "[", "", "-", "?", "**", "_", "ten letters"])
def test_a_unit_that_could_be_part_of_a_number_is_refused(unit) -> None:
    with pytest.raises(OptionError) as refused:
        ReadOptions(units=(unit,))
    assert refused.value.field == "units"


def test_a_space_between_thousands_is_each_of_those_that_look_alike():
    """Also where an older version told them apart; a database reads them as Python does."""
    options = ReadOptions.from_json({**ReadOptions(decimal=",").to_json(), "thousands": "\u00a0"}).settled()
    assert options == ReadOptions(decimal=",", thousands=" ").settled()
    texts = ["2 697,83", "2\u00a0697,83", "2\u202f697,83", "1\u202f002\u00a0697,83"]
    assert [python_semantics.number_of(text, options) for text in texts] == [2697.83] * 3 + [1002697.83]
