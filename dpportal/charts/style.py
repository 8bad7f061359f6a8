"""How every chart of the portal looks: one Plotly template, and the traces that counts are drawn with.

Colours are the custom properties of static/css/portal.css, written "var(--noisy)"; static/js/figures.js puts
their values in, so that figures follow light and dark.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from django.utils.translation import gettext as _

from dpportal.charts.counted_word import picked_row_caption
from dpportal.charts.figure_json import FigureJson
from dpportal.charts.lying_bars import lies_up_to
from dpportal.platform.listed_names import in_a_row

# Of intervals: the same for all marks, one for each share, which none reaches below 0, or none.
HalfWidth = int | np.ndarray | None
TRANSPARENT = "rgba(0,0,0,0)"
SMALL = 0.01
_BLOCK = 2**18
# Too low, as it is, too high: apart for colour-blind people, and by lightness from the middle in print.
DIVERGING = [[0, "var(--scale-under)"], [0.5, "var(--scale-none)"], [1, "var(--scale-over)"]]
_AXIS = {
    "gridcolor": "var(--grid)",
    "linecolor": "var(--control)",
    "zerolinecolor": "var(--control)",
    "tickcolor": "var(--control)",
    "tickfont": {"color": "var(--muted)", "size": 12},
    "title": {"font": {"color": "var(--muted)", "size": 13}, "standoff": 10},
    "automargin": True,
    # Names that are long lean, so that nobody reads them upright.
    "autotickangles": [0, -45, -60],
    "ticks": "outside",
    "ticklen": 4,
}
TEMPLATE = go.layout.Template(
    layout={
        "font": {
            "family": "'Source Sans 3', system-ui, 'Segoe UI', Roboto, Arial, sans-serif",
            "size": 13,
            "color": "var(--text)",
        },
        "paper_bgcolor": "var(--page)",
        "plot_bgcolor": TRANSPARENT,
        "margin": {"l": 56, "r": 12, "t": 40, "b": 48},
        "xaxis": {**_AXIS, "showgrid": False, "showline": True},
        "yaxis": {**_AXIS, "tickformat": ",", "ticks": ""},
        "legend": {
            "orientation": "h",
            "x": 0,
            "xanchor": "left",
            "y": 1.02,
            "yanchor": "bottom",
            "traceorder": "normal",
        },
        "modebar": {"bgcolor": TRANSPARENT, "color": "var(--muted)", "activecolor": "var(--text)"},
        "hoverlabel": {
            "bgcolor": "var(--page)",
            "bordercolor": "var(--control)",
            "font": {"color": "var(--text)", "size": 13},
        },
        "hovermode": "closest",
        "dragmode": False,
        "bargap": 0.2,
        "bargroupgap": 0.06,
        "coloraxis": {
            "colorscale": [[0, "var(--scale-low)"], [0.5, "var(--scale-mid)"], [1, "var(--scale-high)"]],
            "colorbar": {
                "thickness": 10,
                "outlinewidth": 0,
                "tickformat": ",",
                "tickfont": {"color": "var(--muted)"},
            },
        },
    }
)


@dataclass(frozen=True)
class Figure:
    """A chart: `json` is what Plotly.js draws ({data, layout}), `caption` says what is shown."""

    json: FigureJson
    caption: str
    title: str


def series_names() -> dict[str, str]:
    """The words for the three kinds of count, in the order they are drawn."""
    return {"true": _("True count"), "noisy": _("Noisy count"), "synthetic": _("Adjusted count")}


class SeriesFigure:
    """A figure with long traces, whose numbers Plotly neither checks nor copies: they join its JSON afterwards."""

    def __init__(self) -> None:
        self._figure = go.Figure()
        self._numbers: list[dict[str, list[str] | list[float]]] = []

    def add_series(self, trace: go.Scatter, **numbers: list[str] | list[float]) -> None:
        """numbers: by the trace's attribute, such as x and y."""
        self._figure.add_trace(trace)
        self._numbers.append(numbers)

    def update_layout(self, **layout: object) -> None:
        self._figure.update_layout(**layout)

    def add_vline(self, x: float, line: FigureJson) -> None:
        self._figure.add_vline(x, line=line)

    def to_dict(self) -> FigureJson:
        json: FigureJson = self._figure.to_dict()
        for trace, numbers in zip(json["data"], self._numbers, strict=True):
            trace.update(numbers)
        return json


@dataclass(frozen=True)
class Display:
    """How a page shows a figure. height, min_width: pixels, 0 where the page decides.

    is_map: whether readers may choose how its colours are spread, zoom in, and take its lines away. is_counts: whether
    they may choose how its heights are spread. begins: the spread that is chosen at first, as `first_spread` says.
    is_ordered: whether its cells follow each other, so that few of them need names; those of others may lie in a line
    each. None: nobody says.
    """

    height: int = 0
    min_width: int = 0
    is_map: bool = False
    is_counts: bool = False
    begins: str = ""
    is_ordered: bool | None = None

    def meta(self) -> dict[str, int | str]:
        """Facts for the page's program; none that have their default."""
        facts: dict[str, int | str] = {
            "min_width": self.min_width,
            "is_map": self.is_map,
            "is_counts": self.is_counts,
            "begins": self.begins,
        }
        order = {} if self.is_ordered is None else {"is_ordered": self.is_ordered}
        return {name: value for name, value in facts.items() if value} | order


PLAIN_DISPLAY, PERIODS = Display(), Display(is_ordered=True)


def finished(
    figure: go.Figure | SeriesFigure, *, title: str, caption: str, display: Display = PLAIN_DISPLAY
) -> Figure:
    """Apply the shared template. The caption says first what is counted, where that is not plain."""
    figure.update_layout(template=TEMPLATE)
    if display.height:
        figure.update_layout(height=display.height)
    json = figure.to_dict()
    meta = display.meta()
    if display.is_ordered is False and (width := lies_up_to(json["data"])):
        meta["lies_up_to"] = width
    if meta:
        json["layout"]["meta"] = meta
    return Figure(json=json, caption=in_a_row([picked_row_caption(), caption]), title=title)


def first_spread(released: np.ndarray) -> str:
    """“root” where most of the released numbers are so small beside the largest that even steps would not show them.

    Of millions of numbers a block at a time is looked at, so that no copy of all is made.
    """
    if released.size <= 2:
        return ""
    numbers, small = released.reshape(-1), SMALL * max(float(released.max()), -float(released.min()))
    blocks = (numbers[start : start + _BLOCK] for start in range(0, numbers.size, _BLOCK))
    few = sum(int(np.count_nonzero(np.abs(block) < small)) for block in blocks)
    return "root" if 2 * few > numbers.size else ""


def plain(text: str) -> str:
    """Text that Plotly shows as it is: it would read `<b>` in a label as markup."""
    return html.escape(text, quote=False)


def plain_all(labels: Sequence[str]) -> list[str]:
    """Labels in which a drawing finds no markup."""
    return [plain(label) for label in labels]


def category_axis(name: str, ticks: int = 0, cells: int = 0) -> FigureJson:
    """An axis whose ticks are cells in declared order, also where their labels look like numbers.

    ticks: at most so many are labelled; 0: as many as there is room for. cells: how many the axis spans, so that
    charts of the same cells stand one above the other; 0: as many as are drawn.
    """
    span = {"range": [-0.5, cells - 0.5]} if cells else {}
    return {"type": "category", "title": {"text": plain(name)}, "nticks": ticks, **span}


def people_axis(unit: str) -> FigureJson:
    """An axis of counts, from zero on. unit: its title."""
    return {"title": {"text": unit}, "rangemode": "tozero"}


def hover(unit: str, half_width: HalfWidth, value: str = "%{y:,}", cell: str = "%{x}") -> str:
    """The text at the pointer: cell, count, interval. Where each mark has its own, its customdata has both."""
    interval = " ± %{customdata[1]}" if isinstance(half_width, np.ndarray) else ""
    interval = f" ± {half_width:,}" if isinstance(half_width, int) else interval
    return f"{cell}<br><b>{value}</b>{interval} {unit}"


def bar(kind: str, labels: Sequence[str], counts: np.ndarray, *, unit: str, half_width: int | None) -> go.Bar:
    """One series of grouped bars; the noisy one carries its interval as an error bar."""
    looks: Mapping[str, FigureJson] = {
        "true": {"color": TRANSPARENT, "line": {"color": "var(--true)", "width": 1.5}},
        "noisy": bar_look("var(--noisy)", ""),
        "synthetic": bar_look("var(--synthetic)", "/"),
    }
    shown = half_width if kind == "noisy" else None
    return go.Bar(
        name=series_names()[kind],
        meta=kind,
        x=list(labels),
        y=counts.tolist(),
        marker=looks[kind],
        error_y=whisker(shown),
        hovertemplate=hover(unit, shown) + "<extra>%{fullData.name}</extra>",
    )


def bar_look(colour: str, hatch: str) -> FigureJson:
    """Of bars: filled, or hatched with such lines, which tells series apart in print."""
    if not hatch:
        return {"color": colour, "line": {"width": 0}}
    pattern = {"shape": hatch, "fgcolor": colour, "bgcolor": TRANSPARENT, "size": 6}
    return {"color": TRANSPARENT, "pattern": pattern, "line": {"color": colour, "width": 1}}


def whisker(half_width: int | None) -> FigureJson | None:
    """The interval at the end of a bar; None where there is none."""
    if half_width is None:
        return None
    return {"type": "constant", "value": half_width, "color": "var(--text)", "thickness": 1, "width": 3}


def whiskers(
    below: Sequence[float | None], above: Sequence[float | None], colour: str = "var(--text)"
) -> FigureJson:
    """Intervals around points or at the ends of bars, each with its own reach on either side; None without one."""
    looks = {"color": colour, "thickness": 1, "width": 3}
    return {"type": "data", "symmetric": False, "array": above, "arrayminus": below, **looks}


def step_line(kind: str, labels: Sequence[str], counts: np.ndarray, *, hovertemplate: str) -> go.Scatter:
    """One series as a line of steps; the dash tells the series apart without colour."""
    looks: Mapping[str, FigureJson] = {
        "true": {"color": "var(--true)", "width": 1.5},
        "noisy": {"color": "var(--noisy)", "width": 1.5},
        "synthetic": {"color": "var(--synthetic)", "width": 1.5, "dash": "dot"},
    }
    return go.Scatter(
        name=series_names()[kind],
        meta=kind,
        x=list(labels),
        y=counts.tolist(),
        mode="lines",
        line={**looks[kind], "shape": "hvh"},
        hovertemplate=hovertemplate + "<extra>%{fullData.name}</extra>",
    )


def interval_band(
    labels: Sequence[str], counts: np.ndarray, half_width: int | np.ndarray, fill: str = "var(--interval)"
) -> list[go.Scatter]:
    """The interval around a line of steps, as an area between its two ends. fill: a paler colour of the line's."""
    edge = {
        "x": list(labels),
        "meta": "noisy",
        "mode": "lines",
        "line": {"width": 0, "shape": "hvh"},
        "hoverinfo": "skip",
    }
    below = counts - half_width
    below = np.maximum(below, 0) if isinstance(half_width, np.ndarray) else below
    lower = go.Scatter(**edge, y=below.tolist(), showlegend=False)
    upper = go.Scatter(
        **edge,
        y=(counts + half_width).tolist(),
        fill="tonexty",
        fillcolor=fill,
        name=_("Margin (95 %)"),
    )
    return [lower, upper]
