"""The example of a README: it runs as it is written, and shows an interval wherever there is one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.template.loader import render_to_string

from dpportal.publishing.loading import Measured, measured_in
from dpportal.publishing.table import Table

NUMBERS = {
    "rows.csv": "colour\nred\n",
    "estimates.csv": "colour,estimate,interval_lower,interval_upper\nred,5,3,7\n",
    "bare.csv": "cell,noisy_count,interval_lower,interval_upper\n0,5,,\n",
    "series.csv": "period,value,released_count,interval_lower,interval_upper,"
    "increment,increment_lower,increment_upper\n"
    "1,-9,5,3,7,5,3,7\n",
}  # fmt: skip


def tables(folder: Path, *names: str) -> list[Table]:
    for name in names:
        (folder / name).write_text(NUMBERS[name])
    headers = {name: NUMBERS[name].splitlines()[0].split(",") for name in names}
    return [Table(folder / name, "", [{"name": header} for header in headers[name]]) for name in names]


def run(folder: Path, monkeypatch: pytest.MonkeyPatch, **context: Any) -> dict[str, Any]:
    """What the Python part leaves."""
    monkeypatch.chdir(folder)
    [code] = re.findall(r"```python\n(.*?)```", render_to_string("_load.md", context), re.DOTALL)
    left: dict[str, Any] = {}
    exec(code, left)
    return left


def test_estimates_in_a_file_of_their_own_are_read_with_their_interval(tmp_path, monkeypatch) -> None:
    measured = measured_in(tables(tmp_path, "rows.csv", "estimates.csv"))
    assert measured == Measured("estimates.csv", "estimate")
    left = run(tmp_path, monkeypatch, table="rows.csv", measured=measured)
    assert left["table"]["colour"].tolist() == ["red"]
    assert left["one_line"].tolist() == [5, 3, 7]


def test_what_is_new_in_a_period_is_read_with_an_interval_of_its_own(tmp_path, monkeypatch) -> None:
    measured = measured_in(tables(tmp_path, "series.csv"))
    left = run(tmp_path, monkeypatch, table="series.csv", measured=measured, increments=True)
    assert left["one_line"].tolist() == [5, 3, 7]
    assert left["new"].loc[0].tolist() == [1, -9, 5, 3, 7]


def test_where_a_method_states_no_interval_none_is_shown(tmp_path, monkeypatch) -> None:
    measured = measured_in(tables(tmp_path, "rows.csv", "bare.csv"))
    assert measured is None
    assert "one_line" not in run(tmp_path, monkeypatch, table="bare.csv", measured=measured)
