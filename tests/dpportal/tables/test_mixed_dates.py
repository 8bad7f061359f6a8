"""Days that one column writes in several ways: the most frequent one is proposed, and the column says so."""

from __future__ import annotations

import datetime as dt

import pytest
from django.urls import reverse

from dpportal.datasets import services
from dpportal.tables.meaning.parse_options import ReadOptions
from dpportal.tables.proposals import proposed_columns, proposed_options
from mechanisms.domain import Date
from tests.dpportal import building

GERMAN = [f"{day:02}.11.2023" for day in range(1, 7)]
SHORT, ISO = ["1.2.23", "5.10.23"], ["2023-08-21", "2023-04-24"]


@pytest.mark.parametrize(
    ("texts", "form"),
    [
        (GERMAN + SHORT + ISO, "day-first"),
        (GERMAN[:2] + ISO * 4, "iso"),
        (["11/13/2023"] * 6 + ISO, "month-first"),
        (GERMAN + ["unknown"] * 4, "iso"),
        (["version 1.2.2023"] * 9, "iso"),
        (["14.02.23", "1.2.23"], "%d.%m.%y"),
        (["3/4/23", "2/14/23"], "%m/%d/%y"),
        (["3/4/23", "14/2/23"], "%d/%m/%y"),
        (["3/4/23", "2/3/23"], "iso"),
        (["14.02.23", "14/02/23"], "iso"),
    ],
)
def test_the_format_of_most_is_proposed(texts, form):
    assert proposed_options([["a"] * 10, texts], ReadOptions()).date_format == form


def test_the_column_says_that_only_one_is_read():
    texts = GERMAN + SHORT + ISO
    (column,) = proposed_columns(["seen"], [texts], proposed_options([texts], ReadOptions()).settled())
    assert column.remark.startswith("Looks like dates in several formats.")
    (pure,) = proposed_columns(["seen"], [GERMAN], proposed_options([GERMAN], ReadOptions()).settled())
    assert (pure.kind, pure.remark) == ("date", "")


def test_short_dates_are_read_as_they_are_proposed():
    texts = [f"{day:02}.02.23" for day in range(1, 29)]
    (column,) = proposed_columns(["seen"], [texts], proposed_options([texts], ReadOptions()).settled())
    assert (column.kind, column.remark) == ("date", "")


def test_a_column_of_dates_says_that_a_few_are_written_otherwise():
    """They are too few to make it another kind of column, and yet they will not be read."""
    texts = GERMAN * 10 + ISO
    options = proposed_options([texts], ReadOptions()).settled()
    (column,) = proposed_columns(["born"], [texts], options)
    assert column.kind == "date" and column.remark.startswith("Some dates are in another format")
    (words,) = proposed_columns(["born"], [[*GERMAN * 10, "unknown"]], options)
    assert (words.kind, words.remark) == ("date", "")


def test_the_warning_stays_at_the_column_once_it_is_declared(curator, client):
    client.force_login(curator)
    rows = "\n".join(f"a,{text}" for text in [*GERMAN * 10, *ISO])
    dataset = building.uploaded(client, f"g,born\n{rows}".encode())
    address = reverse("datasets:domain", args=[dataset.pk])
    assert "Some dates are in another format" in client.get(address).text
    day = Date("born", lower=dt.date(2023, 1, 1), upper=dt.date(2023, 12, 31), step="month")
    services.declare_all(dataset, [day])
    assert "Some dates are in another format" in client.get(address).text
