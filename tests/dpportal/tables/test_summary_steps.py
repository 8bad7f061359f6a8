"""What a summary needs of a column of whole numbers or dates follows from the rows at each whole step of it."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import numpy as np
import pytest

from dpportal.tables import ReadOptions, count_tables, power_sums
from mechanisms.domain import Attribute, Categorical, Date, Domain, Integer
from mechanisms.summary.counts import ColumnCounts
from mechanisms.summary.line import LineColumn
from tests.dpportal.tables.pushdown.twins import stored

NUMBERS = [
    "0",
    "1",
    "17",
    "17.9",
    "-0.5",
    "299",
    "300",
    "300.5",
    "1e2",
    "-3",
    "",
    "none",
    "text",
    None,
    "05",
    " 7 ",
]
DATES = ["1999-12-31", "2000-01-01", "2000-02-29", "2001-12-31", "2009-06-30", "2010-01-01", "", "2000-13-01"]
GROUP = Categorical("g", values=("a", "b"))


@pytest.mark.parametrize(
    "attribute",
    [
        Integer("x", lower=0, upper=100),
        Integer("x", lower=0, upper=300, single_values=(17, 100)),
        Integer("x", lower=-2, upper=5_000, width=10),
        Date("d", lower=dt.date(2000, 1, 1), upper=dt.date(2001, 12, 31)),
        Date("d", lower=dt.date(2000, 1, 5), upper=dt.date(2009, 6, 15)),
    ],
    ids=str,
)
def test_cells_and_powers_follow_from_the_steps(attribute: Attribute, tmp_path: Path) -> None:
    texts = NUMBERS if attribute.name == "x" else DATES
    # Each text in each group: three does not divide how many texts there are.
    values = [texts[i % len(texts)] for i in range(96)]
    columns = {"g": ("text", ["abc"[i % 3] for i in range(96)]), attribute.name: ("text", values)}
    path, line = stored(tmp_path, columns), LineColumn.of(attribute)
    options = ReadOptions(missing=("none",))

    def counted(reading: Attribute) -> np.ndarray:
        pair = [["g", reading.name]]
        return count_tables(path, Domain((GROUP, reading)), pair, options).reshape(GROUP.size, -1)

    assert line.cell_of_step is not None
    found = ColumnCounts.of_steps(line.cell_of_step, counted(line.measured.reading))
    assert found.cells.tolist() == counted(line.reading).tolist()
    [powers] = power_sums(path, Domain((GROUP,)), [line.measured.reading], options)
    assert found.powers is not None
    assert found.powers.tolist() == powers[:, :4].tolist()
