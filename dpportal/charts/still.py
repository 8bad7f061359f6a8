"""A map of pairs as places and strengths of squares, for a drawing that stands still in a file by itself."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

SQUARE, LETTER, GAP = 22, 7, 8
# The palest square that differs from none at all.
PALEST = 0.04


def still_map(figure: Mapping[str, Any]) -> dict[str, Any]:
    """From the JSON of `pairs.pairs_figure`: width, height and margin in pixels, labels, squares.

    A square has its place, an opacity between 0 and 1 by its value's share of the scale, whether the value is negative,
    and what is said of it.
    """
    drawn = figure["data"][0]
    names = [html.unescape(name) for name in drawn["x"]]
    margin = LETTER * max(len(name) for name in names) + GAP
    return {
        "width": margin + SQUARE * len(names),
        "height": margin + SQUARE * len(names),
        "margin": margin,
        "labels": [
            {"name": name, "along": margin + SQUARE * place + SQUARE / 2, "end": margin - GAP}
            for place, name in enumerate(names)
        ],
        "squares": [
            {
                "x": margin + SQUARE * column,
                "y": margin + SQUARE * row,
                "opacity": round(max(PALEST, abs(value) / drawn["zmax"]), 3),
                "negative": value < 0,
                "about": f"{names[row]} × {names[column]}: {value:.3f}",
            }
            for row, values in enumerate(drawn["z"])
            for column, value in enumerate(values)
            if value is not None
        ],
    }
