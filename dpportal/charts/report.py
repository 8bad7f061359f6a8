"""Figures that stand still, in what pages and reports that are files by themselves show."""

from __future__ import annotations

from collections.abc import Callable

from dpportal.charts.figure_json import FigureJson
from dpportal.charts.static_svg import drawing


def stilled(shown: object, stilling: Callable[[FigureJson], FigureJson] = drawing) -> object:
    """What a page shows, as JSON, with a drawing for every figure in it.

    stilling: makes it of a figure's JSON; a file by itself has one drawing of each.
    """
    if isinstance(shown, dict):
        inside = {
            name: value if name == "json" else stilled(value, stilling) for name, value in shown.items()
        }
        return {**inside, "drawing": stilling(shown["json"])} if "json" in shown else inside
    return [stilled(value, stilling) for value in shown] if isinstance(shown, list) else shown
