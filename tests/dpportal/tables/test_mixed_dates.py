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
