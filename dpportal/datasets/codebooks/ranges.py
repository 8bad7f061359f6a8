"""Bounds that a foreign codebook states, as a declaration: as many cells as a person can look at."""

from __future__ import annotations

from dpportal.platform.json_types import Json

MAX_SINGLE = 200  # whole numbers that have a cell each
BINS = 20


def integer(lower: int, upper: int) -> Json:
    """Whole numbers, each in a cell of its own or in equal bins of a round width."""
    count = upper - lower + 1
    width = 1 if count <= MAX_SINGLE else _round_up(-(-count // BINS))
    return {"kind": "integer", "lower": lower, "upper": upper, "width": width}


def real(lower: float, upper: float) -> Json:
    """A declaration of numbers between two bounds."""
    return {"kind": "real", "lower": lower, "upper": upper, "bins": BINS}


def day(lower: str, upper: str) -> Json:
    """A declaration of days between two bounds, by months."""
    return {"kind": "date", "lower": lower, "upper": upper, "step": "month"}


def _round_up(width: int) -> int:
    """The next of 1, 2, 5, 10, 20, 50 and so on."""
    ten: int = 10 ** (len(str(width)) - 1)
    return next(step * ten for step in (1, 2, 5, 10) if step * ten >= width)
