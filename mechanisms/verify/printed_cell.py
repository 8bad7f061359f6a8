"""One cell of Table 1, read by its form: which of its numbers is an estimate, which a margin or an end, and of what.

A cell has the estimates of its statistics as a pattern, then their margins in the same pattern: “50 [25, 75] [48 to 52
[22 to 28, ± 4]]”. So each number stands for one thing, and is compared with that alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np

from mechanisms.verify.shown_numbers import DATE, Rounding, days_of, is_shown

NUMBER = f"(?:{DATE.pattern}|[-\u2212+]?[0-9][0-9,\u202f]*(?:\\.[0-9]+)?)"
# How several numbers stand in one cell, by how many there are; a range has two as a number with a share has.
PATTERNS = {1: ("{}",), 2: ("{} ({})", "{} … {}"), 3: ("{} [{}, {}]",)}
_BEYOND = " or less| or more| or earlier| or later"
_UNIT = "(?: %| days?)?"
_VALUE = f"(?:–|(?P<value#>{NUMBER})(?P<limit#>{_BEYOND})?{_UNIT})"
_MARGIN = (
    f"(?:–|± (?P<margin#>{NUMBER}){_UNIT}|± less than {NUMBER}{_UNIT}"
    f"|(?P<low#>{NUMBER})(?P<limitlow#>{_BEYOND})? to (?P<high#>{NUMBER})(?P<limithigh#>{_BEYOND})?{_UNIT}"
    f"|{NUMBER}(?:{_BEYOND}){_UNIT})"
)
_SHARE = "|".join(
    (
        f"at most (?P<high0>{NUMBER}) %",
        f"at least (?P<low0>{NUMBER}) %",
        f"between (?P<low1>{NUMBER}) % and (?P<high1>{NUMBER}) %",
    )
)
# By a name in the form: which of estimate, lower and upper end it is, and how it is rounded.
_ROUNDED = {"value": Rounding.NEAREST, "low": Rounding.DOWN, "high": Rounding.UP, "margin": Rounding.UP}


def strange(cell: str, lines: np.ndarray, scales: Sequence[float]) -> list[str] | None:
    """The numbers that are not those of their place; None where the cell has no form that is known.

    lines: (parts, 3) estimate and ends of the interval of each part, in the order of the cell; scales: 100 of a share.
    """
    if len(lines) == 1 and (said := re.fullmatch(_SHARE, cell)):
        return [text for name, text in _named(said) if not _is_of(text, name, 100 * lines[0])]
    for form in _forms(len(lines)):
        if found := form.fullmatch(cell):
            return [
                text
                for name, text in _named(found)
                if not _is_limit(name, found)
                and not _is_end_beyond(text, name, found, lines[int(name[-1])])
                and not _is_of(text, name, scales[int(name[-1])] * lines[int(name[-1])])
            ]
    return None


def _named(found: re.Match[str]) -> Iterator[tuple[str, str]]:
    return ((name, text) for name, text in found.groupdict().items() if text and not name.startswith("limit"))


def _is_limit(name: str, found: re.Match[str]) -> bool:
    """Whether a value is said to lie beyond a limit, which is declared and not estimated."""
    return name.startswith("value") and found[f"limit{name[-1]}"] is not None


def _is_end_beyond(text: str, name: str, found: re.Match[str], line: np.ndarray) -> bool:
    """Whether an end is said to lie at a day or beyond it, and does; days are known to steps of months or years."""
    kind, place = name[:-1], name[-1]
    day = days_of(text)
    if kind not in ("low", "high") or day is None or found.groupdict().get(f"limit{kind}{place}") is None:
        return False
    return bool(line[1] <= day) if kind == "low" else bool(line[2] >= day)


def _is_of(text: str, name: str, line: np.ndarray) -> bool:
    estimate, low, high = line
    kind = name[:-1]
    values = {"value": estimate, "low": low, "high": high, "margin": max(estimate - low, high - estimate)}
    return is_shown(text.removeprefix("+"), float(values[kind]), _ROUNDED[kind])


@cache
def _forms(parts: int) -> tuple[re.Pattern[str], ...]:
    """A page has the margin without the brackets that stand around it in a text."""
    return tuple(map(re.compile, _written(parts)))


def _written(parts: int) -> Iterator[str]:
    for pattern in PATTERNS.get(parts, ()):
        value, margin = (_filled(pattern, part, parts) for part in (_VALUE, _MARGIN))
        yield f"{value}(?: {margin})?"
        yield f"{value} \\[{margin}\\]"


def _filled(pattern: str, part: str, parts: int) -> str:
    texts = [re.escape(text) for text in pattern.split("{}")]
    own = [part.replace("#", str(place)) for place in range(parts)]
    return "".join(text + each for text, each in zip(texts, [*own, ""], strict=True))
