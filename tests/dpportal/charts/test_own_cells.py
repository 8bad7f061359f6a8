"""“Other” and “Missing” are drawn where the released numbers show somebody in them, and named where they do not."""

from __future__ import annotations

import numpy as np
import pytest
from django.http import QueryDict

from dpportal.charts.own_cells import cells_to_show
from dpportal.charts.reader_counts import reader_figure
from dpportal.releases.products.histogram.reader_choices import ChartForm, begins_mirrored, figure
from mechanisms.box_queries import CellSum
from mechanisms.domain import Categorical, Domain, Integer

SEX = Categorical("sex", True, values=("f", "m"))
AGE = Integer("age", True, lower=0, upper=49, width=5)
SAID = "Left out of the chart, as these may have nobody: Missing (age), Other (sex), Missing (sex). The table has them."


def released(other: int = 3, missing: int = -2) -> np.ndarray:
    """(ages, sexes) with as many of another sex, and of none, at each age; nobody has no age."""
    counts = np.tile([500, 400, other, missing], (AGE.size, 1))
    counts[-1] = [4, -6, 2, 1]
    return counts


def chosen(counts: np.ndarray, margin: float | None = 20.0, question: str = "") -> dict:
    return figure(
        ChartForm(Domain((AGE, SEX)), QueryDict(question)),
        counts.reshape(-1),
        lambda picks: CellSum(0.0, margin and margin * np.sqrt(np.prod([len(p) for p in picks])), 1),
    )


@pytest.mark.parametrize("margin", [20.0, None])
def test_two_sexes_by_age_are_mirrored_where_nobody_shows_in_the_portals_own_cells(margin) -> None:
    shown = chosen(released(), margin)
    assert begins_mirrored(Domain((AGE, SEX)))
    assert [trace["name"] for trace in shown["json"]["data"]] == ["f", "m"]
    assert all(trace["orientation"] == "h" and len(trace["y"]) == 10 for trace in shown["json"]["data"])
    assert SAID in shown["caption"]


@pytest.mark.parametrize("margin", [20.0, None])
def test_a_count_below_nothing_has_no_bar_on_the_others_side(margin) -> None:
    """At the third age there are -6 men, ± 20 where that is known: 0 to 14 lies on their side."""
    counts = released()
    counts[2, 1] = -6
    shown = chosen(counts, margin)
    women, men = shown["json"]["data"]
    assert max(women["x"]) <= 0 and min(men["x"]) >= 0
    assert men["x"][2] == 0 and men["customdata"][2] == -6, "the pointer still tells it"
    assert ("A noisy count below 0 has no bar." in shown["caption"]) and men["x"][0] == 400
    if margin:
        assert men["error_x"]["array"][1:3] == [20, 14] and men["error_x"]["arrayminus"][1:3] == [20, 0]


def test_nothing_is_said_of_counts_below_nothing_where_there_are_none() -> None:
    assert "has no bar" not in chosen(released())["caption"]


def test_shares_say_that_they_are_of_those_that_are_drawn() -> None:
    words = "Shares are of those that are drawn."
    assert words in chosen(released(), question="scale=share")["caption"]
    assert words not in chosen(released())["caption"]


def test_where_somebody_shows_they_are_drawn() -> None:
    shown = chosen(released(other=90))
    lines = {trace["name"] for trace in shown["json"]["data"] if trace.get("name")}
    assert {"f", "m", "Other"} <= lines and "Missing" not in lines
    assert (
        "Left out of the chart, as these may have nobody: Missing (age), Missing (sex)." in shown["caption"]
    )


def test_declared_values_are_always_drawn() -> None:
    kind = Categorical("kind", values=("a", "Other", "c"))
    left = cells_to_show((kind,), np.array([100.0, 0.0, 0.0]), [5])
    assert left.caption == "" and left.attributes == (kind,)


def test_bars_of_one_column_leave_out_nobody_too() -> None:
    counts = np.array([50, 40, 3, 30])
    shown = reader_figure(Domain((SEX,)), raw=counts, counts=counts, half_width=10, margins=[10])
    noisy, adjusted = shown.json["data"]
    assert list(noisy["x"]) == list(adjusted["x"]) == ["f", "m", "Missing"] and list(noisy["y"]) == [
        50,
        40,
        30,
    ]
    assert (
        "Left out of the chart, as these may have nobody: Other (sex). The table has them." in shown.caption
    )
