"""Of many answers every so many are drawn; those that ask the same stand at one place."""

from __future__ import annotations

import json
import zipfile
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd

from mechanisms import registry
from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Attribute, Boolean, Categorical, Domain, Integer
from mechanisms.matrix.mechanism import QueryPlan
from mechanisms.matrix.workload.text import read_workload
from mechanisms.verify.bundle import Bundle
from mechanisms.verify.chart_answers import MOST_POINTS, maps, shown_numbers, widest
from mechanisms.verify.chart_places import uneven
from mechanisms.verify.svg_shapes import Drawing

LOSS = Loss(Definition.PURE, Fraction(1))


def plan_of(text: str, *columns: Attribute) -> QueryPlan:
    domain = Domain(columns)
    return registry.query_mechanism("identity-strategy").plan(domain, read_workload(text, domain), LOSS)


def bundle_of(folder: Path, number: int, first: float = 0) -> Bundle:
    answers = np.arange(number) + first
    table = pd.DataFrame({"answer": answers, "interval_lower": answers - 2, "interval_upper": answers + 2})
    with zipfile.ZipFile(folder / "release.zip", "w") as archive:
        archive.writestr(
            "release.json", json.dumps({"plan": {}, "files": {}, "product": "queries", "queries": number})
        )
        archive.writestr("answers.csv", table.to_csv(index=False))
    return Bundle.read(folder / "release.zip")


def test_of_many_answers_those_are_compared_that_a_chart_has_room_for(tmp_path):
    """Of a single column with 4,000 cells, whose pairs of neighbours are one part."""
    plan = plan_of('width(2, "age")', Integer("age", lower=0, upper=3999))
    answers, lower, upper = shown_numbers(bundle_of(tmp_path, plan.workload.queries), plan)
    places = np.unique(np.linspace(0, 3998, MOST_POINTS).round())
    assert np.array_equal(answers, places)
    assert np.array_equal(lower, places - 2) and np.array_equal(upper, places + 2)


def test_a_table_is_drawn_along_either_column_in_whole_numbers_with_the_widest_margin(tmp_path):
    columns = Boolean("sex"), Categorical("work", values=("a", "b", "c"), closed=True)
    plan = plan_of('marginal("sex", "work")', *columns)
    bundle = bundle_of(tmp_path, 6, 0.3)
    series = {tuple(each.tolist()) for each in shown_numbers(bundle, plan)}
    assert {(0, 1, 2), (3, 4, 5), (0, 3), (1, 4), (-2, -1, 0), (5, 6, 7)} <= series
    assert [each.tolist() for each in maps(bundle, plan)] == [[[0, 1, 2], [3, 4, 5]]]


def test_a_chart_of_answers_says_the_widest_margin_of_its_part(tmp_path):
    columns = Boolean("sex"), Categorical("work", values=("a", "b", "c"), closed=True)
    plan = plan_of('marginal("sex", "work") + marginal("sex")', *columns)
    assert list(widest(bundle_of(tmp_path, 8, 0.3), plan)) == [2, 2]


def test_running_totals_of_groups_are_drawn_one_by_one(tmp_path):
    plan = plan_of(
        'total + prefix("age") x identity("sex")', Boolean("sex"), Integer("age", lower=0, upper=2)
    )
    series = {tuple(each.tolist()) for each in shown_numbers(bundle_of(tmp_path, 7), plan)}
    assert {(1, 2, 3), (4, 5, 6), (-1, 0, 1), (6, 7, 8)} <= series


def dots(*places: tuple[float, float]) -> Drawing:
    shapes = np.array([(across, height, 4.0, 8.0) for across, height in places])
    grid = [np.array([[80.0, height], [744.0, height]]) for height in (300.0, 200.0)]
    return Drawing(grid=grid, dots=[shapes])


def test_of_more_answers_than_pixels_some_are_left_out():
    kept = np.linspace(0, 2024, 2000).round()
    places = np.column_stack([(82.8 + kept * 659.2 / 2024).round(1), 300 - kept % 7])
    assert list(uneven(dots(*map(tuple, places.tolist())))) == []
    places[1000, 0] += 3
    assert list(uneven(dots(*map(tuple, places.tolist())))) != []


def test_queries_that_ask_the_same_have_one_place():
    true = [(100.0, 90.0), (200.0, 80.0), (300.0, 70.0), (400.0, 60.0), (500.0, 50.0)]
    assert list(uneven(dots(*true, (300.0, 70.0)))) == []
    assert list(uneven(dots(*true, (310.0, 70.0)))) == ["310.0"]
    assert list(uneven(dots(*true, (300.0, 75.0)))) == ["300.0"]
