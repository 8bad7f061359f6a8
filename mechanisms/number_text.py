"""Numbers as texts write them."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

PATTERN = "[-+]?(?:[0-9]{1,30}(?:[.][0-9]{0,30})?|[.][0-9]{1,30})(?:[eE][-+]?[0-9]{1,3})?"


def number_written(text: str) -> Fraction | None:
    """The number of a plain or scientific notation, exactly; None if the text is none. 1, 1.0 and 01 are one number."""
    return Fraction(text) if re.fullmatch(PATTERN, text) else None


def with_two_decimals(number: str) -> str:
    """A plain number as amounts of privacy loss are written everywhere: at least two decimals, 0.50 and 1.00."""
    units, _, decimals = number.partition(".")
    return f"{units}.{decimals.ljust(2, '0')}"


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
# Smaller numbers are written by a power of ten.
_SMALL = Fraction(1, 100)


def power_of_ten(exponent: int) -> str:
    """As people write it: 10⁻⁶."""
    return f"10{str(exponent).translate(_RAISED)}"


def small_text(number: Fraction) -> str:
    """A number of at least 0, such as a δ, with up to 15 digits: 10⁻⁶, 2.5 × 10⁻⁷, 0.05, 0."""
    written = Decimal(number.numerator) / Decimal(number.denominator)
    if number >= _SMALL or not number:
        return f"{Decimal(f'{written:.15g}').normalize():f}"
    digits, _e, exponent = f"{written:.14e}".partition("e")
    factor = digits.rstrip("0").rstrip(".")
    power = power_of_ten(int(exponent))
    return power if factor == "1" else f"{factor} × {power}"
