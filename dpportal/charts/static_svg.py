"""A figure as shapes at places in pixels, for a drawing that stands still in a file by itself: no program, no network.

Draws what the portal's figures are made of: bars, lines, bands, points with intervals, heat maps, side by side.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
from django.utils.translation import gettext as _

from dpportal.charts.area_drawing import area_drawing
from dpportal.charts.axis import LINE, TICKS, Axis, thinned
from dpportal.charts.figure_json import FigureJson
from dpportal.charts.line_names import place_of_title, places_of_names
from dpportal.charts.lying_bars import WINDOW, lies, lying_drawing, names_of, shown_traces
from dpportal.charts.svg_paths import bar, filled, points, rectangle, swatch, up_to_mark
from dpportal.charts.text_width import LETTER, longest, shortened, widest, width_of
from dpportal.charts.trace_values import (
    Trace,
    certainly_highest,
    colour_of,
    mark_text,
    placed,
    plain_label,
    range_of,
    reach_on,
    sides_at,
    value_text,
    values_on,
)

WIDTH, HEIGHT = WINDOW, 360
TOP, RIGHT, GAP = 44, 16, 8
LONGEST_LABEL = 24
# Shades of a heat map, of which the palest differs from none at all, and what stands for that of no number.
SHADES, UNKNOWN = 32, 99
# From here on numbers have no decimals.
MOST_DIGITS = 1000
# Lines that are named at their ends, and bars that all have their number over them.
MOST_NAMED_LINES, MOST_NUMBERED = 4, 8


def drawing(figure: FigureJson, width: int = WIDTH) -> FigureJson:
    """From a figure's JSON: width, height, and shapes, lines, texts and names of series for `_drawing.svg`.

    width: in pixels; letters have the same size in any.

    Colours are the names that the portal's style sheet has for them, since that is written into the same file.
    """
    if (figure["layout"].get("meta") or {}).get("is_areas"):
        return area_drawing(figure, width)
    if lies(figure, width):
        return lying_drawing(figure, width)
    return _Drawing(shown_traces(figure), figure["layout"], width).context()


class _Drawing:
    def __init__(self, traces: Sequence[Trace], layout: FigureJson, width: int) -> None:
        self.traces, self.layout = [placed(t) if t["type"] == "heatmap" else t for t in traces], layout
        meta = layout.get("meta") or {}
        self.is_ordered = bool(meta.get("is_ordered"))
        self.width, self.height = width, int(layout.get("height") or HEIGHT)
        self.grid: list[FigureJson] = []
        self.areas: list[FigureJson] = []
        self.lines: list[FigureJson] = []
        self.texts: list[FigureJson] = []
        pairs = dict.fromkeys((t.get("xaxis", "x"), t.get("yaxis", "y")) for t in self.traces)
        self.left = self._label_space("y", pairs)
        self.bottom = min(self._label_space("x", pairs), 130) + 12
        self.names_at_lines, self.names_of = self._named_at_lines(), names_of(layout)
        self.right = RIGHT + widest(self.names_at_lines)
        self.axes = {pair: self._axes(*pair) for pair in pairs}

    def context(self) -> FigureJson:
        for pair, (x, y) in self.axes.items():
            of_pair = [t for t in self.traces if (t.get("xaxis", "x"), t.get("yaxis", "y")) == pair]
            self._frame(x, y)
            self._draw(of_pair, x, y)
        self._titles()
        named = {
            plain_label(t["name"]): swatch(t)
            for t in self.traces
            if t.get("name") and t.get("showlegend", True)
        }
        is_map = any(t["type"] == "heatmap" for t in self.traces)
        return {
            "width": self.width,
            "height": self.height,
            "grid": self.grid,
            "areas": self.areas,
            "lines": self.lines,
            "texts": self.texts,
            "names": [] if is_map or len(named) < 2 or self.names_at_lines else list(named.items()),
            "names_of": self.names_of,
            "scale": _("Colours run from 0 to %(largest)s") % {"largest": self._end_of_scale()}
            if is_map
            else "",
        }

    def _end_of_scale(self) -> str:
        """People in full, and parts of them with the digits that tell something."""
        return f"{self._largest:,.0f}" if self._largest >= MOST_DIGITS else f"{self._largest:,.4g}"

    def _named_at_lines(self) -> list[str]:
        """The names of few lines stand at their ends, without a legend."""
        # Bands are named by the caption: their colour is too pale for words.
        legend = [t for t in self.traces if t.get("name") and t.get("showlegend", True)]
        named = [t for t in legend if not t.get("fill")]
        lines = [
            plain_label(t["name"])
            for t in named
            if t["type"] == "scatter" and "lines" in (t.get("mode") or "")
        ]
        if any(t.get("orientation") == "h" for t in self.traces):
            return [plain_label(t["name"]) for t in named]
        alone = len({t.get("xaxis", "x") for t in self.traces}) == 1 and len(lines) == len(named)
        return lines if alone and 2 <= len(lines) <= MOST_NAMED_LINES else []

    def _traces_on(self, letter: str, name: str) -> list[Trace]:
        """Those of an axis, and of all that have the same scale."""
        scale = self._scale_of(letter, name)
        return [t for t in self.traces if self._scale_of(letter, t.get(f"{letter}axis", letter)) == scale]

    def _scale_of(self, letter: str, name: str) -> str:
        """The name of the axis that it is drawn like: its own, or the one that it matches."""
        return str(self.layout.get(f"{letter}axis{name[1:]}", {}).get("matches", name))

    def _label_space(self, letter: str, pairs: Mapping[tuple[str, str], None]) -> float:
        """Pixels that the longest label of these axes needs."""
        names = {pair[letter == "y"] for pair in pairs}
        lists = [values_on(t, letter) for n in names for t in self._traces_on(letter, n)]
        # Told apart without a call for each, since there may be thousands.
        words = {value for values in lists for value in values if value.__class__ is str}
        most = min(longest(words, 8), LONGEST_LABEL)
        lying = LETTER * most * len(words) < 0.85 * self.width / max(1, len(names))
        lying = lying or self.is_ordered
        return 2.0 * LINE if letter == "x" and lying else LETTER * most + 4 * GAP

    def _axes(self, x_name: str, y_name: str) -> tuple[Axis, Axis]:
        wide, tall = self.width - self.left - self.right, self.height - TOP - self.bottom
        x, y = self._axis("x", x_name), self._axis("y", y_name)
        (x0, x1), (y0, y1) = x.pop("domain"), y.pop("domain")
        across = Axis(self.left + x0 * wide, self.left + x1 * wide, **x)
        floor, ceiling = TOP + (1 - y0) * tall, TOP + (1 - y1) * tall
        rises = not y["categories"] or x["mirrored"]
        ends = (floor, ceiling) if rises else (ceiling, floor)
        return across, Axis(*ends, **y)

    def _axis(self, letter: str, name: str) -> FigureJson:
        declared = self.layout.get(f"{letter}axis{name[1:]}", {})
        traces = self._traces_on(letter, name)
        values = [v for t in traces for v in values_on(t, letter)]
        words = str in set(map(type, values)) or any(t["type"] == "heatmap" for t in traces)
        categories = {value: place for place, value in enumerate(dict.fromkeys(values))} if words else {}
        numbers = [float(v) for t in traces for v in reach_on(t, letter)] if not words else []
        low, high = (-0.5, len(categories) - 0.5) if words else range_of(numbers, letter == "y")
        if letter == "y" and not words:
            low, high = declared.get("range") or (low, up_to_mark(low, high, TICKS))
        is_mirrored = letter == "x" and any(t.get("orientation") == "h" for t in traces)
        return {
            "low": low,
            "high": high,
            "categories": categories,
            "domain": declared.get("domain") or (0, 1),
            "shown": declared.get("showticklabels", True) is not False,
            "mirrored": is_mirrored,
            "suffix": str(declared.get("ticksuffix") or ""),
            "title": plain_label(declared.get("title", {}).get("text") or ""),
        }

    def _frame(self, x: Axis, y: Axis) -> None:
        """Axes with their labels."""
        floor, ceiling = max(y.begin, y.end), min(y.begin, y.end)
        for value, text in y.marks():
            if not y.categories:
                self.grid.append(_line([(x.begin, y.at(value)), (x.end, y.at(value))], "var(--grid)"))
            if y.shown:
                self._text(text, x.begin - GAP, y.at(value) + 4, "end")
        marks, turned = self._marks_below(x)
        for value, text in marks:
            self._text(text, x.at(value), floor + LINE, "end" if turned else "middle", turned)
        self.lines.append(_line([(x.begin, floor), (x.end, floor)], "var(--control)"))
        if x.title and x.shown:
            self._text(x.title, x.end, self.height - GAP, "end", in_full=True)
        if y.title and y.shown:
            # One that is wider than the space beside the axis begins at the drawing's edge.
            wide = width_of(y.title) > self.left
            place, anchor = (0.0, "start") if wide else (self.left, "end")
            # Over the numbers of the highest bars.
            above = GAP + LINE - 4 if ceiling <= TOP else GAP
            self._text(y.title, place, ceiling - above, anchor, in_full=True)

    def _marks_below(self, x: Axis) -> tuple[list[tuple[str | float, str]], bool]:
        """Labels of an axis, and whether they are turned: all or none. Along an order fewer are shown instead."""
        if not x.shown:
            return [], False
        marks = x.marks()
        wide = LETTER * min(longest([text for _value, text in marks]), LONGEST_LABEL)
        fitting = max(1, int(abs(x.end - x.begin) / (wide + GAP)))
        if not x.categories or len(marks) <= fitting:
            return marks, False
        if self.is_ordered:
            return thinned(marks, -(-len(marks) // fitting)), False
        return marks, True

    def _draw(self, traces: Sequence[Trace], x: Axis, y: Axis) -> None:
        bars = [t for t in traces if t["type"] == "bar"]
        for place, trace in enumerate(bars):
            if trace.get("orientation") == "h":
                self._lying_bars(trace, x, y)
            else:
                self._bars(trace, x, y, place, len(bars))
        before: list[tuple[float, float]] = []
        named: list[tuple[Trace, list[tuple[float, float]]]] = []
        for trace in traces:
            if trace["type"] == "heatmap":
                self._heat_map(trace, x, y)
            elif trace["type"] == "scatter":
                points = [(a, b) for a, b in zip(trace["x"], trace["y"], strict=True) if b is not None]
                across, down = x.along([a for a, _b in points]), y.along([b for _a, b in points])
                places = list(zip(across, down, strict=True))
                self._scatter(trace, places, before, y)
                before = places
                is_line = "lines" in trace.get("mode", "lines")
                if is_line and plain_label(trace.get("name") or "") in self.names_at_lines and places:
                    named.append((trace, places))
        # The lowest first, so that names stand above each other as the lines do.
        widths = [GAP + width_of(plain_label(trace["name"])) for trace, _places in named]
        floor = max(y.begin, y.end)
        at_names = places_of_names([places for _trace, places in named], LINE, widths, floor)
        ends = [(trace, at) for (trace, _places), at in zip(named, at_names, strict=True)]
        for trace, end in sorted(ends, key=lambda named: -named[1][1]):
            self._name_line(trace, end, floor)
        numbered = bars or [t for t in traces if t.get("mode") == "markers"]
        if len(numbered) == 1 and x.categories and len(self.axes) == 1:
            self._number(numbered[0], x, y)

    def _name_line(self, trace: Trace, end: tuple[float, float], floor: float) -> None:
        """At its end, lower or higher where another name stands already, and never below the axis."""
        taken = [text["y"] for text in self.texts if text.get("colour")]
        steps = (side * step for step in range(2 * len(taken) + 1) for side in (LINE - 3, 3 - LINE))
        free = (at for at in (end[1] + 4 + step for step in steps) if at <= floor + 4)
        at = next(at for at in free if all(abs(other - at) >= LINE - 3 for other in taken))
        self._text(plain_label(trace["name"]), end[0] + GAP, at, "start", in_full=True)
        self.texts[-1] |= {"colour": colour_of(trace), "strong": True}

    def _number(self, trace: Trace, x: Axis, y: Axis) -> None:
        """The numbers of few bars or points over them; of many that of the largest, where it certainly is."""
        values = trace["y"]
        known = [place for place, value in enumerate(values) if value is not None]
        top = certainly_highest(trace)
        alone = [] if top is None else [top]
        for place in known if len(known) <= MOST_NUMBERED else alone:
            end = max(0, values[place]) if trace["type"] == "bar" else values[place]
            reach = end + (sides_at(trace, place) or (0, 0))[1]
            above = y.at(reach) - (4 if trace["type"] == "bar" else GAP)
            words = mark_text(trace, place, y.suffix)
            fits = width_of(words) <= x.step or len(known) > MOST_NUMBERED
            words = words if fits else value_text(trace, place) + y.suffix
            self._text(words, x.at(trace["x"][place]), above, "middle", in_full=True)
            self.texts[-1]["strong"] = place == top

    def _bars(self, trace: Trace, x: Axis, y: Axis, place: int, bars: int) -> None:
        width = 0.8 * x.step / bars if x.categories else 1.0
        path, marker = [], trace.get("marker", {})
        for cell, (value, number) in enumerate(zip(trace["x"], trace["y"], strict=True)):
            if number is None:
                continue
            left = x.at(value) + (place - bars / 2) * width
            path.append(bar(left, y.at(0), y.at(number), width))
            self._whisker(trace, cell, left + width / 2, number, y)
        self.areas.append(filled("".join(path), marker))

    def _lying_bars(self, trace: Trace, x: Axis, y: Axis) -> None:
        """From the middle of a mirrored chart to the left or to the right."""
        height, path = 0.8 * y.step, []
        for place, (value, number) in enumerate(zip(trace["y"], trace["x"], strict=True)):
            ends, top = sorted((x.at(0), x.at(number))), y.at(value) - height / 2
            path.append(rectangle(ends[0], top, ends[1] - ends[0], height))
            if (sides := sides_at(trace, place, "x")) is not None:
                whisker = [(x.at(end), y.at(value)) for end in (number - sides[0], number + sides[1])]
                self.lines.append(_line(whisker, "var(--text)"))
        self.areas.append(filled("".join(path), trace.get("marker", {})))
        is_left = sum(trace["x"]) < 0
        self._text(
            plain_label(trace["name"]),
            x.at(0) + (-GAP if is_left else GAP),
            TOP - GAP,
            "end" if is_left else "start",
            in_full=True,
        )
        self.texts[-1] |= {"colour": colour_of(trace), "strong": True}

    def _scatter(
        self, trace: Trace, places: list[tuple[float, float]], before: list[tuple[float, float]], y: Axis
    ) -> None:
        if trace.get("fill") == "tonexty" and before:
            path = "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in (*places, *reversed(before)))
            fill = trace.get("fillcolor", "var(--interval)")
            self.areas.append({"path": f"{path}z", "fill": fill, "stroke": "none", "opacity": 1})
        if "lines" in trace.get("mode", "lines") and trace.get("line", {}).get("width", 1):
            self.lines.append(_line(places, colour_of(trace), trace.get("line", {}).get("dash", "")))
        if "markers" in trace.get("mode", ""):
            r = 4 if len(places) <= MOST_NUMBERED else 2
            dots = "".join(
                f"M{a - r:.1f} {b:.1f}a{r} {r} 0 1 0 {2 * r} 0a{r} {r} 0 1 0 {-2 * r} 0" for a, b in places
            )
            self.areas.append({"path": dots, "fill": colour_of(trace), "stroke": "none", "opacity": 1})
            for place, (at, _height) in enumerate(places):
                self._whisker(trace, place, at, trace["y"][place], y)

    def _whisker(self, trace: Trace, place: int, at: float, value: float | None, y: Axis) -> None:
        sides = sides_at(trace, place)
        if sides is not None and value is not None:
            ends = value - sides[0], value + sides[1]
            # Of several lines in a single place, where no band is seen, each has its margin in its own colour.
            is_alone = "lines" in trace.get("mode", "") and len(trace["x"]) == 1
            own = colour_of(trace)
            colour = own if is_alone and own.startswith("var(--series") else "var(--text)"
            self.lines.append(_line([(at, y.at(end)) for end in ends], colour))

    def _heat_map(self, trace: Trace, x: Axis, y: Axis) -> None:
        """Cells of one shade as one path."""
        shades: dict[int, list[str]] = {}
        columns, wide, tall = list(trace["x"]), x.step, y.step
        for row, values in zip(trace["y"], trace["z"], strict=True):
            top = y.at(row) - tall / 2
            for shade, place, length in self._runs(values, trace):
                left = x.at(columns[place]) - wide / 2
                shades.setdefault(shade, []).append(rectangle(left, top, length * wide, tall))
        for shade, squares in shades.items():
            fill = "var(--below)" if shade < 0 else "var(--accent)"
            opacity = round(max(0.04, abs(shade) / SHADES), 3)
            self.areas.append({"path": "".join(squares), "fill": fill, "stroke": "none", "opacity": opacity})

    def _runs(self, values: Sequence[float | None], trace: Trace) -> Iterator[tuple[int, int, int]]:
        """Shade, first place and length of each run of one shade; cells without a number are left out."""
        numbers = np.array(values, dtype=np.float64)
        sizes = np.ceil(SHADES * np.minimum(1.0, np.abs(numbers) / self._largest) ** self._power)
        # What is below nothing counts as nothing on a scale that begins there.
        below = -sizes if (trace.get("zmin") or 0) < 0 else np.zeros_like(sizes)
        shades = np.where(np.isnan(numbers), UNKNOWN, np.where(numbers < 0, below, sizes)).astype(int)
        starts = np.flatnonzero(np.diff(shades, prepend=UNKNOWN + 1))
        lengths = np.diff(starts, append=shades.size)
        runs = zip(shades[starts].tolist(), starts.tolist(), lengths.tolist(), strict=True)
        return (run for run in runs if run[0] != UNKNOWN)

    @property
    def _power(self) -> float:
        """Of a value in its shade: a half where the figure begins with square roots."""
        return 0.5 if (self.layout.get("meta") or {}).get("begins") == "root" else 1.0

    @cached_property
    def _largest(self) -> float:
        """The end of the heat maps' common scale."""
        declared = self.layout.get("coloraxis", {}).get("cmax")
        numbers = [abs(v) for t in self.traces for row in t.get("z", ()) for v in row if v is not None]
        scales = [t["zmax"] for t in self.traces if t.get("zmax")]
        return float(declared or max([*scales, *(numbers if not scales else ())], default=1)) or 1.0

    def _titles(self) -> None:
        """Of subplots side by side, of the axes that they share, and of the names at lines.

        The words of panels come in lines.
        """
        if self.names_at_lines and self.names_of:
            short = shortened(self.names_of, int(self.width / LETTER / 2))
            [(x, _y), *_others] = self.axes.values()
            at, anchor = (x.at(0), "middle") if x.mirrored else place_of_title(self.texts, short, self.width)
            self._text(short, at, LINE, anchor, in_full=True)
        wide, tall = self.width - self.left - self.right, self.height - TOP - self.bottom
        for note in self.layout.get("annotations", ()):
            if note.get("xref", "paper") != "paper":
                continue
            words = ", ".join(plain_label(part) for part in note["text"].split("<br>"))
            if note.get("textangle"):
                self._text(words, 0, LINE, "start")
            elif note.get("yanchor") == "top":
                self._text(words, self.width - self.right, self.height - GAP, "end", in_full=True)
            else:
                self._text(words, self.left + note["x"] * wide, TOP + (1 - note["y"]) * tall - 4, "middle")

    def _text(
        self, text: str, x: float, y: float, anchor: str, turned: bool = False, in_full: bool = False
    ) -> None:
        short = text if in_full or anchor == "middle" else shortened(text, LONGEST_LABEL)
        own = {"text": short, "x": round(x, 1), "y": round(y, 1), "anchor": anchor, "turned": turned}
        self.texts.append(own)


def _line(places: Sequence[tuple[float, float]], colour: str, dash: str = "") -> FigureJson:
    return {
        "points": points(places),
        "stroke": colour,
        "dash": {"dash": "6 3", "dot": "2 3"}.get(dash, "none"),
    }
