"""Columns that say when something happened are known by their names and by how their values are written."""

from __future__ import annotations

import pytest

from dpportal.tables.meaning.periods import are_periods, names_a_period


@pytest.mark.parametrize(
    "name",
    [
        "Schuljahr",
        "school year",
        "Anmeldedatum",
        "visit_date",
        "Date de l'appel",
        "Heure",
        "Wave",
        "学年",
        "日期",
    ],
)
def test_names_of_times(name):
    assert names_a_period(name)


@pytest.mark.parametrize(
    "name",
    [
        "age",
        "Alter",
        "Klassenstufe",
        "year of birth",
        "Geburtsjahr",
        "date_of_birth",
        "出生日期",
        "年龄",
        "Fehltage",
    ],
)
def test_names_of_what_stays_or_is_no_time(name):
    assert not names_a_period(name)


@pytest.mark.parametrize(
    "text",
    [
        "2019/20",
        "2019-2020",
        "2023-07",
        "2023-07-31",
        "31.07.2023",
        "2023-W07",
        "2023-Q1",
        "KW7-2023",
        "07h08",
    ],
)
def test_texts_of_times(text):
    assert are_periods([text])


@pytest.mark.parametrize("text", ["10-14", "2019-0123", "north", "P-0001", "12345"])
def test_other_texts(text):
    assert not are_periods([text])
