"""Charts of answers: what they show, how much of it, and nothing true without being asked."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from dpportal.charts.queries import (
    MAX_ERROR_BARS,
    MAX_PICTURE,
    MAX_POINTS,
    answers_figure,
    comparison_figure,
    lengths_figure,
    lengths_map,
    matrix_figure,
    picture,
    shown_queries,
    tables_figure,
)
from dpportal.charts.style import Figure

MANY = 50_000


def numbers(figure: Figure) -> int:
    """How many numbers a figure carries."""

    def count(value: Any) -> int:
        if isinstance(value, dict):
            return sum(map(count, value.values()))
        if isinstance(value, list | tuple):
            return sum(map(count, value))
        return isinstance(value, int | float)

    return count(figure.json["data"])


def trace(figure: Figure, name: str) -> dict[str, Any]:
    return next(t for t in figure.json["data"] if t.get("name") == name)


def test_of_many_answers_evenly_spaced_ones_are_drawn_and_the_caption_says_so() -> None:
    places = shown_queries(MANY)
    assert places[0] == 0 and places[-1] == MANY - 1 and places.size == MAX_POINTS
    values = places.astype(float)
    figure = answers_figure([str(i) for i in places], values, np.ones(values.size), places, MANY)
    assert "2,000 of 50,000 answers are drawn" in figure.caption
    assert numbers(figure) < 10 * MAX_POINTS


def test_few_answers_carry_their_intervals() -> None:
    figure = answers_figure(["a", "b"], np.array([1.0, 5.0]), np.array([2.0, 3.0]), np.arange(2), 2)
    assert trace(figure, "Answer")["error_y"]["array"] == [2, 3]
    assert "drawn" not in figure.caption


def test_the_words_of_many_queries_are_at_the_pointer_and_their_numbers_on_the_axis() -> None:
    """Words below 281 answers left a phone no room for the answers."""
    labels = [f"workclass = Private, education = {i}" for i in range(281)]
    figure = answers_figure(labels, np.ones(281), np.full(281, 2.5), np.arange(281), 281)
    answers = trace(figure, "Answer")
    assert (answers["x"][0], answers["x"][-1]) == (1, 281)
    assert (answers["text"][280], answers["hovertext"][280]) == (labels[280], "2.5")
    assert answers["error_y"]["array"][0] == 2.5


def test_the_heights_of_answers_can_be_spread() -> None:
    figure = answers_figure(["a", "b"], np.array([1.0, 9000.0]), np.ones(2), np.arange(2), 2)
    assert figure.json["layout"]["meta"]["is_counts"]
    # The page puts the counts where others have their own data; this chart tells its intervals otherwise.
    assert "customdata" not in trace(figure, "Answer")


@pytest.mark.parametrize(("largest", "begins"), [(9_000.0, "root"), (90.0, None)])
def test_where_most_answers_are_small_beside_the_largest_the_axis_begins_with_roots(largest, begins) -> None:
    figure = answers_figure(["a"] * 5, np.array([1, 2, 3, 4, largest]), np.ones(5), np.arange(5), 5)
    assert figure.json["layout"]["meta"].get("begins") == begins


def test_a_chart_for_everyone_holds_nothing_true() -> None:
    figure = answers_figure(["a"], np.array([1.0]), np.array([2.0]), np.arange(1), 1)
    assert "true" not in json.dumps([t.get("name", "").lower() for t in figure.json["data"]])


@pytest.mark.parametrize("answers", [5, MAX_POINTS])
def test_errors_stand_below_the_answers_on_the_same_axis(answers: int) -> None:
    true = np.arange(answers, dtype=float)[::-1]
    released = true + np.where(np.arange(answers) % 2, 3.0, -3.0)
    figure = comparison_figure(["q"] * answers, released, np.full(answers, 4.0), true, answers)
    below = trace(figure, "Released minus true")
    assert set(below["y"]) == {3, -3} and below["x"] == sorted(below["x"])
    few = answers <= MAX_ERROR_BARS
    assert ("error_y" in below) == few
    assert any(t.get("name") == "Margin (95 %)" for t in figure.json["data"]) != few


def test_errors_by_length_and_by_sides_keep_expected_beside_observed() -> None:
    lengths, observed, expected = np.array([1, 2]), np.array([3.0, 4.0]), np.array([5.0, 6.0])
    line = lengths_figure(lengths, observed, expected, "age")
    assert trace(line, "Observed")["y"] == [3, 4] and trace(line, "Expected")["y"] == [5, 6]
    grid = lengths_map((lengths, lengths), np.eye(2), np.ones((2, 2)), ["age", "hours"])
    assert [t["z"] for t in grid.json["data"]] == [[[1, 1], [1, 1]], [[1, 0], [0, 1]]]


def test_of_many_tables_those_of_largest_error_are_drawn() -> None:
    expected = np.arange(200.0)
    figure = tables_figure([f"t{i}" for i in range(200)], expected + 1, expected)
    assert trace(figure, "Observed")["x"] == [f"t{i}" for i in range(140, 200)]
    assert "60 tables of largest expected error, of 200" in figure.caption


def test_a_large_strategy_is_drawn_by_its_largest_weights() -> None:
    """3,000 × 1,000: every mark stands for 15 × 5 weights; one of them is −7, another 9."""
    matrix = scipy.sparse.coo_array(([9.0, -7.0, 2.0], ([0, 1, 2_999], [0, 10, 999])), shape=(3_000, 1_000))
    drawn = picture(matrix)
    assert drawn.shape == (200, 200)
    assert (drawn[0, 0], drawn[0, 2], drawn[199, 199], np.count_nonzero(drawn)) == (9, -7, 2, 3)


def test_a_small_strategy_is_drawn_as_it_is() -> None:
    matrix = np.array([[1.0, 1.0], [1.0, -1.0]])
    np.testing.assert_array_equal(picture(scipy.sparse.coo_array(matrix)), matrix)
    figure = matrix_figure(scipy.sparse.coo_array(matrix), "sex")
    assert figure.title == "The strategy for sex" and "2 sums of 2 cells" in figure.caption


@pytest.mark.slow
def test_a_large_picture_stays_small() -> None:
    matrix = scipy.sparse.coo_array(np.tri(2_000))
    assert numbers(matrix_figure(matrix, "")) <= MAX_PICTURE**2 + 10


def test_labels_are_never_markup() -> None:
    figure = answers_figure(["<b>x"], np.array([1.0]), np.array([1.0]), np.arange(1), 1)
    assert "<b>x" not in json.dumps(trace(figure, "Answer")["x"])
