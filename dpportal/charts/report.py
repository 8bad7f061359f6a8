"""What a report as a file by itself shows: figures that stand still beside those that a page draws."""

from __future__ import annotations

from dpportal.charts.static_svg import drawing


def stilled(shown: object) -> object:
    """What a page shows, as JSON, with a drawing for every figure in it."""
    if isinstance(shown, dict):
        inside = {name: value if name == "json" else stilled(value) for name, value in shown.items()}
        return {**inside, "drawing": drawing(shown["json"])} if "json" in shown else inside
    return [stilled(value) for value in shown] if isinstance(shown, list) else shown
