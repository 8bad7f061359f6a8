"""The chart that a reader sees first: its kind by the shape of the release, one kind of count at a time."""

from __future__ import annotations

import numpy as np
import pytest

from dpportal.charts.reader_counts import reader_figure
from mechanisms.domain import Categorical, Domain, Integer

SEX, RACE = Categorical("sex", values=("f", "m<b>")), Categorical("race", values=("a", "b", "c"))
AGE, MANY = Integer("age", lower=0, upper=89), Categorical("town", values=tuple(f"t{i}" for i in range(40)))


def traces(*columns, half_width: int | None = 7) -> list[dict[str, object]]:
    domain = Domain(columns)
    raw = np.arange(domain.size) - 3
    return reader_figure(domain, raw=raw, counts=np.maximum(raw, 0), half_width=half_width).json["data"]


@pytest.mark.parametrize(
    ("columns", "kinds"),
    [
        ((RACE,), {"bar"}),
        ((Integer("age", lower=0, upper=400),), {"scatter"}),
        ((RACE, SEX), {"bar"}),
        ((AGE, SEX), {"scatter"}),
        ((SEX, AGE), {"scatter"}),
        ((MANY, SEX), {"heatmap"}),
        ((MANY, AGE), {"heatmap"}),
        ((RACE, SEX, AGE), {"heatmap"}),
    ],
)
def test_the_kind_of_chart_is_by_the_shape(columns, kinds):
    assert {trace["type"] for trace in traces(*columns)} == kinds


@pytest.mark.parametrize(
    "columns", [(RACE,), (RACE, SEX), (AGE, SEX), (MANY, AGE), (Integer("age", lower=0, upper=400),)]
)
def test_adjusted_counts_are_hidden_until_they_are_chosen(columns):
    shown = {trace["meta"]: trace["visible"] for trace in traces(*columns)}
    assert shown == {"noisy": True, "synthetic": False}


@pytest.mark.parametrize("columns", [(AGE, SEX), (SEX, AGE)])
def test_each_group_is_a_line_through_its_own_counts(columns):
    """Whichever of the columns was named first."""
    lines = [t for t in traces(*columns, half_width=None) if t["meta"] == "noisy"]
    raw = np.arange(270).reshape(Domain(columns).shape) - 3
    by_sex = raw.T if columns[0] is AGE else raw
    assert [line["name"] for line in lines] == ["f", "m&lt;b&gt;", "Other"]
    assert [list(line["y"]) for line in lines] == by_sex.tolist()


def test_an_interval_belongs_to_noisy_counts_alone():
    assert {t["meta"]: t.get("error_y", {}).get("value") for t in traces(RACE, SEX)} == {
        "noisy": 7,
        "synthetic": None,
    }
    bands = [t for t in traces(AGE, SEX) if t.get("fill")]
    assert len(bands) == 3 and {t["meta"] for t in bands} == {"noisy"}
