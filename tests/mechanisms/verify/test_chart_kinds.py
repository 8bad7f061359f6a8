"""Charts of several panels, groups and sides, and maps, agree as the portal draws them; what was changed is named."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from mechanisms.domain import Categorical, Domain, Integer
from mechanisms.verify import chart_panels, chart_shares
from mechanisms.verify.chart_series import ChartSeries
from mechanisms.verify.charts import compared

FLOOR, PERSON = 200.0, 10.0  # pixels: where nobody stands, and one person


def word(text: str, x: float, y: float, anchor: str = "middle") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{text}</text>'


def line(*points: float, stroke: str) -> str:
    first, second, third, fourth = points
    return f'<polyline points="{first:.1f},{second:.1f} {third:.1f},{fourth:.1f}" stroke="{stroke}" />'


def panel(left: float, heading: str, labels: tuple[str, ...], heights: tuple[int, ...], half: int = 0) -> str:
    """Bars of 20 pixels, 40 apart, on an axis from 0 to 10 people; half: of each one's whisker."""
    marks = (0, 5, 10)
    right, centres = left + 40 * len(heights), [left + 20 + 40 * place for place in range(len(heights))]
    drawn = [
        line(left, FLOOR - PERSON * mark, right, FLOOR - PERSON * mark, stroke="var(--grid)")
        for mark in marks
    ]
    drawn += [word(str(mark), left - 8, FLOOR - PERSON * mark + 4, "end") for mark in marks]
    drawn += [word(label, at, FLOOR + 15) for label, at in zip(labels, centres, strict=True)]
    tops = [FLOOR - PERSON * height for height in heights]
    bars = "".join(
        f"M{at - 10:.1f} {FLOOR}V{top:.1f}h20.0V{FLOOR}z" for at, top in zip(centres, tops, strict=True)
    )
    ends = [(at, top + PERSON * half, at, top - PERSON * half) for at, top in zip(centres, tops, strict=True)]
    drawn += [line(*each, stroke="var(--text)") for each in ends if half]
    heading = word(heading, (left + right) / 2, FLOOR - PERSON * 10 - 4)
    return f'{"".join(drawn)}<path d="{bars}" fill="red">{heading}'


def counts(**columns: object) -> ChartSeries:
    table = pd.DataFrame({name: list(map(str, values)) for name, values in columns.items()})
    return ChartSeries({"histogram": table}, {*table.to_numpy().ravel()})


PANELS = panel(100, "2", ("10–19", "20–29"), (3, 7)) + panel(300, "5", ("10–19", "20–29"), (6, 1))


@pytest.fixture
def crossed() -> ChartSeries:
    return counts(children=[2, 2, 5, 5], age=["10–19", "20–29"] * 2, noisy_count=[3, 7, 6, 1])


def test_panels_have_the_same_labels_and_each_a_name_of_its_own(crossed):
    assert compared(f"<svg>{PANELS}</svg>", crossed).strange == []
    for old, new in (
        (">5</text>", ">2</text>"),
        (">2</text>", ">4</text>"),
        (">10–19<", ">20–29<"),
        (">10–19<", ">10–18<"),
    ):
        place = PANELS.rindex(old)
        assert (
            compared(f"<svg>{PANELS[:place]}{new}{PANELS[place + len(old) :]}</svg>", crossed).strange != []
        ), new


def test_a_number_over_a_bar_is_none_of_its_labels_where_these_are_words():
    series = counts(sick=["false", "true"], noisy_count=[9, 9])
    chart = panel(100, "", ("false", "true"), (9, 9)) + word("9", 120, 106) + word("9", 160, 106)
    assert compared(f"<svg>{chart}</svg>", series).strange == []
    assert compared(f"<svg>{chart.replace('>9<', '>8<', 1)}</svg>", series).strange == ["8"]


def test_whiskers_of_two_groups_stand_in_the_middle_of_their_bars():
    first = panel(100, "", ("a", "b"), (3, 7), half=2)
    second = "M130.0 200V140.0h20.0V200zM170.0 200V190.0h20.0V200z"
    further = f'<path d="{second}" fill="blue">{line(140, 160, 140, 120, stroke="var(--text)")}'
    further += line(180, 210, 180, 170, stroke="var(--text)")
    series = counts(sex=["f", "m", "f", "m"], town=["a", "a", "b", "b"], noisy_count=[3, 6, 7, 1],
                    interval_lower=[1, 4, 5, -1], interval_upper=[5, 8, 9, 3])  # fmt: skip
    chart = f"<svg>{first}{further}</svg>"
    assert compared(chart, series).strange == []
    assert compared(chart.replace("180.0,210.0 180.0,170.0", "185.0,210.0 185.0,170.0"), series).strange != []
    assert compared(chart.replace("180.0,210.0 180.0,170.0", "180.0,210.0 180.0,160.0"), series).strange != []


def test_ends_of_an_estimate_that_is_drawn_as_a_whole_number_are_its_own():
    """Files have six digits: a margin of 98 seems to be 98.00005."""
    series = counts(
        colour=["red", "green", "blue"],
        noisy_count=[169.888, 57.1543, -29.6577],
        count=[165, 52, 0],
        interval_lower=[71.8879, -40.8457, -127.658],
        interval_upper=[267.888, 155.154, 68.3423],
    )
    match = series.match(np.array([72.0, -41.0, -128.0]), 0.1)
    assert match is not None and not match.wrong.any()


def test_a_label_with_a_share_in_brackets_is_no_level():
    series = counts(answer=["7 (8 %)", "other"], noisy_count=[3, 7])
    chart = panel(100, "", ("7 (8 %)", "other"), (3, 7))
    assert compared(f"<svg>{chart}</svg>", series).strange == []
    assert compared(f"<svg>{chart.replace('8 %', '9 %')}</svg>", series).strange != []


def test_a_label_that_a_spreadsheet_would_run_is_drawn_without_its_apostrophe():
    series = counts(value=["'-1.5 to -1", "-1 to 0"], noisy_count=[3, 7])
    assert compared(f"<svg>{panel(100, '', ('-1.5 to -1', '-1 to 0'), (3, 7))}</svg>", series).strange == []


def test_the_name_at_the_end_of_a_line_is_no_number_of_a_shape():
    series = counts(children=[2, 5], noisy_count=[3, 7])
    assert (
        compared(
            f"<svg>{panel(100, '', ('x', 'y'), (3, 7))}{word('2', 190, 130, 'start')}</svg>", series
        ).strange
        == []
    )


def lying(*, half: float = 0.0) -> str:
    """Bars from a line at 200: of -4, 6 and 0 people, with whiskers."""
    marks = [line(at, 40, at, 160, stroke="var(--grid)") for at in (150, 200, 250)]
    marks += [word(str(number), 200 + 10 * number, 175) for number in (-5, 0, 5)]
    bars = "M160.0 50.0h40.0v10.0h-40.0zM200.0 80.0h60.0v10.0h-60.0zM200.0 110.0h0.0v10.0h-0.0z"
    ends = [(at - half, y, at + half, y) for at, y in ((160, 55), (260, 85), (200, 115))]
    marks += [line(*each, stroke="var(--text)") for each in ends]
    return f'<svg>{"".join(marks)}<path d="{bars}" fill="red"></svg>'


@pytest.mark.parametrize("half", [0.0, 20.0])
def test_a_bar_that_lies_to_the_left_says_its_number_there(half):
    series = counts(colour=["a", "b", "c"], noisy_count=[-4, 6, 0], count=[0, 6, 1],
                    interval_lower=[-4 - half / 10, 6 - half / 10, -half / 10],
                    interval_upper=[-4 + half / 10, 6 + half / 10, half / 10])  # fmt: skip
    assert compared(lying(half=half), series).strange == []
    assert compared(
        lying(half=half).replace("M160.0 50.0h40.0v10.0h-40.0z", "M170.0 50.0h30.0v10.0h-30.0z"), series
    ).strange


def test_an_axis_to_both_sides_has_marks_that_grow_to_both():
    """Below bars of 10 and of 15, which meet at 200."""
    marks, series = (10, 5, 0, 5, 10, 15), counts(a=["x", "y"], noisy_count=[10, 15])
    axis = "".join(word(str(mark), 100 + 50 * place, 300) for place, mark in enumerate(marks))
    bars = "".join(
        f'<path d="M{at} 50.0h{wide}v10.0h-{wide}z" fill="var(--accent)" fill-opacity="{ink}">'
        for at, wide, ink in (("100.0", "100.0", "0.35"), ("200.0", "150.0", "1"))
    )
    assert compared(f"<svg>{bars}{axis}</svg>", series).strange == []
    assert compared(f"<svg>{bars}{axis.replace('>15<', '>20<')}</svg>", series).strange != []


def mapped(cells: list[tuple[float, float, float, float]], wide: float = 10.0) -> str:
    """cells: place along, row, number of cells side by side, and opacity."""
    return "".join(
        f'<path d="M{100 + wide * at:.1f} {50 + 20 * row:.1f}h{wide * length:.1f}v20.0h-{wide * length:.1f}z" '
        f'fill="var(--accent)" fill-opacity="{ink}">'
        for at, row, length, ink in cells
    )


def test_on_a_scale_that_begins_at_nobody_what_is_below_is_nobody():
    shades = [(0, 0, 1, 0.04), (1, 0, 1, 1.0), (0, 1, 1, 0.5), (1, 1, 1, 0.04)]
    series = counts(a=["x", "x", "y", "y"], b=["p", "q", "p", "q"], noisy_count=[-7, 32, 16, -1])
    assert compared(f"<svg>{mapped(shades)}</svg>", series).strange == []
    assert compared(f"<svg>{mapped([(0, 0, 1, 0.25), *shades[1:]])}</svg>", series).strange == ["0.25"]


def test_a_map_leaves_out_what_is_missing():
    shades = [(0, 0, 1, 0.25), (1, 0, 1, 1.0), (0, 1, 1, 0.5), (1, 1, 1, 0.125)]
    series = counts(a=["x", "x", "x", "y", "y", "y", "", "", ""], b=["p", "q", ""] * 3,
                    noisy_count=[8, 32, 1, 16, 4, 0, 1, 0, 2])  # fmt: skip
    assert compared(f"<svg>{mapped(shades)}</svg>", series).strange == []
    assert compared(f"<svg>{mapped([*shades[:3], (1, 1, 1, 0.75)])}</svg>", series).strange == ["0.75"]


def test_cells_of_a_map_that_stand_together_are_on_the_grid_of_its_values():
    """Of seven values the narrowest shape has two, and another one three."""
    shades = [(0, 0, 2, 0.5), (2, 0, 2, 0.25), (4, 0, 3, 1.0), (0, 1, 4, 0.5), (4, 1, 3, 0.25)]
    series = counts(a=[str(place) for place in range(7)], noisy_count=[1] * 7)
    assert compared(f"<svg>{mapped(shades)}</svg>", series).strange == []
    assert (
        compared(f"<svg>{mapped([*shades[:2], (4.4, 0, 2.6, 1.0), *shades[3:]])}</svg>", series).strange != []
    )


def test_rows_of_a_map_are_apart_by_more_than_their_written_height():
    """A height of 2.05 pixels is written as 2.0."""
    cells = "".join(f"M100.0 {44 + 2.05 * row:.1f}h10.0v2.0h-10.0z" for row in range(140))
    chart = f'<svg><path d="{cells}" fill="var(--accent)" fill-opacity="1.0"></svg>'
    assert compared(chart, counts(a=["x"], noisy_count=[1])).strange == []
    assert (
        compared(chart.replace("M100.0 64.5", "M100.0 65.5"), counts(a=["x"], noisy_count=[1])).strange != []
    )


def test_a_small_picture_shows_nothing_of_what_is_below_nobody():
    heights = (12, 0, 42, 28)
    bars = "".join(
        f"M{10 + 9 * place}.0 76.0V{76 - height}.0h8.0V76.0z" for place, height in enumerate(heights)
    )
    series = counts(value=["a", "b", "c", "d"], noisy_count=[12, -30, 42, 28])
    assert compared(f'<svg><path d="{bars}"></svg>', series).strange == []
    assert compared(f'<svg><path d="{bars.replace("V64.0", "V54.0")}"></svg>', series).strange != []


def test_lines_of_small_charts_are_those_of_one_group_and_panel():
    domain = Domain(
        (
            Integer("age", True, lower=0, upper=2),
            Categorical("town", values=("a", "b")),
            Categorical("sex", values=("f", "m")),
        )
    )
    noisy = np.arange(domain.size, dtype=float) ** 2
    box = noisy.reshape(domain.shape)
    found = {each.tobytes() for each in chart_panels.shown_numbers(domain, noisy)}
    assert box[:, 1, 0].tobytes() in found and box[:-1, 1, 0].tobytes() in found
    assert np.ascontiguousarray(box[:-1, 1, 0][::-1]).tobytes() not in found
    assert list(chart_panels.shown_numbers(Domain(domain.attributes[:2]), noisy[:12])) == []


def test_of_four_columns_one_is_added_up():
    domain = Domain(tuple(Integer(name, lower=0, upper=1) for name in "abcd"))
    noisy = np.arange(16.0) ** 2
    found = {each.tobytes() for each in chart_panels.shown_numbers(domain, noisy)}
    assert noisy.reshape(2, 2, 2, 2).sum(axis=3)[:, 1, 0].tobytes() in found


def test_shares_of_a_column_are_those_of_one_group_with_what_is_missing():
    lines = [("share", "f", "0.25"), ("share", "m", "0.5"), ("missing", "", "0.125")]
    table = pd.DataFrame(
        [("town", name, value, "everybody", "", "", share, share, share) for name, value, share in lines],
        columns=[
            "column",
            "statistic",
            "value",
            "whose",
            "group",
            "reference",
            "estimate",
            "interval_lower",
            "interval_upper",
        ],
    )
    found = [each.tolist() for each in chart_shares.shown_numbers(table)]
    assert [25.0, 50.0, 12.5] in found and [25.0, 50.0] in found
