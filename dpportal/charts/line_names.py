"""Where the names of lines stand: at their ends, or where the lines are apart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Place = tuple[float, float]


def places_of_names(lines: Sequence[Sequence[Place]], height: float) -> list[Place]:
    """A place on each line, in pixels of the drawing, beside which its name stands.

    height: of a name. Where all lines end within the height of their names, as ages do at nobody, names there would
    tell nothing: each then stands over its line where that is furthest from the others.
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
    return [(line[place][0], line[place][1] - height / 2) for line, place in zip(lines, places, strict=True)]
