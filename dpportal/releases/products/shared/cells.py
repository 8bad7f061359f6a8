"""A number as text: the estimate and its margin, "4,267 ± 38", or "12 [0 to 39]" where one side reaches farther."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.utils.translation import gettext as _, gettext_lazy

from dpportal.platform.json_types import Json
from dpportal.releases.products.shared.numbers import decimals_for, number_text, plain_number
from mechanisms.box_queries import CellSum
from mechanisms.moments.column import day_of
from mechanisms.moments.estimates import NOTHING, Interval

# In a cell of several numbers, for one that is not determined: for that alone.
UNREPORTED = "–"
DAYS = gettext_lazy(" days")
UNITS = {"share": " %", "days": DAYS, "plus-days": DAYS}
# Of the longer side: where the shorter one is less, the number lies near one end.
NEAR_END = 1 / 4
# Of the interval of a share: a longer one is written instead of the share, and so is one that reaches 0 or 1.
WIDE = 0.5
# Of a margin, by which its two sides may differ and are one; a margin has two digits.
ROUNDING = 1 / 10
# Differences.
SIGNED = ("points", "plus", "plus-days")
# Standard deviations: one that may be 0 is what noise alone makes of it.
SPREADS = ("spread", "days")


class ClippingLimits(NamedTuple):
    """Beyond which numbers a value is known only to lie: values beyond a declared bound count as the bound.

    lowest, highest: a value at one of them may be any one beyond it. step: that values may lie in, above 0.
    """

    lowest: float
    highest: float
    step: float

    def text(self, value: float, style: str) -> str:
        """How a value at or beyond one of them is written; empty of any other."""
        if self.lowest < value < self.highest:
            return ""
        is_low = value <= self.lowest
        if style == "day":
            text = _("%(limit)s or earlier") if is_low else _("%(limit)s or later")
            return text % {"limit": day_of(self.lowest if is_low else self.highest).isoformat()}
        text = _("%(limit)s or less") if is_low else _("%(limit)s or more")
        return text % {"limit": plain_number(self.lowest if is_low else self.highest).replace("-", "−")}


class CellNumber(NamedTuple):
    """An estimate with the ends of its interval, and how it is written.

    style: "people", "whole" (numbers), "share", "points" (of shares), "plus" and "plus-days" (with their signs), "day",
    "spread" and "days" (standard deviations) or "".
    truth: without noise, NaN where it is not known.
    limits: of a value of people, such as a quantile; of other numbers None.
    """

    value: float
    lower: float
    upper: float
    style: str = ""
    truth: float = math.nan
    limits: ClippingLimits | None = None

    @property
    def scale(self) -> float:
        return 100.0 if self.style in ("share", "points") else 1.0

    @property
    def half_width(self) -> float:
        """The wider side, in what is written."""
        return self.scale * max(self.upper - self.value, self.value - self.lower)

    @property
    def is_lopsided(self) -> bool:
        """Whether its sides differ by more than rounding: then no one margin is that of both.

        Nor is one where an end is the last possible number, and a margin would reach beyond.
        """
        longer, shorter = self.half_width, self.scale * min(self.upper - self.value, self.value - self.lower)
        is_last = self.lower == 0 or (self.style == "share" and self.upper == 1)
        rounding = 0.0 if is_last else max(10.0**-self.decimals, ROUNDING * longer)
        is_near_end = shorter < NEAR_END * longer
        return self.reaches_limit or is_near_end or longer - shorter > rounding

    @property
    def reaches_limit(self) -> bool:
        """Whether an end of the interval is a limit, beyond which the true value may lie."""
        return self.limits is not None and (
            self.lower <= self.limits.lowest or self.upper >= self.limits.highest
        )

    @property
    def is_beyond_limit(self) -> bool:
        """Whether all of the interval lies at or beyond one limit."""
        return self.limits is not None and (
            self.upper <= self.limits.lowest or self.lower >= self.limits.highest
        )

    @property
    def is_public(self) -> bool:
        """Whether it is a number of people that has no noise; the truth of a comparison has none, too."""
        return self.style == "people" and self.lower == self.upper

    @property
    def is_unsure_share(self) -> bool:
        """Whether it is a share of which the ends of its interval say more than itself."""
        reaches_end = self.lower <= 0 or self.upper >= 1
        return self.style == "share" and (reaches_end or self.upper - self.lower > WIDE)

    @property
    def is_unsure_spread(self) -> bool:
        """Whether it is a standard deviation that may be 0, of which the ends of its interval say more than itself."""
        return self.style in SPREADS and self.lower <= 0

    @property
    def is_determined(self) -> bool:
        return not math.isnan(self.value)

    @property
    def is_outside(self) -> bool:
        """Whether the truth is known and lies outside the interval."""
        return self.lower > self.truth or self.truth > self.upper

    @property
    def decimals(self) -> int:
        """Those that two digits of its own margin bear, wherever it is written: in a sentence, a chart or a table."""
        if self.style in ("people", "whole"):
            return 0
        return decimals_for(max(self.half_width, self.limits.step if self.limits else 0.0))


@dataclass(frozen=True)
class Pattern:
    """How several numbers stand in one cell: `{}` for each."""

    text: str

    def cell(self, parts: Sequence[CellNumber]) -> Json:
        """text, each number with its margin, empty where nothing is told; what it is sorted by; the truth if known."""
        last = parts[-1]
        if len(parts) == 1 and last.is_unsure_share:
            shown: Json = {"text": range_text(last), "sort": last.value}
        elif len(parts) == 1 and last.is_unsure_spread:
            shown = {"text": ends_text(last), "sort": last.value}
        elif not parts[0].is_determined:
            shown = {"text": "", "sort": -1e300}
        else:
            text = self._filled([_with_margin(part) for part in parts])
            shown = {"text": text, "sort": last.value if last.is_determined else -1e300}
        if not math.isnan(parts[0].truth):
            shown["true"] = self._filled([_written(part, part.truth) for part in parts])
            shown["outside"] = any(part.is_determined and part.is_outside for part in parts)
        return shown

    def _filled(self, texts: Sequence[str]) -> str:
        return self.text.format(*texts)


COUNT_AND_SHARE = Pattern("{} ({})")
MEAN_AND_DEVIATION = Pattern("{} ({})")
MEDIAN_AND_QUARTILES = Pattern("{} ({}, {})")
RANGE = Pattern("{}, {}")
SINGLE = Pattern("{}")


def no_total() -> Json:
    """The cell of dates, which have no total."""
    return {"text": _("none"), "sort": 0}


def cell_number(
    interval: Interval, place: tuple[int, ...], style: str, truth: Interval | None = None
) -> CellNumber:
    """One number of arrays of estimates."""
    value, lower, upper = (float(x[place]) for x in (interval.estimate, interval.lower, interval.upper))
    return CellNumber(value, lower, upper, style, math.nan if truth is None else float(truth.estimate[place]))


def added_up(number: CellNumber, cells: int) -> CellSum:
    """A number that a reader added up of so many."""
    ends = (number.lower, number.upper) if number.is_lopsided else None
    return CellSum(number.value, number.half_width, cells, ends)


def range_text(part: CellNumber) -> str:
    """Of a share by itself: what its interval tells, such as “0 to 60 %”; empty where that is nothing."""
    is_anything = part.lower < NOTHING and part.upper > 1 - NOTHING
    return "" if is_anything else ends_text(part)


def ends_text(part: CellNumber) -> str:
    """Both ends of the interval, rounded outwards: 0 to 39."""
    low = _written(part, part.lower, _round_down).removesuffix(str(UNITS.get(part.style, "")))
    return _("%(low)s to %(high)s") % {"low": low, "high": _written(part, part.upper, _round_up)}


def _written(part: CellNumber, value: float, rounded: Callable[[float], float] = float) -> str:
    """rounded: to a whole number of the last digit."""
    if math.isnan(value):
        return UNREPORTED
    if part.limits and (beyond := part.limits.text(value, part.style)):
        return beyond
    if part.style == "day":
        return day_of(value).isoformat()
    text = number_text(_rounded(part.scale * value, part.decimals, rounded), part.decimals)
    if part.style in SIGNED and value > 0 and text.strip("0.,"):
        text = f"+{text}"
    return text.replace("-", "−") + str(UNITS.get(part.style, ""))


def _rounded(value: float, decimals: int, rounded: Callable[[float], float]) -> float:
    return rounded(value) if rounded is float else rounded(value * 10**decimals) / 10**decimals


def _with_margin(part: CellNumber) -> str:
    if not part.is_determined:
        return UNREPORTED
    value, margin = _written(part, part.value), margin_text(part)
    return f"{value} {margin}" if margin else value


def margin_text(part: CellNumber) -> str:
    """The margin, rounded up to its two digits; of a lopsided interval both ends in brackets, rounded outwards.

    Empty of a value beyond a limit, which says by itself where the true one lies, and of a public number of people.
    """
    if not math.isfinite(part.half_width):
        return UNREPORTED
    if part.is_beyond_limit or part.is_public:
        return ""
    if part.limits and part.lower == part.upper:
        return _within_step(part.limits.step, part.style)
    if part.is_lopsided:
        return f"[{ends_text(part)}]"
    unit = DAYS if part.style in ("day", "days", "plus-days") else ""
    return f"± {number_text(_rounded(part.half_width, part.decimals, _round_up), part.decimals)}{unit}"


def _within_step(step: float, style: str) -> str:
    """Of a value known to its step: no margin is 0."""
    if style == "day":
        return _("± less than 1 day")
    return _("± less than %(step)s") % {"step": plain_number(step)}


def _round_down(value: float) -> float:
    # What a float is off by is no digit.
    return math.floor(value + 1e-9)


def _round_up(value: float) -> float:
    return math.ceil(value - 1e-9)
