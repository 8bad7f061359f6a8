"""A figure as drawings for the screens that pages are read on: one for a window, and one for a phone."""

from __future__ import annotations

from dpportal.charts.figure_json import FigureJson
from dpportal.charts.spoken import spoken_summary
from dpportal.charts.static_svg import drawing

PHONE = 360


def for_screens(figure: FigureJson) -> FigureJson:
    """A drawing with another under `narrow`, whose letters can be read where the first would be made smaller.

    Maps and charts side by side have none: they need the width, and are moved sideways on a phone. `spoken` is what
    they show in words.
    """
    pairs = {(t.get("xaxis", "x"), t.get("yaxis", "y")) for t in figure["data"]}
    needs_width = len(pairs) > 1 or any(t["type"] == "heatmap" for t in figure["data"])
    drawn = {**drawing(figure), "spoken": spoken_summary(figure)}
    return drawn if needs_width else {**drawn, "narrow": drawing(figure, PHONE)}
