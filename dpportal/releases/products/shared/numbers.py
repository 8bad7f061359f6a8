"""Numbers with as many digits as their intervals bear."""

from __future__ import annotations

import math
from decimal import Decimal


def decimals_for(half_width: float) -> int:
    """Decimal places that show an interval's half-width with two digits; 0 for wide ones."""
    if not math.isfinite(half_width) or half_width <= 0:
        return 0
    return max(0, 1 - math.floor(math.log10(half_width)))


def number_text(value: float, decimals: int | None = None) -> str:
    """With separators of thousands; to two digits of its own where no decimals are said."""
    if decimals is None:
        decimals = decimals_for(value)
        if value >= 100:
            digits = math.floor(math.log10(value)) - 1
            value = math.ceil(value / 10**digits) * 10**digits
    # Nothing has no sign, however little is below it.
    return f"{round(value, decimals) + 0.0:,.{decimals}f}"


def plain_number(value: float) -> str:
    """Every digit that was typed, with separators of thousands: 10,000 and 0.25."""
    return f"{Decimal(repr(value)).normalize():,f}"
