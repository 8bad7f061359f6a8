"""Figures are read as the browser reads them: from their JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpportal.charts.counted_word import counting_rows
from dpportal.charts.counts import (
    MAX_NUMBERS,
    counts_figure,
    cumulative_figure,
    noise_figure,
    residuals_figure,
)
from dpportal.charts.static_svg import drawing
from dpportal.charts.style import TEMPLATE
from mechanisms.domain import Categorical, Date, Domain, Integer
from mechanisms.noise import DiscreteLaplace

SEX = Categorical("sex", values=("female", "male"))  # three cells: "Other" is added
AGE = Integer("age", lower=0, upper=99, width=10)  # ten cells
MONTH = Date("admitted", step="month")  # twelve cells
RAW, COUNTS, TRUE = np.array([12, -3, 4]), np.array([12, 0, 4]), np.array([10, 1, 4])


def domain_of(*attributes: Any) -> Domain:
    return Domain(tuple(attributes))


def whole(cells: int) -> Domain:
    return domain_of(Integer("score", lower=1, upper=cells))


def leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            yield from leaves(item)
    else:
        yield value


def numbers(value: Any) -> int:
    return sum(isinstance(leaf, int | float) for leaf in leaves(value))


def traces(figure: Any, name: str) -> list[dict[str, Any]]:
    return [trace for trace in figure.json["data"] if trace.get("name") == name]


def three(**extra: Any) -> Any:
    return counts_figure(domain_of(SEX), raw=RAW, counts=COUNTS, half_width=7, **extra)


class TestBars:
    def test_show_the_raw_noisy_counts(self) -> None:
        (noisy,) = traces(three(), "Noisy count")
        assert list(noisy["y"]) == [12, -3, 4]

    def test_show_the_post_processed_counts(self) -> None:
        (synthetic,) = traces(three(), "Adjusted count")
        assert list(synthetic["y"]) == [12, 0, 4]

    def test_show_the_interval_on_the_noisy_counts_alone(self) -> None:
        figure = three(true=TRUE)
        with_interval = [trace["name"] for trace in figure.json["data"] if "error_y" in trace]
        assert with_interval == ["Noisy count"]

    def test_show_the_half_width_as_the_interval(self) -> None:
        (noisy,) = traces(three(), "Noisy count")
        assert noisy["error_y"]["value"] == 7

    def test_draw_cells_in_declared_order(self) -> None:
        (noisy,) = traces(three(), "Noisy count")
        assert list(noisy["x"]) == ["female", "male", "Other"]

    def test_keep_number_like_labels_apart_from_numbers(self) -> None:
        figure = counts_figure(domain_of(AGE), raw=np.arange(10), counts=np.arange(10), half_width=7)
        assert figure.json["layout"]["xaxis"]["type"] == "category"

    def test_name_the_unit_on_the_axis(self) -> None:
        assert three().json["layout"]["yaxis"]["title"]["text"] == "people"

    def test_are_called_as_the_release_is(self) -> None:
        assert three().title == "People by sex"
        with counting_rows(3):
            assert three().title == "Rows by sex"

    def test_refuse_counts_of_another_domain(self) -> None:
        with pytest.raises(ValueError, match="must have 3 counts, got 2"):
            counts_figure(domain_of(SEX), raw=RAW[:2], counts=COUNTS, half_width=7)


class TestTrueCounts:
    def test_appear_when_given(self) -> None:
        (true,) = traces(three(true=TRUE), "True count")
        assert list(true["y"]) == [10, 1, 4]

    @pytest.mark.parametrize("attributes", [(SEX,), (SEX, AGE), (SEX, AGE, MONTH)])
    def test_are_not_even_named_when_not_given(self, attributes: tuple[Any, ...]) -> None:
        domain = domain_of(*attributes)
        counts = np.ones(domain.size, dtype=int)
        figure = counts_figure(domain, raw=counts, counts=counts, half_width=7)
        assert "true count" not in json.dumps(figure.json).lower()

    def test_are_not_named_in_a_cumulative_figure_without_them(self) -> None:
        figure = cumulative_figure(domain_of(AGE), "age", raw=np.arange(10), counts=np.arange(10))
        assert "true count" not in json.dumps(figure.json).lower()


class TestSteps:
    def test_replace_bars_above_150_cells(self) -> None:
        counts = np.arange(151)
        figure = counts_figure(whole(151), raw=counts, counts=counts, half_width=7)
        assert {trace["type"] for trace in figure.json["data"]} == {"scatter"}

    def test_have_a_band_of_the_interval(self) -> None:
        counts = np.arange(151)
        figure = counts_figure(whole(151), raw=counts, counts=counts, half_width=7)
        (upper,) = traces(figure, "Margin (95 %)")
        assert list(upper["y"])[:3] == [7, 8, 9]

    def test_sum_neighbouring_cells_where_there_are_too_many(self) -> None:
        counts = np.ones(16_000, dtype=int)
        figure = counts_figure(whole(16_000), raw=counts, counts=counts, half_width=7)
        (noisy,) = traces(figure, "Noisy count")
        assert set(noisy["y"]) == {4}

    def test_have_no_band_where_cells_are_summed(self) -> None:
        counts = np.ones(16_000, dtype=int)
        figure = counts_figure(whole(16_000), raw=counts, counts=counts, half_width=7)
        assert not traces(figure, "Margin (95 %)")

    def test_say_how_many_cells_are_summed(self) -> None:
        counts = np.ones(16_000, dtype=int)
        figure = counts_figure(whole(16_000), raw=counts, counts=counts, half_width=7)
        assert "Each step sums 4 neighbouring cells of score." in figure.caption


class TestHeatMaps:
    def test_lay_the_first_column_down_and_the_second_across(self) -> None:
        counts = np.arange(30)
        figure = counts_figure(domain_of(SEX, AGE), raw=counts, counts=counts, half_width=7)
        (noisy,) = traces(figure, "Noisy count")
        assert list(noisy["z"][1]) == list(range(10, 20))

    def test_share_one_colour_scale(self) -> None:
        counts = np.arange(30)
        figure = counts_figure(domain_of(SEX, AGE), raw=counts, counts=counts, half_width=7, true=counts)
        assert {trace["coloraxis"] for trace in figure.json["data"]} == {"coloraxis"}

    def test_end_the_scale_at_the_largest_count_of_all_panels(self) -> None:
        counts = np.arange(30)
        figure = counts_figure(domain_of(SEX, AGE), raw=counts + 5, counts=counts, half_width=7)
        assert figure.json["layout"]["coloraxis"]["cmax"] == 34

    def test_stand_side_by_side_for_true_noisy_and_post_processed(self) -> None:
        counts = np.arange(30)
        figure = counts_figure(domain_of(SEX, AGE), raw=counts, counts=counts, half_width=7, true=counts)
        names = [trace["name"] for trace in figure.json["data"]]
        assert names == ["True count", "Noisy count", "Adjusted count"]

    def test_of_a_third_column_have_a_panel_for_each_of_its_cells(self) -> None:
        counts = np.arange(360)
        figure = counts_figure(domain_of(SEX, AGE, MONTH), raw=counts, counts=counts, half_width=7)
        first_rows = [list(trace["z"][0]) for trace in traces(figure, "Noisy count")]
        assert first_rows == [[*range(12)], [*range(120, 132)], [*range(240, 252)]]

    def test_sum_over_a_column_with_too_many_cells_for_panels(self) -> None:
        grade = Integer("grade", lower=1, upper=9)
        domain = domain_of(grade, AGE, MONTH)
        counts = np.ones(domain.size, dtype=int)
        figure = counts_figure(domain, raw=counts, counts=counts, half_width=7)
        (noisy,) = traces(figure, "Noisy count")
        assert set(leaves(list(noisy["z"]))) == {9}

    def test_say_which_column_is_summed_over(self) -> None:
        grade = Integer("grade", lower=1, upper=9)
        domain = domain_of(grade, AGE, MONTH)
        counts = np.ones(domain.size, dtype=int)
        figure = counts_figure(domain, raw=counts, counts=counts, half_width=7)
        assert "Summed over grade." in figure.caption

    def test_promise_no_interval_for_sums(self) -> None:
        grade = Integer("grade", lower=1, upper=9)
        domain = domain_of(grade, AGE, MONTH)
        counts = np.ones(domain.size, dtype=int)
        figure = counts_figure(domain, raw=counts, counts=counts, half_width=7)
        assert "±" not in json.dumps(figure.json, ensure_ascii=False) + figure.caption


@pytest.mark.slow
@pytest.mark.parametrize(
    "shape", [(100,), (4_000,), (1_000_000,), (1_000, 1_000), (3, 300, 900), (2, 4, 500, 700)]
)
def test_no_figure_carries_more_than_the_limit(shape: tuple[int, ...]) -> None:
    domain = domain_of(*(Integer(f"c{i}", lower=1, upper=n) for i, n in enumerate(shape)))
    counts = np.ones(domain.size, dtype=np.int64)
    figure = counts_figure(domain, raw=counts, counts=counts, half_width=7, true=counts)
    assert numbers(figure.json["data"]) <= MAX_NUMBERS + 100  # a hundred for widths of lines and the like


def test_summing_for_a_chart_loses_nobody() -> None:
    domain = whole(1_000_000)
    counts = np.arange(1_000_000)
    figure = counts_figure(domain, raw=counts, counts=counts, half_width=7)
    (noisy,) = traces(figure, "Noisy count")
    assert sum(noisy["y"]) == 999_999 * 1_000_000 // 2


class TestResiduals:
    def test_are_released_minus_true(self) -> None:
        figure = residuals_figure(domain_of(SEX), raw=RAW, counts=COUNTS, true=TRUE, half_width=7)
        (noisy,) = traces(figure, "Noisy count")
        assert list(noisy["y"]) == [2, -4, 0]

    def test_lie_on_a_band_of_the_half_width(self) -> None:
        figure = residuals_figure(domain_of(SEX), raw=RAW, counts=COUNTS, true=TRUE, half_width=7)
        (band,) = figure.json["layout"]["shapes"]
        assert (band["y0"], band["y1"]) == (-7, 7)

    def test_stand_on_the_axis_of_the_counts(self) -> None:
        figure = residuals_figure(domain_of(SEX), raw=RAW, counts=COUNTS, true=TRUE, half_width=7)
        (noisy,) = traces(figure, "Noisy count")
        assert list(noisy["x"]) == ["female", "male", "Other"]

    def test_of_two_columns_are_a_histogram_of_all_cells(self) -> None:
        zero = np.zeros(30, dtype=int)
        raw = zero.copy()
        raw[:4] = [1, 1, -2, 1_000]
        figure = residuals_figure(domain_of(SEX, AGE), raw=raw, counts=zero, true=zero, half_width=7)
        (noisy,) = traces(figure, "Noisy count")
        found = {x: y for x, y in zip(noisy["x"], noisy["y"], strict=True) if y}
        assert found == {-2: 1, 0: 26, 1: 2, 21: 1}  # 1,000 counts in the outermost bin, 3 × 7


class TestCumulative:
    def test_adds_up_from_the_lowest_cell(self) -> None:
        domain = domain_of(Integer("age", lower=1, upper=3))
        figure = cumulative_figure(domain, "age", raw=RAW, counts=COUNTS, true=TRUE)
        assert [list(trace["y"]) for trace in figure.json["data"]] == [
            [10, 11, 15],
            [12, 9, 13],
            [12, 12, 16],
        ]

    def test_leaves_missing_values_out(self) -> None:
        domain = domain_of(Integer("age", lower=1, upper=2, missing_cell=True))
        figure = cumulative_figure(domain, "age", raw=RAW, counts=COUNTS)
        (noisy,) = traces(figure, "Noisy count")
        assert list(noisy["y"]) == [12, 9]

    def test_sums_over_the_other_columns(self) -> None:
        domain = domain_of(Integer("age", lower=1, upper=2), SEX)
        figure = cumulative_figure(domain, "age", raw=np.arange(6), counts=np.arange(6))
        (noisy,) = traces(figure, "Noisy count")
        assert list(noisy["y"]) == [3, 15]

    def test_refuses_a_column_without_order(self) -> None:
        with pytest.raises(ValueError, match="sex has no order"):
            cumulative_figure(domain_of(SEX), "sex", raw=RAW, counts=COUNTS)


class TestNoise:
    LAW = DiscreteLaplace(Fraction(4))  # ε = 0.25; ± 12 at 95 %

    def test_is_the_interval_of_the_law(self) -> None:
        (bars,) = noise_figure(self.LAW, (10,)).json["data"]
        assert bars["error_y"]["value"] == 12

    def test_stands_on_counts_of_the_expected_size(self) -> None:
        (bars,) = noise_figure(self.LAW, (10,), people=5_000).json["data"]
        assert sum(bars["y"]) == pytest.approx(5_000, abs=5)  # ten counts, each rounded

    def test_is_the_same_each_time(self) -> None:
        assert noise_figure(self.LAW, (10,)) == noise_figure(self.LAW, (10,))

    def test_says_that_the_counts_are_made_up(self) -> None:
        assert noise_figure(self.LAW, (10,)).caption.startswith("Made-up counts, not your data")


class TestLook:
    def test_colours_are_properties_of_the_style_sheet(self) -> None:
        colours = {leaf for leaf in leaves(three(true=TRUE).json) if str(leaf).startswith(("#", "rgb"))}
        assert colours == {"rgba(0,0,0,0)"}

    def test_every_colour_property_exists(self) -> None:
        css = (Path(__file__).parents[3] / "static/css/portal.css").read_text(encoding="utf-8")
        counts = np.arange(30)
        figures = [
            three(true=TRUE),
            counts_figure(domain_of(SEX, AGE), raw=counts, counts=counts, half_width=7),
            residuals_figure(domain_of(SEX), raw=RAW, counts=COUNTS, true=TRUE, half_width=7),
        ]
        named = {leaf for figure in figures for leaf in leaves(figure.json) if str(leaf).startswith("var(")}
        assert {name for name in named if f"{name[4:-1]}:" not in css} == set()

    def test_a_label_is_never_markup(self) -> None:
        column = Categorical("<b>x</b>", values=("<script>alert(1)</script>",))
        figure = counts_figure(
            domain_of(column),
            raw=np.array([1, 2]),
            counts=np.array([1, 2]),
            half_width=7,
            true=np.array([1, 2]),
        )
        assert not [leaf for leaf in leaves(figure.json) if "<script" in str(leaf) or "<b>x" in str(leaf)]

    def test_the_figure_is_plain_json(self) -> None:
        assert json.loads(json.dumps(three().json))["layout"]["barmode"] == "group"


def test_a_cell_far_above_the_others_is_told_and_heights_may_be_spread():
    domain = Domain((Categorical("land", values=("a", "b", "c"), closed=True),))
    flat = np.array([9000, 40, -3])
    figure = counts_figure(domain, raw=flat, counts=np.maximum(flat, 0), half_width=5)
    assert figure.json["layout"]["meta"].items() >= {"is_counts": True, "is_ordered": False}.items()
    assert "One cell stands far above" in figure.caption
    alike = counts_figure(domain, raw=flat // flat, counts=flat // flat, half_width=5)
    assert "One cell" not in alike.caption


@pytest.mark.parametrize(("largest", "begins"), [(12_000, "root"), (60, None)])
def test_a_map_of_small_cells_beside_a_large_one_begins_with_square_roots(largest, begins) -> None:
    """In even steps eleven cells of 12 people would all be as pale as none."""
    domain = domain_of(Categorical("a", values=("x", "y", "z")), Categorical("b", values=("u", "v", "w")))
    counts = np.full(domain.size, 12)
    counts[0] = largest
    figure = counts_figure(domain, raw=counts, counts=counts, half_width=3)
    assert figure.json["layout"]["meta"].get("begins") == begins
    assert ("square roots" in figure.caption) == bool(begins)
    shades = sorted(area["opacity"] for area in drawing(figure.json)["areas"])
    assert shades[-1] == 1 and (shades[0] > 0.05 or not begins)


def test_names_lean_where_they_do_not_fit_and_all_are_there() -> None:
    """Sixteen names of a heat map are read one by one; nobody reads them upright."""
    schooling = Categorical("schooling", values=tuple(f"level {place}" for place in range(15)))
    domain = domain_of(Categorical("region", values=tuple("abcdefgh")), schooling)
    counts = np.arange(domain.size)
    layout = counts_figure(domain, raw=counts, counts=counts, half_width=3).json["layout"]
    assert 90 not in TEMPLATE.layout.xaxis.autotickangles
    assert layout["xaxis"]["nticks"] == 0
