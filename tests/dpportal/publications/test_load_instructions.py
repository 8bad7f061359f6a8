"""The example of a README: it runs as written, in Python and in R, and shows an interval wherever there is one."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from django.template.loader import render_to_string

from dpportal.publications.load_instructions import EstimateColumn, measured_in
from dpportal.publications.table import Table

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


def run_in_r(rscript: str, folder: Path, shown: str, **context: Any) -> str:
    """What R prints of an expression after the R part."""
    [code] = re.findall(r"```r\n(.*?)```", render_to_string("_load.md", context), re.DOTALL)
    (folder / "example.R").write_text(f"options(warn = 2)\n{code}\ncat({shown})\n", encoding="utf-8")
    command = [rscript, "--vanilla", "example.R"]
    settings = {**os.environ, "LC_ALL": "C.UTF-8"}
    return subprocess.run(
        command, cwd=folder, env=settings, check=True, capture_output=True, text=True
    ).stdout.strip()


CELLS = (
    "größe,colour,noisy_count,count,standard_error,interval_lower,interval_upper\n"
    "-9,'=red,5.0,5,2.0,1.0,9.0\n"
    ',"a ""b"", # c",-3.0,0,2.0,-7.0,1.0\n'
)


@pytest.mark.slow
def test_r_reads_cells_and_says_the_interval_of_a_sum_as_python_does(rscript, tmp_path, monkeypatch) -> None:
    (tmp_path / "histogram.csv").write_text(CELLS, encoding="utf-8")
    asked = {"table": "histogram.csv", "summed": True}
    left = run(tmp_path, monkeypatch, **asked)
    shown = "total, half_width, unlist(one_cell), is.na(table[[1]]), table$colour[2], names(table)[1]"
    said = run_in_r(rscript, tmp_path, shown, **asked).split(maxsplit=7)
    assert float(said[0]) == left["total"] == 2
    assert float(said[1]) == pytest.approx(left["half_width"], rel=1e-6)
    assert list(map(float, said[2:5])) == left["one_cell"].tolist() == [5, 1, 9]
    assert said[5:] == ["FALSE", "TRUE", 'a "b", # c größe']


@pytest.mark.slow
def test_r_reads_estimates_and_what_is_new(rscript, tmp_path) -> None:
    measured = measured_in(tables(tmp_path, "rows.csv", "estimates.csv"))
    asked = {"table": "rows.csv", "measured": measured}
    assert run_in_r(rscript, tmp_path, "unlist(one_line)", **asked) == "5 3 7"
    series = {
        "table": "series.csv",
        "measured": measured_in(tables(tmp_path, "series.csv")),
        "increments": True,
    }
    assert run_in_r(rscript, tmp_path, "unlist(new)", **series) == "1 -9 5 3 7"


def test_estimates_in_a_file_of_their_own_are_read_with_their_interval(tmp_path, monkeypatch) -> None:
    measured = measured_in(tables(tmp_path, "rows.csv", "estimates.csv"))
    assert measured == EstimateColumn("estimates.csv", "estimate")
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
