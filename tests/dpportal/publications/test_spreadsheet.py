"""Texts that a spreadsheet would run stand still; numbers stay numbers."""

from __future__ import annotations

import io

import pandas as pd
import pyarrow as pa
import pytest

from dpportal.publications.spreadsheet import exact
from mechanisms.inert_text import inert
from mechanisms.tabular.csv_frames import inert_frame


@pytest.mark.parametrize("code", ["-1", "-9.5", "0", "12"])
def test_a_code_that_is_a_number_stays_one(code: str) -> None:
    assert inert(code) == code
    read = pd.read_csv(io.StringIO(inert_frame(pd.DataFrame({"code": [code]})).to_csv(index=False)))
    assert read["code"].dtype.kind in "if" and read["code"][0] == float(code)


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1+1", "+A1", "@SUM(A1)", "-", "- 1", "-1e5", "\t1", "-١", "-1\n"]
)
def test_what_a_spreadsheet_would_run_does_not_begin_so(text: str) -> None:
    assert inert(text) == f"'{text}"


def test_every_text_is_given_back():
    """Of two that look alike with one apostrophe more, each as it was."""
    texts = ["=1+1", "'=1+1", "''=1+1", "-1 to 0.3", "-1", "'-1", "it's", "'", "", "\n='", "a\n'=1", None]
    guarded = [text and inert(text) for text in texts]
    assert len(set(guarded)) == len(texts)
    assert exact(pa.array(guarded)).to_pylist() == texts
