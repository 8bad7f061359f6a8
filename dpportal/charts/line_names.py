"""Where the names of lines stand: at their ends, or where the lines are apart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpportal.charts.figure_json import FigureJson
from dpportal.charts.text_width import width_of

LinePoint = tuple[float, float]
# Places of a line that are looked at beside a name.
STEPS = 20


def places_of_names(
    lines: Sequence[Sequence[LinePoint]], height: float, widths: Sequence[float], floor: float
) -> list[LinePoint]:
    """A place on each line, in pixels of the drawing, beside which its name stands.

    height, widths: of names. Where all lines end within the height of their names, as ages do at nobody, names there
    would tell nothing: each then stands over its line, the lowest one's under it, where that is furthest from the
    others, and so far from it that the line strikes no letter. floor: below which no name stands.
    """
    ends = [line[-1] for line in lines]
    down = [at for _across, at in ends]
    if len(lines) < 2 or max(down) - min(down) >= height * (len(lines) - 1) or len(set(map(len, lines))) > 1:
        return ends
    heights = np.array(lines)[:, :, 1]
    gaps = np.abs(heights[:, None] - heights[None])
    gaps[np.arange(len(lines)), np.arange(len(lines))] = np.inf
    nearest = gaps.min(axis=1)
    if nearest.max(axis=1).min() < height:
        return ends
    places = nearest.argmax(axis=1).tolist()
    lowest = [bool(heights[own, place] == heights[:, place].max()) for own, place in enumerate(places)]
    under = [
        _clear_of(line, place, width, height / 2)
        for line, place, width in zip(lines, places, widths, strict=True)
    ]
    over = [
        _clear_of(line, place, width, -height / 2)
        for line, place, width in zip(lines, places, widths, strict=True)
    ]
    return [
        below if is_lowest and below[1] <= floor else above
        for below, above, is_lowest in zip(under, over, lowest, strict=True)
    ]


def place_of_title(texts: Sequence[FigureJson], title: str, width: float) -> tuple[float, str]:
    """Where the title of names at lines stands, and its anchor: over the rightmost name, or at the edge if it is long.

    texts: those of the drawing, of which names have a colour. width: of the drawing.
    """
    begin = max((text["x"] for text in texts if text.get("colour")), default=width)
    return (begin, "start") if begin + width_of(title) <= width else (width, "end")


def _clear_of(line: Sequence[LinePoint], place: int, width: float, off: float) -> LinePoint:
    """Beside a place of a line: so far under it (off > 0) or over it that it stays clear of a name so wide."""
    across, down = np.array(line).T
    under_name = np.interp(np.linspace(across[place], across[place] + width, STEPS), across, down)
    end = under_name.max() if off > 0 else under_name.min()
    return float(across[place]), float(end + off)
