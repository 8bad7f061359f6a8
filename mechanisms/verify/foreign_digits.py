"""Digits that are no ASCII ones, signs that nobody sees, and blanks within a number: portals write none of them.

“7⁰”, “⑦⑧” and “7” and “8” with a blank of no width between them are read as other numbers than those that a program
finds in them. Names of a release may have such signs, and the texts have them as the names do.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator

from mechanisms.json_types import JsonObject
from mechanisms.number_text import power_of_ten
from mechanisms.verify.json_values import leaves
from mechanisms.verify.shown_numbers import NUMBER

# Of a number below this the statement says a power of ten.
_SMALL = 1e-3
# Decimal and other digits, fractions and circled numbers; signs of control and format; rings and keys around a digit.
_CATEGORIES = frozenset({"Nd", "Nl", "No", "Cc", "Cf", "Me"})
# Of other categories, though nothing is seen of them.
_UNSEEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")
_SIGNS = frozenset("⁺⁻")
_VARIANTS = frozenset(map(chr, range(0xFE00, 0xFE10)))
# Those that end lines, and move what follows.
_LINES = frozenset("\t\n\r")
# As wide as a blank between words.
_WIDE = frozenset("\u00a0\u3000")


def foreign(text: str, own: str) -> Iterator[str]:
    """Each run of digits that has a sign which no portal writes; own: the names of a release, which may have it."""
    # Thousands may be parted by a narrow blank, and powers of ten are raised.
    read = NUMBER.sub(lambda number: number[0] if number[0].isascii() else "0", text)
    signs = {sign for sign in set(read) if not sign.isascii() or unicodedata.category(sign) == "Cc"} - _LINES
    strange = "".join(sorted(sign for sign in signs if _is_strange(sign)))
    between = "".join(sorted(sign for sign in signs if _joins_digits(sign)))
    patterns = [f"(?<![0-9])[0-9]*(?:[{strange}]+[0-9]*)+"] if strange else []
    patterns += [f"(?<![0-9])[0-9]+(?:[{between}]+[0-9]+)+"] if between else []
    for pattern in patterns:
        runs = (match[0] for match in re.finditer(pattern, read))
        yield from (run for run in dict.fromkeys(runs) if run not in own)


def own_words(release: JsonObject) -> str:
    """Those of release.json, whose names may have any sign, and the powers of ten of its small numbers."""
    values = [value for path, value in leaves(release) if path != "statement"]
    small = (value for value in values if isinstance(value, float) and 0 < value < _SMALL)
    powers = {math.floor(math.log10(value)) + more for value in small for more in (0, 1)}
    return "\n".join([*map(str, values), *map(power_of_ten, powers)])


def _is_strange(sign: str) -> bool:
    """Also what is read as a digit with something beside it: “㏦” for the seventh day."""
    has_digit = any(map(str.isdigit, unicodedata.normalize("NFKC", sign)))
    return has_digit or unicodedata.category(sign) in _CATEGORIES or sign in _UNSEEN | _VARIANTS | _SIGNS


def _joins_digits(sign: str) -> bool:
    """Marks over, under or through a digit, and blanks that are narrower than those between words."""
    category = unicodedata.category(sign)
    return (category.startswith("M") or category in ("Zs", "Zl", "Zp")) and sign not in _WIDE
