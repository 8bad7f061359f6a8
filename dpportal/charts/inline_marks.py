"""Small marks inside the cells of a table: a bar for a share, an outline for a density; paths without words or axes."""

from __future__ import annotations

from dpportal.charts.svg_paths import points, rectangle
from mechanisms.arrays import Floats

WIDTH, HEIGHT = 96, 16
# A density of more cells is drawn by the sums of neighbouring ones.
MOST_STEPS = 48


def share_mark(share: float) -> str:
    """The path of a bar as long as the share, 0 to 1; empty of a share that is not told."""
    if not share > 0:
        return ""
    return rectangle(0, 3, WIDTH * min(share, 1.0), HEIGHT - 6)


def density_mark(starts: Floats, shares: Floats, top: float) -> str:
    """The path of an outline over the range of a column.

    starts: (cells,) where each cell begins, rising. shares: (cells,) of all values. top: where the last cell ends.
    """
    edges = [*starts.tolist(), top]
    span = edges[-1] - edges[0]
    if not span > 0 or not (shares > 0).any():
        return ""
    steps = -(-len(shares) // MOST_STEPS)
    begins = range(0, len(shares), steps)
    sums = [float(shares[begin : begin + steps].clip(min=0).sum()) for begin in begins]
    ends = [edges[min(begin + steps, len(shares))] for begin in begins]
    # A single value has no width of its own: it is drawn as wide as a pixel.
    heights = [
        total / max(end - edges[begin], span / WIDTH)
        for total, begin, end in zip(sums, begins, ends, strict=True)
    ]
    tallest = max(heights)
    outline = [(0.0, float(HEIGHT))]
    for begin, end, height in zip(begins, ends, heights, strict=True):
        level = HEIGHT - (HEIGHT - 1) * height / tallest
        outline += [
            (WIDTH * (edges[begin] - edges[0]) / span, level),
            (WIDTH * (end - edges[0]) / span, level),
        ]
    return f"M{points([*outline, (float(WIDTH), float(HEIGHT))])}z"
