"""Numbers and days as people type them on pages; programs send numbers, or texts with a point."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest
from django import forms
from django.http import QueryDict

from dpportal.budgets.amounts import amount_formfield
from dpportal.datasets.forms import AttributeForm
from dpportal.datasets.people_estimate import people_field
from dpportal.datasets.typed_days import typed_day
from dpportal.platform.form_data import form_data
from dpportal.platform.typed_numbers import decimal_text, integer_text


class CostForm(forms.Form):
    amount = amount_formfield()
    people = people_field()


def typed(amount: str, people: str) -> CostForm:
    data = QueryDict(mutable=True)
    data["amount"], data["people"] = amount, people
    return CostForm(data)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("0,5", "0.5"),
        (",5", ".5"),
        ("0.5", "0.5"),
        ("-0,1", "-0.1"),
        ("1,000.5", "1,000.5"),
        ("1,2,3", "1,2,3"),
    ],
)
def test_one_comma_is_a_decimal_sign(text, read):
    assert decimal_text(text) == read


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("1.500", "1500"),
        ("1,500", "1500"),
        ("1 500", "1500"),
        ("1\N{NO-BREAK SPACE}500", "1500"),
        ("1'500'000", "1500000"),
        ("1,500.000", "1,500.000"),
        ("1,50", "1,50"),
        ("1500,000", "1500,000"),
        ("12", "12"),
    ],
)
def test_marks_between_groups_of_three_are_left_out(text, read):
    assert integer_text(text) == read


def test_a_page_takes_numbers_as_people_write_them_in_fields_of_text():
    form = typed("0,1", "1.500")
    assert form.is_valid() and form.cleaned_data == {"amount": Decimal("0.1"), "people": 1500}
    assert 'type="text"' in str(form["amount"]) and 'inputmode="decimal"' in str(form["amount"])
    assert 'type="text"' in str(form["people"]) and 'inputmode="numeric"' in str(form["people"])


@pytest.mark.parametrize("people", ["1,5", "1,500.25", "about 1500"])
def test_what_is_no_whole_number_is_refused_with_a_remedy(people):
    assert typed("1", people).errors["people"] == ["Write a whole number, such as 1500, 1,500 or 1 500."]


def test_a_program_sends_numbers_or_texts_with_a_point():
    assert CostForm(form_data({"amount": "0.1", "people": 1500})).is_valid()
    assert set(CostForm(form_data({"amount": "0,1", "people": "1,500"})).errors) == {"amount", "people"}


@pytest.mark.parametrize(
    ("text", "date_format", "day"),
    [
        ("1930-01-02", "iso", dt.date(1930, 1, 2)),
        ("02.01.1930", "iso", dt.date(1930, 1, 2)),
        ("02/01/1930", "day-first", dt.date(1930, 1, 2)),
        ("01/02/1930", "month-first", dt.date(1930, 1, 2)),
        ("1930-01-02", "day-first", dt.date(1930, 1, 2)),
        ("01/02/1930", "iso", None),
        ("32.01.1930", "iso", None),
    ],
)
def test_days_are_read_as_the_table_writes_them_and_where_no_other_day_can_be_meant(text, date_format, day):
    assert typed_day(text, date_format) == day


def test_limits_of_a_column_are_read_so():
    said = {
        "kind": "date",
        "missing_cell": "on",
        "lower": "01.01.1930",
        "upper": "31.12.1999",
        "step": "year",
    }
    form = AttributeForm(said, column="born")
    assert form.is_valid() and form.attribute().lower == dt.date(1930, 1, 1)
    bounded = {
        "kind": "integer",
        "missing_cell": "on",
        "lower": "0",
        "upper": "1.500",
        "binning": "per_value",
    }
    form = AttributeForm(bounded, column="size")
    assert form.is_valid() and form.attribute().upper == 1500


@pytest.mark.parametrize(
    ("text", "limit"),
    [("200.000,00", 200000), ("200,000.5", 200000.5), ("1 234 567,25", 1234567.25), ("-1'500.5", -1500.5)],
)
def test_a_limit_is_read_as_a_file_writes_it(text, limit):
    said = {"kind": "real", "missing_cell": "on", "lower": "-9.999,5", "upper": "9,5", "bins": "10"}
    form = AttributeForm({**said, "lower" if limit < 0 else "upper": text}, column="cost")
    assert form.is_valid(), form.errors
    assert limit in (form.attribute().lower, form.attribute().upper)


@pytest.mark.parametrize("text", ["1,5,000.0", "1.50,000.0", "1,000,00", "1.000.00"])
def test_a_limit_whose_marks_contradict_each_other_is_refused(text):
    said = {"kind": "real", "missing_cell": "on", "lower": "0", "upper": text, "bins": "10"}
    form = AttributeForm(said, column="cost")
    assert set(form.errors) == {"upper"}


@pytest.mark.parametrize(
    ("text", "whole", "decimal"),
    [("200.000", "200000", "200.0"), ("-1,500", "-1500", "-1.5"), ("1.125", "1125", "1.1250")],
)
def test_a_limit_that_may_be_either_of_two_numbers_is_asked_about(text, whole, decimal):
    said = {"kind": "real", "missing_cell": "on", "lower": "-9999", "upper": "300000", "bins": "10"}
    side = "lower" if text.startswith("-") else "upper"
    form = AttributeForm({**said, side: text}, column="cost")
    assert form.errors[side] == [f"“{text}” can be read in two ways. Write {whole} or {decimal}."]
    for one in (whole, decimal):
        form = AttributeForm({**said, side: one}, column="cost")
        assert form.is_valid() and float(one) == getattr(form.attribute(), side)


@pytest.mark.parametrize(
    ("text", "limit"), [("1.200.000", 1200000), ("200 000", 200000), ("0.125", 0.125), ("2000.125", 2000.125)]
)
def test_a_limit_that_can_mean_one_number_alone_is_read_so(text, limit):
    said = {"kind": "real", "missing_cell": "on", "lower": "-9999", "upper": text, "bins": "10"}
    form = AttributeForm(said, column="cost")
    assert form.is_valid() and form.attribute().upper == limit


def test_neither_a_program_nor_a_limit_that_was_declared_is_asked_about():
    said = {"kind": "real", "missing_cell": "on", "lower": "0", "upper": "1.125", "bins": "10"}
    assert AttributeForm(form_data(said), column="cost").is_valid()
    assert AttributeForm(said, initial=said, column="cost").is_valid()
    whole = {**said, "kind": "integer", "upper": "200.000", "binning": "width", "width": "1000"}
    form = AttributeForm(whole, column="size")
    assert form.is_valid() and form.attribute().upper == 200000
