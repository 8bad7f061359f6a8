"""Texts that a spreadsheet would run stand still; numbers stay numbers."""

from __future__ import annotations

import io

import pandas as pd
import pytest

from dpportal.publishing.spreadsheet import inert, inert_frame


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
