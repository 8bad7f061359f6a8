"""The cell of every awkward text, held against the reading of one field in plain Python."""

from __future__ import annotations

import datetime as dt
import re
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpportal.tables import ReadOptions, count_cells
from dpportal.tables.layout import NAMES_KEY, names_metadata, text_name
from dpportal.tables.meaning import python_semantics
from dpportal.tables.meaning.number_syntax import number_pattern
from mechanisms.domain import Attribute, Boolean, Categorical, Date, Domain, Integer, Real
from mechanisms.number_text import number_written
from tests.dpportal.tables.awkward import OPTIONS, TEXTS
from tests.dpportal.tables.storing import earlier_number_columns, number_columns
from tests.dpportal.tables.test_counting import reference_bin

AWKWARD: list[Attribute] = [
    Categorical("x", True, values=("1", "250.1", "Zu\u0308rich", "true", "-99", "a\nb", "x", "1.0")),
    Categorical("x", closed=True, misfits_to=1, values=("5", "P1", "2020-02-29", "007")),
    Categorical("x", closed=True, as_numbers=True, values=("1", "-1", "250.1", "10", "1e400", "123456789")),
    Categorical("x", as_numbers=True, values=("0", "1.5", "1234", "0.30000000000000004", "-1e400")),
    Categorical("x", True, values=("1", "Zu\u0308rich", "-99", "x"), words=("One", "City", "Other", "City")),
    Categorical("x", closed=True, as_numbers=True, values=("10", "1", "250.1"), words=("Few", "Few", "1")),
    Boolean("x", closed=True),
    Integer("x", True, -5, 1300, width=7),
    Integer("x", closed=True, lower=0, upper=10**18, edges=(0, 1, 5, *range(10, 1300, 37), 10**17, 10**18)),
    Real("x", lower=0.0, upper=0.7, bins=7),
    Real("x", True, lower=-1.0, upper=1300.5, bins=173),
    Real("x", True, lower=0.0, upper=260.0, edges=(0.0, *(i / 10 for i in range(1, 60)), 250.1, 260.0)),
    *(Date("x", True, dt.date(2019, 11, 5), dt.date(2021, 3, 17), step) for step in ("week", "quarter")),
]


def exact_number_of(text: str, options: ReadOptions) -> Fraction | None:
    """The number that a text writes with the declared marks, exactly."""
    if not re.fullmatch(number_pattern(options), text):
        return None
    plain = text.replace(options.thousands, "") if options.thousands else text
    return number_written(plain.replace(",", ".") if options.decimal == "," else plain)


def cell_by_reference(attribute: Attribute, field: str | None, options: ReadOptions) -> int | None:
    """The cell of a field's text by `reference` and the attribute's own bounds; None if the row is left out."""
    text = python_semantics.text_of(field, options)
    if text is None:
        return attribute.missing
    if isinstance(attribute, Categorical):
        same = (
            (lambda value: number_written(value) == exact_number_of(text, options))
            if attribute.as_numbers
            else (lambda value: python_semantics.text_of(value, ReadOptions(strip=options.strip)) == text)
        )
        words = attribute.words or attribute.values
        word = next((word for value, word in zip(attribute.values, words, strict=True) if same(value)), None)
        return attribute.other if word is None else attribute.labels().index(word)
    if isinstance(attribute, Boolean):
        truth = python_semantics.truth_of(text, options)
        return attribute.missing if truth is None else int(truth)
    if isinstance(attribute, Date):
        day = python_semantics.day_of(text, options)
        return attribute.missing if day is None else reference_bin(attribute, day, lambda b, d: d <= b[1])
    read = python_semantics.integer_of if isinstance(attribute, Integer) else python_semantics.number_of
    number = read(text, options)
    if number is None:
        return attribute.missing
    whole = isinstance(attribute, Integer)
    return reference_bin(attribute, number, lambda b, x: x <= b[1] if whole else x < b[1])


HOW = {"numbers": number_columns, "few numbers": number_columns, "earlier numbers": earlier_number_columns}


@pytest.mark.sampled
@pytest.mark.slow
@pytest.mark.parametrize("how", ["texts", "few texts", *HOW])
@pytest.mark.parametrize("options", OPTIONS)
def test_every_awkward_text_is_in_the_cell_of_the_reference(tmp_path, options, how):
    """Read row by row, with plain numbers beside, and each different text once."""
    fields = [text.replace("\r\n", "\n") or None for text in TEXTS]
    columns = HOW[how](0, fields) if how in HOW else {text_name(0): pa.array(fields, pa.string())}
    few = list(columns) if how.startswith("few") else False
    columns |= {text_name(1): pa.array([str(1000 + i) for i in range(len(fields))])}
    table = pa.table(columns).replace_schema_metadata({NAMES_KEY: names_metadata(["x", "row"])})
    pq.write_table(table, tmp_path / "t", use_dictionary=few)
    settled = options.settled()
    rows = Integer("row", lower=1000, upper=999 + len(fields))
    for attribute in AWKWARD:
        each = Domain((rows, attribute))
        found = count_cells(tmp_path / "t", each, options).reshape(each.shape)
        wanted = np.zeros_like(found)
        for row, field in enumerate(fields):
            cell = cell_by_reference(attribute, field, settled)
            if cell is not None:
                wanted[row, cell] = 1
        assert found.tolist() == wanted.tolist(), attribute
