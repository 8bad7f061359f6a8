"""What Table 1 says of values at or beyond a declared bound, and of margins that are not those of both sides."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from uuid import uuid4

import numpy as np
import pytest
from django.template.loader import render_to_string

from dpportal.platform.json_types import Json
from dpportal.releases.products.shared.cells import (
    MEAN_AND_DEVIATION,
    MEDIAN_AND_QUARTILES,
    RANGE,
    SINGLE,
    CellNumber,
    ClippingLimits,
    no_total,
)
from dpportal.releases.products.summary import comparison, tables
from dpportal.releases.products.summary.page import table_json
from dpportal.releases.products.summary.table_one import TableOne
from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Domain, Integer
from mechanisms.noise import Noise
from mechanisms.summary.column_estimates import Summary
from mechanisms.summary.estimates import estimates
from mechanisms.summary.mechanism import ColumnTables
from mechanisms.summary.plan import SummaryPlan
from tests.mechanisms.summary.counting import counted

TABLES = ColumnTables()
LOSS = Loss(Definition.PURE, Fraction(5))
WAGES, KIDS, HOURS = 0, 1, 2
# Bounds that most wages, of about 55,000, lie beyond; few whole numbers; and bounds that nobody is near.
COLUMNS = (Integer("wage", True, 0, 10_000), Integer("kids", True, 0, 9), Integer("hours", True, 0, 1000))


def released(people: int = 4000) -> tuple[SummaryPlan, Summary]:
    """Wages of 20,000 to 90,000, three children each, and 400 to 600 hours; ε = 5."""
    random = np.random.default_rng(2)
    values = {
        "wage": random.integers(20_000, 90_000, people),
        "kids": np.full(people, 3),
        "hours": random.integers(400, 600, people),
    }
    groups = Domain((Integer("g", lower=1, upper=2),))
    plan = TABLES.plan(groups, COLUMNS, (), LOSS, people)
    exact = counted(plan, random.integers(0, 2, people), values)
    noise = Noise(np.random.default_rng(7).bytes)
    return plan, estimates(plan, TABLES.measure(plan, exact, noise).values)


@pytest.fixture(scope="module")
def shown() -> Json:
    table = TableOne(*released())
    return table_json(table, list(table.blocks()))


def quantile_texts(shown: Json, column: int) -> list[str]:
    rows = [row for row in shown["blocks"][column]["rows"] if row["label"].startswith(("Median", "5 %"))]
    return [cell["text"] for row in rows for cell in row["cells"]]


def test_a_quantile_beyond_a_bound_says_so(shown: Json) -> None:
    """All wages lie above the upper bound: what was counted of them is that they do."""
    texts = quantile_texts(shown, WAGES)
    assert texts and set(texts) == {
        "10,000 or more (10,000 or more, 10,000 or more)", "10,000 or more, 10,000 or more"
    }  # fmt: skip


def test_no_quantile_has_a_margin_of_nothing(shown: Json) -> None:
    """Everybody has three children, as far as a step tells."""
    texts = quantile_texts(shown, KIDS)
    assert texts[0] == "3 ± less than 1 (3 ± less than 1, 3 ± less than 1)"
    for column in (WAGES, KIDS, HOURS):
        assert not any("± 0" in text for text in quantile_texts(shown, column))


def test_quantiles_between_the_bounds_are_numbers(shown: Json) -> None:
    assert not any("or more" in text or "or less" in text for text in quantile_texts(shown, HOURS))


def test_an_interval_that_reaches_a_limit_says_so() -> None:
    limits = ClippingLimits(0.0, 10_000.0, 1.0)
    part = CellNumber(9_950.0, 9_900.0, 10_000.0, "whole", limits=limits)
    assert SINGLE.cell([part])["text"] == "9,950 [9,900 to 10,000 or more]"
    low = SINGLE.cell([CellNumber(40.0, 0.0, 80.0, "whole", limits=limits)])
    assert low["text"] == "40 [0 or less to 80]"


def test_limits_of_decimals_and_dates_are_written_as_they_were_declared() -> None:
    decimals = CellNumber(1.25, 1.25, 1.25, limits=ClippingLimits(-0.5, 1.25, 0.01))
    assert SINGLE.cell([decimals])["text"] == "1.25 or more"
    assert SINGLE.cell([decimals._replace(value=-0.5, lower=-0.5, upper=-0.5)])["text"] == "−0.5 or less"
    days = CellNumber(18_262.0, 18_262.0, 18_292.0, "day", limits=ClippingLimits(18_292.0, 18_627.0, 1.0))
    assert SINGLE.cell([days]) == {"text": "2020-01-31 or earlier", "sort": 18_262.0}
    last = days._replace(value=18_640.0, lower=18_627.0, upper=18_650.0)
    assert SINGLE.cell([last])["text"] == "2020-12-31 or later"


def test_beside_one_beyond_a_limit_the_others_keep_their_margins() -> None:
    limits = ClippingLimits(0.0, 100.0, 1.0)
    parts = [
        CellNumber(0.0, 0.0, 0.0, "whole", limits=limits),
        CellNumber(50.0, 40.0, 60.0, "whole", limits=limits),
    ]
    cell = RANGE.cell(parts)
    assert cell["text"] == "0 or less, 50 ± 10"
    assert MEDIAN_AND_QUARTILES.cell([parts[0]] * 3)["text"] == "0 or less (0 or less, 0 or less)"


def test_a_dash_stands_for_what_is_not_determined_and_nothing_else() -> None:
    unknown = CellNumber(np.nan, np.nan, np.nan)
    cell = MEAN_AND_DEVIATION.cell([CellNumber(37.0, 36.0, 38.0), unknown])
    assert cell["text"] == "37.0 ± 1.0 (–)"
    assert no_total()["text"] == "none"


def test_files_say_of_which_values_quantiles_are(tmp_path: Path) -> None:
    """In the description of the numbers, in the page by itself and in LaTeX; and the texts are those of the page."""
    plan, summary = released(500)
    written = {table.path.name: table for table in tables.write(plan, summary, tmp_path, "ε = 5")}
    titles = {field["name"]: field["title"] for field in written["summary.csv"].fields}
    assert "cut to the declared limits" in titles["estimate"]
    for name in ("table1.csv", "table1.html", "table1.tex"):
        assert "10,000 or more" in (tmp_path / name).read_text(encoding="utf-8"), name
    for name in ("table1.html", "table1.tex"):
        assert "any number beyond" in " ".join((tmp_path / name).read_text(encoding="utf-8").split()), name


@pytest.mark.parametrize(("groups", "is_wide"), [(2, False), (4, False), (5, True), (16, True)])
def test_a_table_of_many_groups_is_read_in_a_frame(groups: int, is_wide: bool) -> None:
    """In which the names of rows and columns stay: a page of 1280 pixels cut six columns of numbers at its edge."""
    plan = TABLES.plan(Domain((Integer("g", lower=1, upper=groups),)), COLUMNS[1:2], (), LOSS, 10_000)
    values = {"kids": np.tile(np.arange(10), 100 * groups)}
    exact = counted(plan, np.repeat(np.arange(groups), 1000), values)
    table = TableOne(plan, estimates(plan, exact))
    shown = table_json(table, list(table.blocks()))
    assert len(shown["heads"]) == 1 + groups and shown["is_wide"] == is_wide
    text = render_to_string("releases/summary/_table.html", {"table_one": shown})
    assert ("table-frame table-one tall" in text) == is_wide


@pytest.mark.parametrize(("columns", "is_wide"), [(8, False), (9, True)])
def test_so_is_one_of_many_rows(columns: int, is_wide: bool) -> None:
    """Of seven rows each: pages were 11,500 pixels long."""
    block = {"rows": [{}] * 7, "leaves_out": False}
    plan = TABLES.plan(Domain((Integer("g", lower=1, upper=2),)), COLUMNS[1:2], (), LOSS, 10_000)
    exact = counted(plan, np.repeat(np.arange(2), 1000), {"kids": np.tile(np.arange(10), 200)})
    assert table_json(TableOne(plan, estimates(plan, exact)), [block] * columns)["is_wide"] == is_wide


@pytest.mark.parametrize(
    ("upper", "in_steps", "in_cells"), [(40, [], []), (1000, [], ["x"]), (10**6, ["x"], ["x"])]
)
def test_the_curator_is_told_what_true_numbers_are_of(
    upper: int, in_steps: list[str], in_cells: list[str]
) -> None:
    """Not of each value as it stands in the file, where steps or cells are wider than one."""
    plan = TABLES.plan(Domain(()), [Integer("x", True, 0, upper)], (), LOSS, 500)
    exact = counted(plan, np.zeros(500, dtype=np.int64), {"x": np.arange(500) % 41})
    compared = comparison.build(plan, estimates(plan, exact), exact)
    assert (compared["in_steps"], compared["in_cells"]) == (in_steps, in_cells)
    text = render_to_string(
        "releases/summary/_compare.html", {"comparison": compared, "release": SimpleNamespace(pk=uuid4())}
    )
    assert ("of x are of values in whole steps" in text) == bool(in_steps)
    assert ("The true quantiles of x are worked out from counts of cells" in text) == bool(in_cells)
