"""The numbers of a figure's trace on an axis, for a drawing that stands still."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

Trace = Mapping[str, Any]


def values_on(trace: Trace, letter: str) -> Sequence[str | float]:
    """Categories or numbers, in the order of the marks."""
    return trace.get(letter) or ()


def placed(trace: Trace) -> Trace:
    """A heat map whose rows and columns have names: their numbers where it gives none."""
    rows, columns = len(trace["z"]), max((len(row) for row in trace["z"]), default=0)
    return {"x": range(columns), "y": range(rows), **trace}


def reach_on(trace: Trace, letter: str) -> Sequence[float]:
    """A trace's numbers on an axis, with the ends of their intervals."""
    values = trace.get(letter) or ()
    if not trace.get(f"error_{letter}"):
        return [value for value in values if value is not None]
    sides = [sides_at(trace, place, letter) or (0, 0) for place in range(len(values))]
    known = [(value, *own) for value, own in zip(values, sides, strict=True) if value is not None]
    return [end for value, below, above in known for end in (value - below, value + above)]


def sides_at(trace: Trace, place: int, letter: str = "y") -> tuple[float, float] | None:
    """How far a mark's interval reaches below and above it, None without one."""
    error = trace.get(f"error_{letter}") or {}
    above = error["array"][place] if error.get("array") is not None else error.get("value")
    if above is None:
        return None
    return (error["arrayminus"][place] if error.get("arrayminus") is not None else above), above


def certainly_highest(trace: Trace) -> int | None:
    """The place of the mark whose interval lies above all others; None where several reach as high."""
    known = [place for place, value in enumerate(trace["y"]) if value is not None]
    if not known:
        return None
    sides = {place: sides_at(trace, place) or (0, 0) for place in known}
    top = max(known, key=lambda place: trace["y"][place])
    reach = (trace["y"][place] + sides[place][1] for place in known if place != top)
    is_apart = trace["y"][top] - sides[top][0] > max(reach, default=-math.inf)
    return top if is_apart else None


def range_of(numbers: Sequence[float], from_zero: bool) -> tuple[float, float]:
    """From the lowest number to the highest, and never empty."""
    low, high = min(numbers, default=0.0), max(numbers, default=1.0)
    low = min(0.0, low) if from_zero else low
    return low, high if high > low else low + 1


def colour_of(trace: Trace) -> str:
    """What tells a series: the colour of its line, or of its marks, or of their edges."""
    if trace.get("fill"):
        return str(trace.get("fillcolor", "var(--interval)"))
    marker = trace.get("marker", {})
    own = trace.get("line", {}).get("color") or marker.get("color") or ""
    return str(own if "var(" in own else marker.get("line", {}).get("color") or "var(--noisy)")


def number_text(number: float, digits: int = 4) -> str:
    """A number as readers write it, with thousands' separators: never “1e+04”; whole from so many digits on."""
    if isinstance(number, int) or abs(number) >= 10 ** (digits - 1):
        return f"{number:,.0f}"
    return f"{number:,.{digits}g}"


def value_text(trace: Trace, place: int, along: str = "y") -> str:
    """The number of a mark as its figure writes it, where it does; else as `number_text` does. Below 0 with a minus.

    along: the axis that has the numbers.
    """
    own = trace.get("customdata")
    text = own[place] if own is not None and isinstance(own[place], str) else number_text(trace[along][place])
    return str(text).replace("-", "−")


def mark_text(trace: Trace, place: int, suffix: str) -> str:
    """The number of a mark. suffix: after it, such as that of shares, whose own margins are written with them."""
    value, own = trace["y"][place], (trace.get("error_y") or {}).get("array")
    if not suffix or own is None:
        return value_text(trace, place) + suffix
    return f"{value:.1f} ± {own[place]:.1f}{suffix}"


def plain_label(text: str) -> str:
    """A label without the marks of a text that plotly.js shows."""
    return html.unescape(re.sub(r"<[^>]*>", "", text))
