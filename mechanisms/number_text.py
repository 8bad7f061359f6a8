"""Numbers as texts write them."""

from __future__ import annotations

import re
from fractions import Fraction

PATTERN = "[-+]?(?:[0-9]{1,30}(?:[.][0-9]{0,30})?|[.][0-9]{1,30})(?:[eE][-+]?[0-9]{1,3})?"


def number_written(text: str) -> Fraction | None:
    """The number of a plain or scientific notation, exactly; None if the text is none. 1, 1.0 and 01 are one number."""
    return Fraction(text) if re.fullmatch(PATTERN, text) else None
