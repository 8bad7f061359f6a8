"""Days that one column writes in several ways: the most frequent one is proposed, and the column says so."""

from __future__ import annotations

import pytest

from dpportal.tables.meaning.parse_options import ReadOptions
from dpportal.tables.meaning.proposals import proposed_columns, proposed_options

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


def test_a_column_of_dates_says_that_a_few_are_written_otherwise():
    """They are too few to make it another kind of column, and yet they will not be read."""
    texts = GERMAN * 10 + ISO
    options = proposed_options([texts], ReadOptions()).settled()
    (column,) = proposed_columns(["born"], [texts], options)
    assert column.kind == "date" and column.remark.startswith("Some dates are in another format")
    (words,) = proposed_columns(["born"], [[*GERMAN * 10, "unknown"]], options)
    assert (words.kind, words.remark) == ("date", "")
