"""Codebooks that other programs wrote: each is made here by that program's own library, or by its published form."""

from __future__ import annotations

import datetime as dt

import pandas as pd
import pyreadstat
import pytest

from dpportal.datasets import codebooks
from dpportal.datasets.codebooks import CodebookError, read
from mechanisms.domain import Boolean, Categorical, Date, Integer, Real

COLUMNS = ["sex", "age", "smoker", "day", "dose", "income"]
SEX = Categorical("sex", values=("1", "2"), words=("Male", "Female"))
ROWS = pd.DataFrame({"sex": [1.0, 2.0], "age": [33.0, 98.0], "smoker": [1.0, 9.0], "other": ["a", "b"]})


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_lines_with_labels(delimiter):
    lines = ["column,value,label", "sex,1,Male", "sex,2,Female"]
    content = "\n".join(lines).replace(",", delimiter).encode()
    assert read(content, COLUMNS).attributes == (SEX,)


def test_a_value_without_a_label_is_called_as_it_is_written():
    [sex] = read(b"column,value,label\nsex,1,Male\nsex,9,\n", COLUMNS).attributes
    assert sex.labels() == ["Male", "9", "Other"]


def test_a_frictionless_schema():
    import frictionless

    schema = frictionless.Schema.from_descriptor(
        {
            "fields": [
                {"name": "sex", "type": "string", "constraints": {"enum": ["m", "f"]}},
                {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 119}},
                {"name": "income", "type": "integer", "constraints": {"minimum": 0, "maximum": 99_999}},
                {"name": "smoker", "type": "boolean"},
                {
                    "name": "day",
                    "type": "date",
                    "constraints": {"minimum": "2020-01-01", "maximum": "2020-12-31"},
                },
                {"name": "dose", "type": "number", "constraints": {"minimum": 0, "maximum": 1}},
                {"name": "remark", "type": "string"},
            ]
        }
    )
    assert read(schema.to_json().encode(), COLUMNS).attributes == (
        Categorical("sex", values=("m", "f")),
        Integer("age", lower=0, upper=119),
        Integer("income", lower=0, upper=99_999, width=5_000),
        Boolean("smoker", closed=True),
        Date("day", lower=dt.date(2020, 1, 1), upper=dt.date(2020, 12, 31)),
        Real("dose", lower=0.0, upper=1.0, bins=20),
    )


@pytest.mark.parametrize(
    ("words", "attribute"),
    [
        ({"trueValues": ["True"], "falseValues": ["False"]}, Boolean("smoker", closed=True)),
        ({"trueValues": ["Yes", "1"], "falseValues": ["No"]}, Boolean("smoker", closed=True)),
        (
            {"trueValues": ["1"], "falseValues": ["2"]},
            Categorical("smoker", values=("2", "1"), words=("false", "true")),
        ),
        (
            {"falseValues": ["nie"]},
            Categorical(
                "smoker",
                values=("nie", "true", "True", "TRUE", "1"),
                words=("false", "true", "true", "true", "true"),
            ),
        ),
    ],
)
def test_words_for_yes_and_no_that_tables_are_not_read_by_become_categories(words, attribute):
    """With 1 for yes and 2 for no, nobody who said no would be counted in a column of yes or no."""
    field = {"name": "smoker", "type": "boolean", **words}
    import frictionless

    schema = frictionless.Schema.from_descriptor({"fields": [field]})
    assert read(schema.to_json().encode(), COLUMNS).attributes == (attribute,)


def test_a_frictionless_package_with_labelled_categories():
    content = b"""{"resources": [{"name": "survey", "schema": {"fields": [
        {"name": "sex", "type": "integer", "categories": [
            {"value": 1, "label": "Male"}, {"value": 2, "label": "Female"}]}]}}]}"""
    assert read(content, COLUMNS).attributes == (SEX,)


def test_ddi_knows_more_variables_than_the_table():
    content = b"""<?xml version="1.0"?>
        <codeBook xmlns="ddi:codebook:2_5"><dataDscr>
        <var name="sex"><catgry><catValu>1</catValu><labl>Male</labl></catgry>
            <catgry><catValu>2</catValu><labl>Female</labl></catgry>
            <catgry missing="Y"><catValu>9</catValu><labl>No answer</labl></catgry></var>
        <var name="age" intrvl="contin"><valrng><range min="0" max="119"/></valrng></var>
        <var name="dose"><valrng><range min="0.5" max="2"/></valrng></var>
        <var name="elsewhere"><catgry><catValu>1</catValu></catgry></var><var name="income"/>
        </dataDscr></codeBook>"""
    book = read(content, COLUMNS)
    assert book.missing_codes == (("sex", 1),)
    assert book.attributes == (
        SEX,
        Integer("age", lower=0, upper=119),
        Real("dose", lower=0.5, upper=2.0, bins=20),
    )


def test_labelled_codes_on_a_continuous_scale_of_ddi_are_single_values():
    """A code without a label may be there because the data hold it."""
    content = b"""<codeBook xmlns="ddi:codebook:2_5"><dataDscr>
        <var name="age" intrvl="contin"><valrng><range min="0" max="119"/></valrng>
            <catgry><catValu>98.0</catValu><labl>98 or more</labl></catgry>
            <catgry><catValu>0</catValu><labl>Below one</labl></catgry>
            <catgry><catValu>17</catValu></catgry><catgry><catValu>2.5</catValu><labl>Odd</labl></catgry>
            <catgry><catValu>NIU</catValu><labl>Not asked</labl></catgry>
            <catgry><catValu>120</catValu><labl>Beyond</labl></catgry></var>
        <var name="dose" intrvl="contin"><valrng><range min="0.0" max="2"/></valrng>
            <catgry><catValu>0</catValu><labl>None</labl></catgry></var>
        </dataDscr></codeBook>"""
    age = Integer("age", lower=0, upper=119, single_values=(0, 98))
    assert read(content, COLUMNS).attributes == (
        age,
        Real("dose", lower=0.0, upper=2.0, bins=20, single_values=(0.0,)),
    )


@pytest.mark.parametrize(("suffix", "version"), [("sav", None), ("dta", 8), ("dta", 12), ("dta", 15)])
def test_a_file_of_spss_or_stata_gives_the_labels_of_its_values(tmp_path, suffix, version):
    path = tmp_path / f"survey.{suffix}"
    labels = {"sex": {1: "Male", 2: "Female"}, "age": {98: "98 or more"}}
    if suffix == "sav":
        labels["smoker"] = {1: "Yes", 9: "No answer"}
        missing = {"smoker": [{"lo": 9, "hi": 9}]}
        measure = {"age": "scale"}
        pyreadstat.write_sav(
            ROWS, str(path), variable_value_labels=labels, missing_ranges=missing, variable_measure=measure
        )
    else:
        del labels["age"]
        pyreadstat.write_dta(ROWS, str(path), variable_value_labels=labels, version=version)
    book = read(path.read_bytes(), COLUMNS)
    assert book.missing_codes == ((("smoker", 1),) if suffix == "sav" else ())
    assert book.special_values == ((("age", ("98",)),) if suffix == "sav" else ())
    found = {a.name: a for a in book.attributes}
    assert found.pop("sex") == Categorical(
        "sex", values=("1", "2"), words=("Male", "Female"), as_numbers=True
    )
    yes = Categorical("smoker", values=("1",), words=("Yes",), as_numbers=True)
    assert found == ({"smoker": yes} if suffix == "sav" else {})


@pytest.mark.parametrize(
    "content",
    [
        b"<codeBook>",
        b"<codeBook/>",
        b'<!DOCTYPE x [<!ENTITY a "b">]><codeBook>&a;</codeBook>',
        b"$FL2" + bytes(300),
        b"<stata_dta><header>",
        b'<c><var name="sex"><valrng><range min="a" max="b"/></valrng></var></c>',
        b'{"fields": [{"name": "age", "type": "integer", "constraints": {"minimum": "x", "maximum": 3}}]}',
        b'{"fields": [{"name": "age", "type": "integer", "constraints": 3}]}',
        b'{"fields": [{"name": "sex", "type": "string", "categories": [{"label": "no value"}]}]}',
        b'{"fields": [{"name": "nowhere", "type": "boolean"}]}',
        b"column,value,label\nsex,1\n",
    ],
)
def test_what_cannot_be_read_is_told(content):
    with pytest.raises(CodebookError):
        read(content, COLUMNS)


def test_what_is_written_is_read_again():
    attributes = (
        Categorical("sex", True, ("1", "2", "3"), words=("a=b", "c", "c")),
        Integer("age", lower=0, upper=119, width=5),
        Boolean("smoker", closed=True),
    )
    book = codebooks.Codebook(attributes, frozenset({"age"}))
    assert read(codebooks.as_json(book).encode(), COLUMNS) == book
    assert read(codebooks.as_csv(book).encode(), COLUMNS) == book


def test_lines_say_which_columns_were_filled_from_data():
    attributes = (Categorical("sex", values=("1", "2")), Categorical("smoker", values=("y", "n")))
    text = codebooks.as_csv(codebooks.Codebook(attributes, frozenset({"sex"})))
    assert text.splitlines()[:2] == ["column,value,label,filled_from_data", "sex,1,1,yes"]
    assert read(text.encode(), COLUMNS).filled == {"sex"}
    shuffled = b"filled_from_data;column;value\nYes;sex;1\n;sex;2\n;smoker;y\n"
    assert read(shuffled, COLUMNS).filled == {"sex"}


def test_a_header_says_which_cells_are_labels():
    assert read(b"Column,label,value\nsex,Male,1\nsex,Female,2\n", COLUMNS).attributes == (SEX,)


@pytest.mark.parametrize(
    "header", ["kolumn;wert", "column;column", "column;label", "column;value;filled", "sex;1"]
)
def test_lines_under_another_header_are_refused(header):
    line = ";".join("1" for _name in header.split(";"))
    with pytest.raises(CodebookError, match="header line that names them so"):
        read(f"{header}\n{line}\n".encode(), ["1", *COLUMNS])


def test_a_mark_that_is_neither_yes_nor_empty_is_not_guessed():
    with pytest.raises(CodebookError, match="or is left empty"):
        read(b"column,value,filled_from_data\nsex,1,no?\n", COLUMNS)


@pytest.mark.parametrize(
    "line", ["age,,integer,0,1000000000000,x", "age,,real,0,inf,x", "age,,real,0,1e400,x"]
)
def test_a_line_that_would_be_listed_without_end_is_refused(line):
    with pytest.raises(CodebookError):
        read(f"column,value,kind,lower,upper,others\n{line}\n".encode(), ["age"])
