"""Small marks inside the cells of a table: a bar for a share, an outline for a density; paths without words or axes."""

from __future__ import annotations

from dpportal.charts.svg_paths import points, rectangle
from mechanisms.arrays import Floats

WIDTH, HEIGHT = 96, 16


def share_mark(share: float) -> str:
    """The path of a bar as long as the share, 0 to 1; empty of a share that is not told."""
    return rectangle(0, 3, WIDTH * min(share, 1.0), HEIGHT - 6) if share > 0 else ""


def density_mark(heights: Floats) -> str:
    """The path of an outline over steps of equal width; empty where there is none.

    heights: (steps,) all at least 0, as `steps_of_equal_width` gives them.
    """
    if not (heights > 0).any():
        return ""
    levels = HEIGHT - (HEIGHT - 1) * heights / heights.max()
    step = WIDTH / len(levels)
    outline = [(x * step, level) for i, level in enumerate(levels.tolist()) for x in (i, i + 1)]
    return f"M{points([(0.0, float(HEIGHT)), *outline, (float(WIDTH), float(HEIGHT))])}z"
