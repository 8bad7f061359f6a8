"""Charts of a bundle: whether their shapes stand where the numbers of the released tables are on the chart's own axis.

The marks of an axis say which number is at which pixel. So each height, end of a bar or of an interval is turned back into
a number, to a tenth of a pixel, and has to be that of one column of a CSV table, in the order of its lines where the shape
has all of them. Along the other axis shapes of one series are apart evenly. A word with a number is a mark of an axis, a
label of the bundle, or the number of a shape.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from mechanisms.tabular.equal_steps import steps_of_equal_width
from mechanisms.verify.shown_numbers import step_of, value_of
from mechanisms.verify.svg_shapes import Drawing, Word, read

_SVG = re.compile(r"<svg\b.*?</svg>", re.DOTALL)
_NUMBER = re.compile("[-\u2212]?[0-9][0-9,\u202f]*(?:\\.[0-9]+)?")
# A place is written to a tenth of a pixel; two of them tell a distance.
_PIXEL, _DISTANCE, _NEAR = 0.12, 0.16, 0.6
# Words stand so far from what they name: marks beside an axis, below and beside it.
_DOWN, _BESIDE, _BELOW = 4.0, 8.0, 15.0
# Of a series' numbers so many at most are not of the table that it is compared with.
_SHARE = 0.5


@dataclass(frozen=True)
class Scale:
    """An axis: number = begin + slope * pixel. vertical: whether along the height."""

    begin: float
    slope: float
    vertical: bool

    def numbers(self, pixels: np.ndarray) -> np.ndarray:
        return self.begin + self.slope * pixels

    @property
    def tolerance(self) -> float:
        """How exactly a place tells a number."""
        return _PIXEL * abs(self.slope) + 1e-9


@dataclass
class ComparedCharts:
    """How many numbers of shapes were compared, and what is not as it should be."""

    numbers: int
    strange: list[str]


class Series:
    """What a series of a chart may show: columns of the tables, of all lines and of those with one label."""

    def __init__(self, tables: Mapping[str, pd.DataFrame], labels: set[str]) -> None:
        self.labels = labels
        self.every = [each for table in tables.values() for each in _series(table)]
        if "density" in tables:
            self.every += list(_steps(tables["density"]))

    def strange(self, values: np.ndarray, tolerance: float, *, scaled: bool = False) -> np.ndarray | None:
        """Which of a shape's numbers are not of the series that it shows; None where it shows none of them.

        scaled: whether only the sizes beside the largest are known.
        """
        found = [_wrong(values, own / (own.max() or 1.0) if scaled else own, tolerance) for own in self.every]
        best = min(found, key=np.sum, default=None)
        return None if best is None or best.sum() > _SHARE * len(values) else best


def _series(table: pd.DataFrame) -> Iterator[np.ndarray]:
    numbers = {name: pd.to_numeric(table[name], errors="coerce").to_numpy(float) for name in table.columns}
    own = {name: column for name, column in numbers.items() if np.isfinite(column).any()}
    words = [name for name in table.columns if name not in own]
    chosen = [np.ones(len(table), bool)]
    for name in words:
        texts = table[name].to_numpy()
        chosen += [texts == text for text in list(dict.fromkeys(texts))[:64]]
    for column in (*own.values(), *_whole(own)):
        for lines in chosen:
            known = column[lines & np.isfinite(column)]
            if len(known):
                yield from (known, 100 * known)


def _whole(columns: Mapping[str, np.ndarray]) -> Iterator[np.ndarray]:
    """Estimates of people as whole numbers, with the widest margin, which some charts give to all."""
    names = list(columns)
    for place, name in enumerate(names):
        upper = f"{name.removesuffix('lower')}upper"
        if name.endswith("lower") and upper in columns:
            reach = np.ceil(np.nanmax(columns[upper] - columns[name]) / 2)
            for each in names[max(0, place - 3) : place]:
                rounded = np.round(columns[each])
                yield from (rounded, rounded - reach, rounded + reach)


def _steps(density: pd.DataFrame) -> Iterator[np.ndarray]:
    """Shares in percent of steps of equal width."""
    numbers = density.assign(
        **{name: pd.to_numeric(density[name], errors="coerce") for name in ("first", "last", "share")}
    )
    for _name, own in numbers.groupby(["column", "whose", "group"], sort=False):
        first, last = own["first"].to_numpy(float), own["last"].to_numpy(float)
        whole = len(first) > 1 and first[1] - last[0] == 1
        if np.isfinite(first).all() and len(first):
            edges = np.append(first, last[-1] + whole)
            shares = 100 * steps_of_equal_width(edges, own["share"].to_numpy(float))[1]
            yield from (shares, np.append(shares, shares[-1]))


def _wrong(values: np.ndarray, own: np.ndarray, tolerance: float) -> np.ndarray:
    near = tolerance + 1e-5 * np.abs(values)
    if len(own) == len(values):
        ordered = np.abs(values - own) > near
        if ordered.sum() <= _SHARE * len(values):
            return np.asarray(ordered)
    known = np.sort(own)
    place = np.clip(np.searchsorted(known, values), 1, max(1, len(known) - 1))
    closest = np.minimum(
        np.abs(values - known[place - 1]), np.abs(values - known[np.minimum(place, len(known) - 1)])
    )
    return np.asarray(closest > near)


def compared(text: str, series: Series) -> ComparedCharts:
    """All drawings of a text."""
    found = ComparedCharts(0, [])
    for match in _SVG.finditer(text):
        _compare(read(match[0]), series, found)
    return found


def _compare(drawing: Drawing, series: Series, found: ComparedCharts) -> None:
    found.strange += drawing.unread
    panels = list(_panels(drawing))
    marks: set[int] = set()
    scales: list[tuple[np.ndarray, Scale]] = []
    for grid in panels:
        scale = _scale(grid, drawing.words, marks, found)
        if scale is not None:
            scales.append((grid, scale))
    shown: list[np.ndarray] = []
    for values, scale, names in _valued(drawing, scales):
        wrong = series.strange(values, scale.tolerance)
        if wrong is not None:
            found.numbers += len(values)
            found.strange += [names[place] for place in np.flatnonzero(wrong)]
        shown.append(values)
    for heights in _without_axis(drawing) if not panels else ():
        wrong = series.strange(heights / heights.max(), 2 * _PIXEL / heights.max(), scaled=True)
        if wrong is not None:
            found.numbers += len(heights)
            found.strange += [f"{heights[place]:.1f}" for place in np.flatnonzero(wrong)]
    found.strange += list(_uneven(drawing))
    found.strange += list(_strange_words(drawing.words, marks, series, shown, scales))


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


def _scale(grid: np.ndarray, words: Sequence[Word], marks: set[int], found: ComparedCharts) -> Scale | None:
    """What its marks say, all of which have to agree; None where they are not shown."""
    vertical = bool(grid[0][1] == grid[0][3])
    pixels, numbers = [], []
    for begin, top, _end, floor in grid:
        for place, word in enumerate(words):
            beside = (begin - _BESIDE, top + _DOWN, "end") if vertical else (begin, floor + _BELOW, "middle")
            near = abs(word.x - beside[0]) < _NEAR and abs(word.y - beside[1]) < _NEAR
            if near and word.anchor == beside[2] and _NUMBER.fullmatch(word.text):
                marks.add(place)
                pixels.append(top if vertical else begin)
                numbers.append(value_of(word.text))
    slope = _slope(np.array(pixels), np.array(numbers)) if len(numbers) > 1 else 0.0
    if not slope:
        return None
    begins = np.array(numbers) - slope * np.array(pixels)
    scale = Scale(float(np.median(begins)), slope, vertical)
    wrong = np.abs(begins - scale.begin) > 2 * scale.tolerance
    found.strange += [f"{numbers[place]:g}" for place in np.flatnonzero(wrong)]
    found.numbers += len(numbers)
    return scale


def _slope(pixels: np.ndarray, numbers: np.ndarray) -> float:
    """What most pairs say that are far apart, so that tenths of a pixel matter least."""
    first, second = np.triu_indices(len(pixels), 1)
    apart = np.abs(pixels[first] - pixels[second])
    far = apart >= max(0.5 * apart.max(), 1.0)
    rises = (numbers[first] - numbers[second])[far] / (pixels[first] - pixels[second])[far]
    return float(np.median(rises)) if far.any() else 0.0


def _valued(
    drawing: Drawing, scales: Sequence[tuple[np.ndarray, Scale]]
) -> Iterator[tuple[np.ndarray, Scale, list[str]]]:
    """The numbers of each shape, with the axis that says them, and how they are written."""
    for places in _shapes(drawing):
        own = [scale for grid, scale in scales if _is_in(places, grid, scale)]
        if own:
            pixels = places[:, 1 if own[0].vertical else 0]
            yield own[0].numbers(pixels), own[0], [f"{pixel:.1f}" for pixel in pixels]


def _shapes(drawing: Drawing) -> Iterator[np.ndarray]:
    """Points (n, 2) whose height, or place across, shows numbers of one series."""
    yield from drawing.lines
    for band in drawing.bands:
        half = len(band) // 2
        yield band[:half]
        yield band[half:][::-1]
    if drawing.whiskers:
        ends = np.array([line for line in drawing.whiskers if line.shape == (2, 2)])
        yield from (ends[:, 0], ends[:, 1])
    for dots in drawing.dots:
        yield dots[:, :2] + np.array([1.0, 0.0]) * dots[:, 2:3]
    for bars in drawing.bars:
        yield bars[:, [0, 2]]
    for cells in drawing.rectangles:
        yield np.column_stack([cells[:, 0] + cells[:, 2], cells[:, 1]])


def _is_in(places: np.ndarray, grid: np.ndarray, scale: Scale) -> bool:
    """Whether a shape is in the panel of this grid: across it, and near it along its axis."""
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
        heights = outline[0, 1] - outline[1:-1:2, 1]
        # The lowest step is drawn a pixel high.
        yield np.maximum(heights - 1, 0)


def _uneven(drawing: Drawing) -> Iterator[str]:
    """Places across that are not as far apart as the others of their series; widths and feet that differ."""
    for line in (*drawing.lines, *(half for band in drawing.bands for half in np.array_split(band, 2))):
        yield from _off(line[:, 0])
    for bars in drawing.bars:
        yield from _off(bars[:, 0])
        yield from (f"{each:.1f}" for column in (1, 3, 4) for each in _others(bars[:, column]))
    for dots in drawing.dots:
        yield from _off(dots[:, 0])
        yield from (f"{each:.0f}" for column in (2, 3) for each in _others(dots[:, column]))
    for cells in drawing.rectangles:
        yield from (f"{each:.1f}" for each in _others(cells[:, 3]))
        yield from (f"{a:.1f}" for a, b in zip(cells[:, 2], cells[:, 4], strict=True) if a != b)
    for outline in drawing.outlines:
        yield from _off(outline[1:-1:2, 0])
        yield from _off(outline[2:-1:2, 0])


def _off(places: np.ndarray) -> list[str]:
    """Those that are not on a line through the others; none where they are not even at all, nor the last of steps."""
    if len(places) < 4:
        return []
    number = np.arange(len(places))
    slope = np.median(np.diff(places))
    rest = places - slope * number
    # Steps of a tenth add up: the line that most are near.
    slope += np.median(
        np.diff(rest)[np.abs(np.diff(rest)) < _DISTANCE] if (np.abs(np.diff(rest)) < _DISTANCE).any() else 0
    )
    ends = [
        (places[j] - places[i]) / (j - i) for i in (0, 1) for j in (len(places) - 1, len(places) - 2) if j > i
    ]
    best = min((_misses(places, each) for each in (*ends, slope)), key=np.sum)
    last = np.zeros(len(places), bool)
    last[-1] = True
    wrong = best & ~last
    return [f"{each:.1f}" for each in places[wrong]] if wrong.sum() <= _SHARE * len(places) else []


def _misses(places: np.ndarray, slope: float) -> np.ndarray:
    rest = places - slope * np.arange(len(places))
    return np.asarray(np.abs(rest - np.median(rest)) > _DISTANCE)


def _others(values: np.ndarray) -> np.ndarray:
    """Those that are not as the most are."""
    return values[np.abs(values - np.median(values)) > _DISTANCE]


def _strange_words(
    words: Sequence[Word],
    marks: set[int],
    series: Series,
    shown: Sequence[np.ndarray],
    scales: Sequence[tuple[np.ndarray, Scale]],
) -> Iterator[str]:
    """Words with numbers that are no mark of an axis, no label, and no number of a shape."""
    others = [word for place, word in enumerate(words) if place not in marks and _NUMBER.search(word.text)]
    below: dict[tuple[float, str], list[Word]] = {}
    for word in others:
        below.setdefault((word.y, word.anchor), []).append(word)
    for row in below.values():
        if len(row) >= 3 and all(_NUMBER.fullmatch(word.text) for word in row):
            strange = list(_off_scale(row))
        else:
            strange = [word.text for word in row if not _is_known(word.text, series, shown, scales)]
        # Words of a calendar, or of another language, are in no table.
        if len(strange) <= _SHARE * len(row) or _NUMBER.fullmatch(row[0].text):
            yield from strange


def _off_scale(row: Sequence[Word]) -> Iterator[str]:
    """Marks below an axis that are not even."""
    values = np.array([value_of(word.text) for word in row])
    places = np.array([word.x for word in row])
    slope = _slope(places, values)
    begins = values - slope * places
    near = 2 * _DISTANCE * abs(slope)
    yield from (row[place].text for place in np.flatnonzero(np.abs(begins - np.median(begins)) > near))


def _is_known(
    text: str, series: Series, shown: Sequence[np.ndarray], scales: Sequence[tuple[np.ndarray, Scale]]
) -> bool:
    """Whether a word is a label of the bundle, cut or not, or the number of a shape."""
    if text in series.labels or any(label.startswith(text.removesuffix("…")) for label in series.labels):
        return True
    if not _NUMBER.fullmatch(text):
        return False
    near = 0.55 * step_of(text) + max((scale.tolerance for _grid, scale in scales), default=0.0)
    return any(bool((np.abs(values - value_of(text)) <= near).any()) for values in shown)
