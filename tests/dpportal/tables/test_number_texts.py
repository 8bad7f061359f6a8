"""Plain numbers found by the bytes of all texts, against the pattern and the engine's own writing of a double."""

from __future__ import annotations

import re

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from dpportal.tables.formats.number_texts import TOGETHER, text_fields
from dpportal.tables.layout import written
from dpportal.tables.meaning.number_syntax import PLAIN_NUMBER
from tests.dpportal.tables.awkward import TEXTS

nearly = st.text("0123456789.-", min_size=1, max_size=20)
numbers = st.one_of(
    st.integers().map(str), st.floats(allow_nan=False).map(repr), st.decimals(places=2).map(str)
)
fields = st.lists(
    st.none() | nearly | numbers | st.sampled_from([text for text in TEXTS if text]), max_size=30
)


@pytest.fixture(scope="module")
def database():
    with duckdb.connect() as connection:
        yield connection


def stored(database, texts: pa.Array) -> list[tuple[str | None, ...]]:
    """Each field as it is read again, its three parts, and what is written for its number."""
    found = text_fields(texts)
    table = pa.table({"c": found.texts, "t": found.otherwise, "n": found.numbers})
    database.register("stored", table)
    return database.sql(
        f"SELECT coalesce(c, t, {written('n')}), c, t, n, {written('n')} FROM stored"
    ).fetchall()


@given(texts=fields, before=fields)
@settings(max_examples=100, deadline=None)
def test_a_field_is_read_again_as_it_was_and_its_number_is_that_of_the_pattern(database, texts, before):
    array = pa.array([*before, *texts], pa.string()).slice(len(before))
    for text, (again, other, otherwise, number, as_written) in zip(
        texts, stored(database, array), strict=True
    ):
        is_plain = bool(text and re.fullmatch(PLAIN_NUMBER, text))
        assert again == text
        assert (other, number) == ((None, float(text)) if text and is_plain else (text, None))
        assert otherwise in (None, text)
        if otherwise is None and is_plain:
            assert as_written == text


def test_the_texts_of_numbers_with_few_digits_are_not_stored(database):
    texts = pa.array(["7", "-12", "0", "0.5", "-3.25", "1234567.89", "999999999999999"] * TOGETHER)
    found = text_fields(texts)
    assert found.texts.null_count == found.otherwise.null_count == len(texts)
    assert found.numbers.null_count == 0
