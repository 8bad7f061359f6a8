"""Codebooks: what each form declares, and what each mistake is told."""

import datetime as dt
import json

import pytest

from dpportal.datasets.codebooks import MAX_BYTES, Codebook, CodebookError, as_csv, read
from dpportal.operations import demonstration
from mechanisms.domain import Boolean, Categorical, Date, Integer, Real

COLUMNS = ["age", "sex"]


def test_a_csv_declares_the_values_of_each_column():
    content = "column,value\nsex,Female\nsex,Male\n".encode("utf-8-sig")
    assert read(content, COLUMNS).attributes == (Categorical("sex", values=("Female", "Male")),)


def test_json_declares_lists_of_values():
    assert read(b'{"sex": ["Female", "Male"]}', COLUMNS).attributes == (
        Categorical("sex", values=("Female", "Male")),
    )


LINE_ENDS = {
    "json": b'{"sex": ["fe\\rmale", "ma\\r\\nle"]}',
    "declaration": b'{"sex": {"kind": "categorical", "values": ["fe\\rmale", "ma\\r\\nle"]}}',
    "frictionless": b'{"fields": [{"name": "sex", "categories": ["fe\\rmale", "ma\\r\\nle"]}]}',
    "csv": b'column,value\nsex,"fe\rmale"\nsex,"ma\r\nle"\n',
    "ddi": b'<codeBook><var name="sex"><catgry><catValu>fe&#13;male</catValu></catgry>'
    b"<catgry><catValu>ma&#13;&#10;le</catValu></catgry></var></codeBook>",
}


@pytest.mark.parametrize("content", LINE_ENDS.values(), ids=LINE_ENDS)
def test_line_ends_within_values_are_those_that_tables_are_read_with(content):
    assert read(content, COLUMNS).attributes == (Categorical("sex", values=("fe\nmale", "ma\nle")),)


def test_line_ends_within_labels_are_newlines_and_labels_that_are_alike_then_are_one_cell():
    content = b'{"sex": {"kind": "categorical", "values": ["f", "m", "d"], "words": ["a\\rb", "a\\nb", "c"]}}'
    (declared,) = read(content, COLUMNS).attributes
    assert declared.words == ("a\nb", "a\nb", "c")


def test_json_declares_a_number_of_codes():
    assert read(b'{"sex": 2}', COLUMNS).attributes == (Integer("sex", lower=0, upper=1),)


def test_json_declares_as_release_json_writes_it():
    declared = Integer("age", lower=0, upper=119, width=10, single_values=(0, 98))
    content = b'{"age": {"kind": "integer", "lower": 0, "upper": 119, "width": 10, "single_values": [0, 98]}}'
    assert read(content, COLUMNS).attributes == (declared,)


@pytest.mark.parametrize(
    "content", [b"column,value\nheight,1\nsex,m\nweight,2\n", b'{"height": 3, "sex": ["m"], "weight": 0}']
)
def test_columns_that_the_table_does_not_have_are_left_out_and_named(content):
    book = read(content, COLUMNS)
    assert book.attributes == (Categorical("sex", values=("m",)),)
    assert book.left_out == ("height", "weight")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{,}", "line 1, column 2"),
        (b'{"height": 3}', "height"),
        (b'{"age": {"kind": "circle"}}', "“kind” of “age” must be one of"),
        (b'{"age": null}', "wrong form"),
        (b'{"age": true}', "wrong form"),
        (b'{"age": "abc"}', "wrong form"),
        (
            b'{"age": {"kind": "integer", "lower": "x", "upper": 3}}',
            "“lower” of “age” must be a whole number",
        ),
        (b'{"age": {"kind": "integer", "lower": 9, "upper": 3}}', "exchange"),
        (
            b'{"age": {"kind": "integer", "lower": 0.5, "upper": 3}}',
            "“lower” of “age” must be a whole number",
        ),
        (
            b'{"age": {"kind": "integer", "lower": 0, "upper": 3, "single_values": [0.5]}}',
            "of “age” must be a list of numbers",
        ),
        (b'{"age": {"kind": "integer", "lower": 0, "upper": 3, "single_values": [4]}}', "within the limits"),
        (b'{"age": 0}', "exchange"),
        (b'{"sex": ["a", "a"]}', "twice"),
        (b'{"age": %s}' % (b"9" * 5000), "more than 18 digits"),
        (b'{"age": {"kind": "integer", "lower": 0, "upper": 3, "width": -%s}}' % (b"9" * 400), "18 digits"),
        (b'{"age": {"kind": "real", "lower": 0, "upper": %s}}' % (b"9" * 400), "18 digits"),
        (rb'{"sex": ["\ud800"]}', "lone surrogate"),
        (rb'{"sex": ["\u0000"]}', "zero byte"),
        (b"column,value,label\nsex,m,Man\nsex,,No answer\n", "is empty"),
        (b'{"sex": ["m", " "]}', "is empty"),
        (b'{"sex": {"kind": "categorical", "values": ["1"], "words": [" "]}}', "is empty"),
        (b"[1,2", "JSON is broken at line 1"),
        (b"\xef\xbb\xbf\n [" + b"[" * 100_000, "nested too deeply"),
        (b'["sex"]', "JSON is a list"),
        (b"", "two columns"),
        (b"column,value\nsex,m\nsex,f,Female\n", "number 3 has 3 entries, and the header has 2"),
        (b"column,value,label,more\na,b,c,d\n", "two columns"),
        (b"\xff\xfe\x00", "UTF-8"),
        (b"x" * (MAX_BYTES + 1), "20 MB"),
        (b'{"sex": ' + b"[" * 100_000, "nested too deeply"),
        (b'{"sex": [["a"]]}', "wrong form"),
        (b'{"age": 1000001}', "1,000,001 cells"),
        (b'column,value\nsex,"' + b"x" * 200_000 + b'"\n', "two columns"),
    ],
)
def test_a_mistake_is_told_in_words(content, said):
    with pytest.raises(CodebookError, match=said):
        read(content, COLUMNS)


EVERY_KIND = (
    Categorical("plain", values=("a", "b")),
    Categorical("named", True, values=("1", "2"), words=("one", "two"), closed=True),
    Categorical("codes", values=("1", "2"), as_numbers=True, closed=True, misfits_to=1),
    Boolean("yes", True, closed=True),
    Boolean("sex", values=("1", "2"), words=("female", "male"), closed=True),
    Boolean("said", words=("no", "yes"), closed=True, misfits_to=0),
    Integer("age", True, lower=0, upper=119, width=5, single_values=(0, 98)),
    Integer("group", lower=0, upper=99, edges=(0, 18, 65, 99), closed=True),
    Real("share", lower=0.0, upper=0.3, bins=3),
    Real("own", True, lower=-1.5, upper=2.0, edges=(-1.5, 0.25, 2.0), single_values=(0.0,)),
    Date("day", lower=dt.date(2020, 1, 1), upper=dt.date(2020, 12, 31), step="week"),
)


def test_a_csv_holds_columns_of_every_kind_and_is_read_as_it_was_written():
    book = Codebook(EVERY_KIND, frozenset({"age"}))
    read_again = read(as_csv(book).encode(), [a.name for a in EVERY_KIND])
    assert read_again.attributes == EVERY_KIND and read_again.filled == {"age"}


def test_a_person_writes_limits_in_a_line():
    content = b"column;value;kind;lower;upper;step\nage;;integer;0;119;10\nsex;m;;;;\nsex;f;;;;\n"
    age, sex = read(content, COLUMNS).attributes
    assert age == Integer("age", lower=0, upper=119, width=10) and sex == Categorical(
        "sex", values=("m", "f")
    )


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"age,,circle,,", "one of categorical"),
        (b"age,,integer,0,x", "limits and steps as numbers"),
        (b"age,,integer,9,3", "exchange"),
        (b"age,,integer,0,9\nage,,real,,", "differ in “kind”"),
    ],
)
def test_a_mistake_in_a_line_of_limits_is_told_in_words(line, said):
    with pytest.raises(CodebookError, match=said):
        read(b"column,value,kind,lower,upper\n" + line + b"\n", COLUMNS)


def test_the_demonstration_can_be_declared():
    content = (demonstration.FOLDER / "codebook.json").read_bytes()
    declared = read(content, list(json.loads(content)))
    race = next(attribute for attribute in declared.attributes if attribute.name == "race")
    # The census has a race called so: it is a value, and takes what is not on the list.
    assert race.labels()[race.other] == "Other"
    assert race.labels().count("Other") == 1
