"""Charts of a bundle: whether their shapes stand where the numbers of the released tables are on the chart's own axis.

The marks of an axis say which number is at which pixel. So each height, end of a bar or of an interval is turned back
into a number, to a tenth of a pixel, and has to be that of one column of a CSV table, in the order of its lines where
the shape has all of them. Along the other axis the shapes of one series are apart evenly. A word with a number is a
mark of an axis, a label of the bundle, or the number of a shape.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mechanisms.verify import chart_axes, chart_maps, chart_marks, chart_names, chart_places, chart_words
from mechanisms.verify.chart_marks import PIXEL
from mechanisms.verify.chart_series import SHARE, ChartSeries, MatchedSeries
from mechanisms.verify.shown_numbers import step_of, value_of
from mechanisms.verify.svg_shapes import WORD_OF_NUMBER, Drawing, Word, read

_SVG = re.compile(r"<svg\b.*?</svg>", re.DOTALL)
_NEAR = 1.1
# Of a number's last digit; files have fewer digits than what a chart rounds.
_HALF = 0.501
_LEVEL = re.compile(r"\(([0-9]+) ?%\)|（([0-9]+)%）")
# Words stand so far from what they name: marks beside an axis, below and beside it.
_DOWN, _SIDE, _BELOW = 4.0, 8.0, 15.0


@dataclass(frozen=True)
class Scale:
    """An axis: number = begin + slope * pixel. vertical: whether along the height. marks: pixels of the outer ones."""

    begin: float
    slope: float
    vertical: bool
    marks: tuple[float, float]

    def numbers(self, pixels: np.ndarray) -> np.ndarray:
        return self.begin + self.slope * pixels

    def tolerance(self, pixels: np.ndarray) -> np.ndarray:
        """How exactly places tell numbers; beyond the marks tenths of a pixel of these matter more."""
        low, high = self.marks
        beyond = np.maximum(np.maximum(low - pixels, pixels - high), 0) / (high - low)
        return np.asarray(PIXEL * (1 + beyond) * abs(self.slope) + 1e-9)


@dataclass
class ComparedCharts:
    """How many numbers of shapes were compared, and what is not as it should be."""

    numbers: int
    strange: list[str]

    def add(self, match: MatchedSeries | None, names: Sequence[str]) -> None:
        """match: the series that a shape shows; None where it shows none."""
        if match is not None:
            self.numbers += len(names)
            self.strange += [name for name, is_wrong in zip(names, match.wrong, strict=True) if is_wrong]


def compared(text: str, series: ChartSeries, *, in_page: bool = False) -> ComparedCharts:
    """All drawings of a text. in_page: where they have no titles of their own."""
    comparison = ComparedCharts(0, [])
    for match in _SVG.finditer(text):
        drawing = read(match[0])
        comparison.strange += [word.text[:20] for word in drawing.titles] if in_page else []
        _compare(drawing, series, comparison)
    return comparison


def _compare(drawing: Drawing, series: ChartSeries, compared: ComparedCharts) -> None:
    compared.strange += drawing.unread
    marks: set[int] = set()
    panels = list(_panels(drawing))
    scales = [(grid, _scale(grid, drawing.words, marks, compared)) for grid in panels]
    shown = list(_valued(drawing, [(grid, scale) for grid, scale in scales if scale is not None]))
    for shape in shown:
        shape.match = series.match(shape.values, shape.tolerance)
        compared.add(shape.match, shape.names)
    for heights in _without_axis(drawing) if not panels else ():
        tallest = heights.max() or 1.0
        match = series.match(heights / tallest, 2 * PIXEL / tallest, scaled=True)
        compared.add(match, [f"{height:.1f}" for height in heights])
    count, shades = chart_maps.strange(drawing.shades, series, on_axis=bool(panels))
    compared.numbers += count
    compared.strange += [
        *shades,
        *chart_places.uneven(drawing, series.sizes),
        *_strange_words(drawing, marks, panels, series, shown),
        *chart_words.strange_turned(drawing.turned, series),
        *chart_words.joined(drawing.titles),
        *chart_words.joined(drawing.turned),
        *chart_words.joined(_placed_by_nothing(drawing, marks, panels, shown)),
    ]


def _placed_by_nothing(
    drawing: Drawing, marks: set[int], panels: Sequence[np.ndarray], shown: Sequence[ShapeNumbers]
) -> list[Word]:
    """Words that are no mark of a line of the grid, no heading of a panel, and no number of a shape."""
    upright = [grid for grid in panels if grid[0][1] == grid[0][3]]
    return [
        word
        for place, word in enumerate(drawing.words)
        if place not in marks and not _is_heading(word, upright) and not _is_number_of_shape(word, shown)
    ]


def _panels(drawing: Drawing) -> Iterator[np.ndarray]:
    """Lines of a grid that belong together, by their ends: (n, 4). They run on in one direction."""
    lines = [line.ravel() for line in drawing.grid if line.shape == (2, 2)]
    panel: list[np.ndarray] = []
    for line in lines:
        if panel and not _goes_on(panel, line):
            yield np.array(panel)
            panel = []
        panel.append(line)
    if panel:
        yield np.array(panel)


def _goes_on(panel: Sequence[np.ndarray], line: np.ndarray) -> bool:
    last = panel[-1]
    if line[1] == line[3]:
        return bool(last[1] == last[3] and last[0] == line[0] and last[2] == line[2] and line[1] < last[1])
    return bool(last[0] == last[2] and last[1] == line[1] and last[3] == line[3] and line[0] > last[0])


def _scale(
    grid: np.ndarray, words: Sequence[Word], marks: set[int], compared: ComparedCharts
) -> Scale | None:
    """What its marks say, all of which have to agree; None where they are not shown."""
    vertical = bool(grid[0][1] == grid[0][3])
    pixels, numbers = [], []
    for begin, top, _end, floor in grid:
        for place, word in enumerate(words):
            label_place = (
                (begin - _SIDE, top + _DOWN, "end") if vertical else (begin, floor + _BELOW, "middle")
            )
            near = abs(word.x - label_place[0]) < _NEAR and abs(word.y - label_place[1]) < _NEAR
            if near and word.anchor == label_place[2] and WORD_OF_NUMBER.fullmatch(word.text):
                marks.add(place)
                pixels.append(top if vertical else begin)
                numbers.append(value_of(word.text))
    slope = chart_marks.slope_of(np.array(pixels), np.array(numbers)) if len(numbers) > 1 else 0.0
    if not slope:
        return None
    begins = np.array(numbers) - slope * np.array(pixels)
    scale = Scale(float(np.median(begins)), slope, vertical, (min(pixels), max(pixels)))
    wrong = np.abs(begins - scale.begin) > 2 * scale.tolerance(np.array(pixels))
    compared.strange += [f"{numbers[place]:g}" for place in np.flatnonzero(wrong)]
    compared.numbers += len(numbers)
    return scale


@dataclass
class ShapeNumbers:
    """The numbers of a shape, where its points are along the other axis, and how they are written.

    tolerance: how exactly each number is told.
    is_numbered: whether words may say its numbers, which stand over bars and dots.
    """

    values: np.ndarray
    places: np.ndarray
    names: list[str]
    tolerance: np.ndarray
    vertical: bool
    is_numbered: bool
    match: MatchedSeries | None = None

    def may_be(self, place: int, number: str) -> bool:
        """Whether the number is that of the shape at this place: of its series, or as its height tells it."""
        value, half = float(self.values[place]), _HALF * step_of(number)
        tolerance = float(self.tolerance[place])
        if self.match is None:
            return abs(value - value_of(number)) <= half + tolerance
        known = self.match.at(place, value, tolerance)
        return bool((np.abs(known - value_of(number)) <= half).any())


def _valued(drawing: Drawing, scales: Sequence[tuple[np.ndarray, Scale]]) -> Iterator[ShapeNumbers]:
    """The numbers of each shape that is on an axis."""
    numbered = drawing.bars or drawing.dots or drawing.rectangles
    for places, is_numbered in _shapes(drawing):
        own = [scale for grid, scale in scales if _is_in(places, grid, scale)]
        if own:
            side = 1 if own[0].vertical else 0
            pixels = places[:, side]
            names = [f"{pixel:.1f}" for pixel in pixels]
            numbers = own[0].numbers(pixels)
            yield ShapeNumbers(
                numbers,
                places[:, 1 - side],
                names,
                own[0].tolerance(pixels),
                own[0].vertical,
                is_numbered or not numbered,
            )


def _shapes(drawing: Drawing) -> Iterator[tuple[np.ndarray, bool]]:
    """Points (n, 2) whose height, or place across, shows numbers of one series, and whether these stand over them."""
    yield from ((line, False) for line in drawing.lines)
    for band in drawing.bands:
        half = len(band) // 2
        yield from ((band[:half], False), (band[half:][::-1], False))
    if drawing.whiskers:
        ends = np.array([line for line in drawing.whiskers if line.shape == (2, 2)])
        yield from ((own[:, side], False) for own in _of_each(ends, drawing) for side in (0, 1))
    for dots in drawing.dots:
        yield dots[:, :2] + np.array([1.0, 0.0]) * dots[:, 2:3], True
    for bars in drawing.bars:
        yield np.column_stack([bars[:, 0] + bars[:, 3] / 2, bars[:, 2]]), True
    for cells in drawing.rectangles:
        yield np.column_stack([_far_ends(cells), cells[:, 1] + cells[:, 3] / 2]), True


def _of_each(ends: np.ndarray, drawing: Drawing) -> list[np.ndarray]:
    """Whiskers of each series of bars or dots, one after the other; all together where they are not as many."""
    sizes = [len(series) for series in drawing.bars or drawing.rectangles or drawing.dots]
    sums = np.cumsum(sizes).tolist()
    return np.split(ends, sums[: sums.index(len(ends))]) if len(ends) in sums else [ends]


def _far_ends(bars: np.ndarray) -> np.ndarray:
    """Of bars that lie the ends away from the line on which all of them begin."""
    left, right = bars[:, 0], bars[:, 0] + bars[:, 2]
    places, numbers = np.unique(np.concatenate([left, right]).round(1), return_counts=True)
    line = places[numbers.argmax()]
    return np.where(np.abs(right - line) < PIXEL, left, right)


def _is_in(places: np.ndarray, grid: np.ndarray, scale: Scale) -> bool:
    """Whether a shape is in the panel of this grid: across it, and near it along its axis."""
    if not len(places):
        return False
    low, high = (0, 2) if scale.vertical else (1, 3)
    across, along = places[:, 0 if scale.vertical else 1], places[:, 1 if scale.vertical else 0]
    ends = grid[:, 1 if scale.vertical else 0]
    room = 0.6 * (ends.max() - ends.min()) + 1
    inside = (across >= grid[0][low] - 1) & (across <= grid[0][high] + 1)
    return bool(np.median(inside) and ends.min() - room <= np.median(along) <= ends.max() + room)


def _without_axis(drawing: Drawing) -> Iterator[np.ndarray]:
    """Heights of small pictures."""
    for bars in drawing.bars:
        yield bars[:, 1] - bars[:, 2]
    for outline in drawing.outlines:
        yield outline[0, 1] - outline[1:-1:2, 1]


def _strange_words(
    drawing: Drawing,
    marks: set[int],
    panels: Sequence[np.ndarray],
    series: ChartSeries,
    shown: Sequence[ShapeNumbers],
) -> Iterator[str]:
    """Words with numbers that are no mark of an axis, no label, and no number of a shape."""
    upright = [grid for grid in panels if grid[0][1] == grid[0][3]]
    headings = [word.text for word in drawing.words if len(upright) > 1 and _is_heading(word, upright)]
    yield from (text for text in headings if text not in series.labels or headings.count(text) > 1)
    others = [
        word
        for place, word in enumerate(drawing.words)
        if place not in marks
        and not (len(upright) > 1 and _is_heading(word, upright))
        and not chart_axes.is_heading_of_sides(word, drawing, series)
    ]
    for row, across in _rows(others, upright):
        if not panels and drawing.rectangles and chart_marks.are_first_places(row, across):
            continue
        if len(row) >= 3 and across != "over" and all(WORD_OF_NUMBER.fullmatch(word.text) for word in row):
            named = _strange_names(row, drawing.words, shown, series) if across == "y" else None
            yield from (
                chart_axes.off_axis(row, across, drawing, panels, series, shown) if named is None else named
            )
            continue
        words = [word.text for word in row if word.text not in series.labels]
        yield from (text for text in words if "95" not in (_levels(text) or ["95"]))
        is_over = across == "over"
        strange = [word.text for word in row if not _is_known(word, series, shown, is_over)]
        if strange and across == "x" and chart_axes.are_on_axis(row, series, shown):
            continue
        # Words of a calendar, or of another language, are in no table.
        if len(strange) <= SHARE * len(row) or WORD_OF_NUMBER.fullmatch(row[0].text):
            yield from strange
        # Two shapes of one size have the same number over them; two of one label there are not.
        texts = [word.text for word in row if not (is_over and WORD_OF_NUMBER.fullmatch(word.text))]
        yield from (text for text in dict.fromkeys(texts) if texts.count(text) > 1 and text in series.labels)


def _strange_names(
    row: Sequence[Word], words: Sequence[Word], shown: Sequence[ShapeNumbers], series: ChartSeries
) -> list[str] | None:
    """Names beside shapes that lie: those of other lines, and twice the same; None where they are marks."""
    column = [word for word in words if word.anchor == "end" and word.x == row[0].x]
    names = [word.text for word in row]
    wrong = chart_names.of_other_lines(names, column, [s for s in shown if not s.vertical], series)
    return (
        None if wrong is None else [*wrong, *(name for name in dict.fromkeys(names) if names.count(name) > 1)]
    )


def _is_heading(word: Word, panels: Sequence[np.ndarray]) -> bool:
    """Whether it stands over the middle of a panel, as the name of one of several does."""
    return word.anchor == "middle" and any(
        abs(word.x - (grid[0, 0] + grid[0, 2]) / 2) < _NEAR and abs(word.y - grid[:, 1].min() + _DOWN) < _NEAR
        for grid in panels
    )


def _rows(words: Sequence[Word], panels: Sequence[np.ndarray]) -> Iterator[tuple[list[Word], str]]:
    """Words with numbers in a row below the shapes of a panel, in a column beside them, or each over its shape."""
    columns: dict[float, list[Word]] = {}
    rows: dict[tuple[float, float], list[Word]] = {}
    for word in words:
        if word.anchor == "end":
            columns.setdefault(word.x, []).append(word)
        else:
            rows.setdefault((word.y, _left_of(word, panels)), []).append(word)
    lowest = max((height for height, _left in rows), default=0.0)
    if len(panels) == 1:  # words below it may be turned, so that none of them is in a row
        lowest = max(lowest, float(panels[0][:, 1].max()))
    columns_by_axis = [(column, "y") for column in columns.values()]
    below = [
        (row, "x" if height == lowest or len(panels) > 1 else "over") for (height, _left), row in rows.items()
    ]
    for every, across in (*columns_by_axis, *below):
        if numbered := [word for word in every if WORD_OF_NUMBER.search(word.text)]:
            yield numbered, across


def _left_of(word: Word, panels: Sequence[np.ndarray]) -> float:
    """Where the panel begins that the word is in or below."""
    return max((float(grid[0, 0]) for grid in panels if grid[0, 0] <= word.x), default=0.0)


def _levels(text: str) -> list[str]:
    """The percentages in brackets."""
    return [level for pair in _LEVEL.findall(text) for level in pair if level]


def _is_known(word: Word, series: ChartSeries, shown: Sequence[ShapeNumbers], is_over: bool) -> bool:
    """Whether a word is a label of the bundle, cut or not, or the number of the shape that it stands at.

    is_over: whether it stands over a shape, where a number is no label.
    """
    # What begins beside the end of a line is its name.
    is_number = is_over and word.anchor != "start" and WORD_OF_NUMBER.fullmatch(word.text)
    is_label = word.text in series.labels and not is_number
    if is_label or not WORD_OF_NUMBER.search(_LEVEL.sub("", word.text)):
        return True
    if chart_names.is_cut(word.text, series.labels):
        return True
    return _is_number_of_shape(word, shown)


def _is_number_of_shape(word: Word, shown: Sequence[ShapeNumbers]) -> bool:
    if not WORD_OF_NUMBER.fullmatch(word.text):
        return False
    return any(
        each.may_be(place, word.text)
        for each in shown
        if each.is_numbered
        for place, at in enumerate(each.places)
        if abs(at - (word.x if each.vertical else word.y - _DOWN)) < 2 * _NEAR
    )
