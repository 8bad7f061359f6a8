"""How numbers are written on pages."""

from __future__ import annotations

import math
from decimal import Decimal

from django import template

from dpportal.budgets.amounts import plain

register = template.Library()


@register.filter
def amount(value: Decimal | None) -> str:
    """An amount of privacy loss: 0.25, 1.00, 0.000001."""
    return "–" if value is None else plain(value)


@register.filter
def significant(value: float | str | None, digits: int = 3) -> str:
    """A number with so many significant digits and thousands separators: 1,234; 0.0312; –."""
    if not isinstance(value, int | float) or not math.isfinite(value):
        return "–"
    if value == 0:
        return "0"
    decimals = digits - 1 - math.floor(math.log10(abs(value)))
    return f"{round(value, decimals):,.{max(0, decimals)}f}"


@register.filter
def percent(value: float | str | None) -> str:
    """A share as a percentage with one decimal: 95.4 %."""
    return f"{100 * value:.1f} %" if isinstance(value, int | float) else "–"


@register.filter
def at(mapping: dict[str, object], key: str) -> object:
    """The entry of a mapping whose key is a variable."""
    return mapping.get(key, "")
