"""What the page of totals and means and its files tell is the same, and is possible."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dpportal.releases.products.means import tables
from dpportal.releases.products.means.page import page
from dpportal.releases.products.means.runner import GroupMeans
from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Domain, Integer
from mechanisms.moments.column import MeasuredColumn
from mechanisms.moments.mechanism import BernsteinSums, exact_sums
from mechanisms.moments.plan import MomentsPlan
from mechanisms.noise import Noise

TOP = 10_000
# People of the three groups: many, some, and nobody.
SIZES = (700, 40, 0)


def released(seed: int = 1, epsilon: Fraction = Fraction(1)) -> tuple[MomentsPlan, GroupMeans]:
    """Everybody's value lies at the upper bound or beyond it."""
    column = MeasuredColumn.of(Integer("wage", lower=0, upper=TOP), Fraction(10))
    plan = BernsteinSums().plan(
        Domain((Integer("g", lower=1, upper=len(SIZES)),)), [column], 2, Loss(Definition.PURE, epsilon), 740
    )
    top = column.steps
    powers = [[n, n * top, n * top * top, 0, 0, n] for n in SIZES]
    exact = exact_sums(plan, np.array([powers], dtype=object))
    noise = Noise(np.random.default_rng(seed).bytes).draw(plan.columns[0].noise, exact.size)
    return plan, GroupMeans.of(plan, exact + noise.reshape(exact.shape))


@pytest.mark.parametrize("seed", range(5))
def test_files_are_empty_where_the_page_says_not_determined(seed: int, tmp_path: Path) -> None:
    plan, result = released(seed, Fraction(1, 5))
    tables.write(plan, result, tmp_path)
    files = [pd.read_csv(tmp_path / name) for name in ("in_all.csv", "totals.csv")]
    [section] = page(plan, result)["columns"]
    names = list(tables.statistics(result.groups[0]))
    empty = 0
    for row, line in zip(section["rows"], pd.concat(files).to_dict("records"), strict=True):
        for name, cell in zip(names, row["cells"], strict=True):
            assert (cell["text"] == "") == math.isnan(line[name]), (name, row["labels"])
            empty += name.startswith("share") and cell["text"] == ""
    assert empty


@pytest.mark.parametrize("seed", range(5))
def test_a_sentence_writes_a_mean_as_the_table_does(seed: int) -> None:
    plan, result = released(seed)
    shown = page(plan, result)
    [section], [finding] = shown["columns"], shown["finding"]
    means = [row["cells"][2] for row in section["rows"]]
    assert finding["mean"] in [mean["text"] for mean in means]
    named = [end["mean"] for end in finding.values() if isinstance(end, dict)]
    assert set(named) <= {mean["text"] for mean in means}


@pytest.mark.parametrize("seed", range(5))
def test_what_is_said_of_a_share_is_what_its_interval_says(seed: int) -> None:
    """Everybody's value lies at the upper bound: then few can lie at the lower one, as the mean says."""
    plan, result = released(seed, Fraction(1, 2))
    [section], [own] = page(plan, result)["columns"], result.groups
    seen = []
    for row, group in zip(section["rows"][1:], range(len(SIZES)), strict=True):
        for cell, share in zip(row["cells"][-2:], (own.at_lower, own.at_upper), strict=True):
            low, high, text = share.lower[group], share.upper[group], cell["text"]
            numbers = [float(number) for number in re.findall("[0-9.]+", text)]
            if np.isnan(low) or (low < 0.01 and high > 0.99):
                assert text == ""
            elif low <= 0:
                assert numbers[0] == 0 and 0 <= numbers[1] - 100 * high <= 1
            elif high >= 1:
                assert numbers[1] == 100 and 0 <= 100 * low - numbers[0] <= 1
            seen.append(text)
    (least, most), (low, high) = (map(float, re.findall("[0-9.]+", text)) for text in seen[:2])
    assert least == 0 and most < 5 and low > 10 and high == 100


@pytest.mark.slow
@pytest.mark.parametrize("loss", [Fraction(1, 5), Fraction(1, 40)], ids=str)
def test_a_share_at_a_bound_lies_in_its_interval(loss: Fraction) -> None:
    """Groups of 700 and of 40 people who are all at the upper bound, 500 times."""
    missed, known = np.zeros(2), np.zeros(2)
    for seed in range(500):
        [own] = released(seed, loss)[1].groups
        for share, truth in ((own.at_lower, 0.0), (own.at_upper, 1.0)):
            missed += ((share.lower > truth + 1e-9) | (share.upper < truth - 1e-9))[:2]
        known += ~np.isnan(own.at_lower.lower[:2])
    assert (missed <= 1000 * 0.05 + 3 * math.sqrt(1000 * 0.05)).all() and known.all()


@pytest.mark.parametrize("seed", range(5))
def test_no_mean_lies_beyond_the_bounds(seed: int) -> None:
    """Values are rounded down to steps of 10, and none is counted beyond the last."""
    _plan, result = released(seed)
    for estimates in (*result.groups, *result.together):
        assert not (estimates.mean.upper > TOP).any() and not (estimates.mean.lower < 0).any()


def test_a_group_that_may_have_nobody_may_have_a_total_of_nothing() -> None:
    seen = 0
    for seed in range(60):
        [estimates] = released(seed, Fraction(1, 5))[1].groups
        assert estimates.total is not None
        empty = estimates.number.lower <= 0
        assert (estimates.total.lower[empty] <= 0).all() and (estimates.total.upper[empty] >= 0).all()
        seen += empty.sum()
    assert seen


def test_a_column_is_called_as_in_the_title_and_whole_numbers_are_not_said_to_be_rounded() -> None:
    """“Jahresnote: Deutsch”, of two header lines, is that in the title, and so in sentence, heading and chart."""
    columns = [
        MeasuredColumn.of(Integer(name, lower=0, upper=10), Fraction(1))
        for name in ("Jahresnote: Deutsch", "Jahresnote: Mathematik")
    ]
    plan = BernsteinSums().plan(Domain(()), columns, 1, Loss(Definition.PURE, Fraction(5)), 100)
    exact = exact_sums(plan, np.array([[[100, 500, 3000, 0, 0, 0]]] * 2, dtype=object))
    shown = page(plan, GroupMeans.of(plan, exact))
    assert [found["column"] for found in shown["finding"]] == [
        "Jahresnote: Deutsch",
        "Jahresnote: Mathematik",
    ]
    assert [section["name"] for section in shown["columns"]] == [
        "Jahresnote: Deutsch",
        "Jahresnote: Mathematik",
    ]
    assert all(section["is_exact"] for section in shown["columns"])
