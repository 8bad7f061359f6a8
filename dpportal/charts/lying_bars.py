"""Cells without an order whose names are long, as shapes that stand still: a line for each, with its name in full."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dpportal.charts.figure_json import FigureJson
from dpportal.charts.svg_paths import filled, rectangle, round_step, swatch
from dpportal.charts.text_width import LETTER, longest, shortened_apart, widest, width_of
from dpportal.charts.trace_values import (
    Trace,
    certainly_highest,
    mark_text,
    number_text,
    plain_label,
    range_of,
    reach_on,
    sides_at,
)

GAP, LINE, TOP, DOT = 8, 15, 44, 4
# Names and bars share the width; of a name at most so many letters are shown, on a phone fewer.
MOST_LETTERS, NAMES_SHARE = 44, 0.45
# Pixels to the left and right of standing bars, where the numbers of their axis are.
BETWEEN_BARS = 101
MOST_CELLS, TICKS = 64, 5
# Pixels up to which there is room for few marks of an axis.
NARROW, FEW_TICKS = 260, 2
# More names than this lie, however short they are.
MANY = 12
# Pixels of a window's drawing; what lies there lies in any other as well.
WINDOW, ANY_WIDTH = 760, 100_000
# Pixels of one bar: alone, beside those of a few other groups, and beside those of many.
ALONE, GROUPED, CROWDED, FEW_GROUPS = 15, 9, 6, 4


def lies(figure: FigureJson, width: int) -> bool:
    """Whether names do not fit side by side under bars or points, and no order asks for it."""
    meta = figure["layout"].get("meta") or {}
    return meta.get("is_ordered") is False and width <= lies_up_to(shown_traces(figure))


def lies_up_to(traces: Sequence[Trace]) -> int:
    """The width, in pixels, up to which bars or points without an order lie; 0: they always stand."""
    if not traces or not all(_is_bars(trace) or trace.get("mode") == "markers" for trace in traces):
        return 0
    names = [plain_label(str(name)) for name in traces[0]["x"]]
    if len(names) > MOST_CELLS:
        return 0
    needed = math.ceil(_width_of(names)) - 1
    return ANY_WIDTH if len(names) > MANY or needed >= WINDOW else needed


def names_fit(names: Sequence[str], width: int) -> bool:
    """Whether they stand side by side in a drawing so many pixels wide."""
    return _width_of(names) <= width


def _width_of(names: Sequence[str]) -> float:
    """Of a drawing in which each name stands under its bar, apart from the next one."""
    return (widest(names) + GAP) * len(names) + BETWEEN_BARS


def shown_traces(figure: FigureJson) -> list[Trace]:
    """Those that a reader sees at first."""
    return [trace for trace in figure["data"] if trace.get("visible", True) is True]


def names_of(layout: FigureJson) -> str:
    """The column whose values the names of series are; empty where they are no values."""
    return plain_label((layout.get("legend", {}).get("title") or {}).get("text") or "")


def lying_drawing(figure: FigureJson, width: int) -> FigureJson:
    """The same context as `static_svg.drawing`. figure: one that `lies`. width: in pixels."""
    return _Lying(shown_traces(figure), figure["layout"], width).context()


def _is_bars(trace: Trace) -> bool:
    return trace["type"] == "bar" and trace.get("orientation") != "h"


@dataclass(frozen=True)
class _Scale:
    """Where numbers stand across the drawing."""

    left: float
    right: float
    low: float
    high: float

    def at(self, value: float) -> float:
        return self.left + (self.right - self.left) * (value - self.low) / (self.high - self.low)

    def marks(self) -> list[float]:
        step = round_step(self.high - self.low, TICKS if self.right - self.left > NARROW else FEW_TICKS)
        return [place * step for place in range(math.ceil(self.low / step), math.floor(self.high / step) + 1)]


class _Lying:
    def __init__(self, traces: Sequence[Trace], layout: FigureJson, width: int) -> None:
        self.traces, self.layout, self.width = traces, layout, width
        self.suffix = str(layout["yaxis"].get("ticksuffix") or "")
        self.names = [plain_label(str(name)) for name in traces[0]["x"]]
        self.thick = ALONE if len(traces) == 1 else GROUPED if len(traces) <= FEW_GROUPS else CROWDED
        self.slot = self.thick * len(traces) + GAP
        most = min(MOST_LETTERS, int(NAMES_SHARE * width / LETTER))
        self.names = shortened_apart(self.names, most)
        left = widest(self.names) + 2 * GAP
        right = width - 2 * GAP - LETTER * longest(self._numbers(), 2)
        ends = [float(end) for trace in traces for end in reach_on(trace, "y")]
        are_bars = _is_bars(traces[0])
        own = None if are_bars else layout["yaxis"].get("range")
        self.scale = _Scale(left, right, *(own or range_of(ends, from_zero=are_bars)))
        self.floor = TOP + self.slot * len(self.names)
        self.lines: list[FigureJson] = []
        self.areas: list[FigureJson] = []

    def context(self) -> FigureJson:
        for place, trace in enumerate(self.traces):
            self._draw(trace, place)
        names = {plain_label(trace["name"]): swatch(trace) for trace in self.traces if trace.get("name")}
        return {
            "width": self.width,
            "height": self.floor + 2 * LINE + 2 * GAP,
            "grid": [
                self._line(mark, TOP, mark, self.floor, "var(--grid)" if mark else "var(--control)")
                for mark in self.scale.marks()
            ],
            "areas": self.areas,
            "lines": self.lines,
            "texts": [*self._names_of_cells(), *self._values(), *self._axis()],
            "names": list(names.items()) if len(self.traces) > 1 else [],
            "names_of": names_of(self.layout),
            "scale": "",
        }

    def _middle(self, cell: int, place: int = 0) -> float:
        """Down to the middle of a cell's bar of a trace."""
        return TOP + cell * self.slot + GAP / 2 + self.thick * (place + 0.5)

    def _draw(self, trace: Trace, place: int) -> None:
        path = []
        for cell, value in enumerate(trace["y"]):
            if value is None:
                continue
            at, middle = self.scale.at(value), self._middle(cell, place)
            if _is_bars(trace):
                left, right = sorted((self.scale.at(0), at))
                path.append(rectangle(left, middle - self.thick * 0.45, right - left, self.thick * 0.9))
            else:
                path.append(f"M{at - DOT:.1f} {middle:.1f}a{DOT} {DOT} 0 1 0 8 0a{DOT} {DOT} 0 1 0 -8 0")
            if (sides := sides_at(trace, cell)) is not None:
                ends = value - sides[0], value + sides[1]
                self.lines.append(self._line(ends[0], middle, ends[1], middle, "var(--text)"))
        self.areas.append(filled("".join(path), trace.get("marker", {})))

    def _numbers(self) -> list[str]:
        """At the ends of the bars or beside the points, where there is one for each cell."""
        if len(self.traces) > 1:
            return []
        [trace] = self.traces
        return [
            "" if value is None else mark_text(trace, cell, self.suffix)
            for cell, value in enumerate(trace["y"])
        ]

    def _values(self) -> Iterator[FigureJson]:
        values, top = self.traces[0]["y"], certainly_highest(self.traces[0])
        for cell, words in enumerate(self._numbers()):
            if words:
                end = max(values[cell], 0) if _is_bars(self.traces[0]) else values[cell]
                at = self.scale.at(end + (sides_at(self.traces[0], cell) or (0, 0))[1])
                text = _text(words, at + GAP, self._middle(cell) + 4, "start")
                yield text | {"strong": cell == top}

    def _names_of_cells(self) -> Iterator[FigureJson]:
        for cell, name in enumerate(self.names):
            middle = TOP + cell * self.slot + self.slot / 2
            yield _text(name, self.scale.left - GAP, middle + 4, "end")

    def _axis(self) -> Iterator[FigureJson]:
        """Numbers under the bars with their unit, and what the cells are over the names."""
        for mark in self.scale.marks():
            yield _text(number_text(mark, 6) + self.suffix, self.scale.at(mark), self.floor + LINE, "middle")
        title = plain_label(self.layout["yaxis"]["title"]["text"])
        yield _text(title, self.width - GAP, self.floor + 2 * LINE + 4, "end")
        cells = plain_label(self.layout["xaxis"]["title"]["text"])
        fits = width_of(cells) < self.scale.left - GAP
        yield _text(cells, self.scale.left - GAP if fits else 0, TOP - GAP, "end" if fits else "start")

    def _line(self, x0: float, y0: float, x1: float, y1: float, stroke: str) -> FigureJson:
        """Between two numbers at two heights."""
        ends = f"{self.scale.at(x0):.1f},{y0:.1f} {self.scale.at(x1):.1f},{y1:.1f}"
        return {"points": ends, "stroke": stroke, "dash": "none"}


def _text(words: str, x: float, y: float, anchor: str) -> FigureJson:
    return {"text": words, "x": round(x, 1), "y": round(y, 1), "anchor": anchor, "turned": False}
