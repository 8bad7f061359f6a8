"""A number of the table as text: the estimate, and one margin, "± n"; with the truth below it for the curator alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.utils.translation import gettext_lazy

from dpportal.platform.json_types import Json
from dpportal.releases.products.shared.numbers import decimals_for, number_text
from mechanisms.moments.column import day_of
from mechanisms.moments.estimates import Interval

NOT_TOLD = "–"
DAYS = gettext_lazy(" days")
UNITS = {"share": " %", "days": DAYS, "plus-days": DAYS}
# Differences.
SIGNED = ("points", "plus", "plus-days")


class Told(NamedTuple):
    """An estimate with the ends of its interval, and how it is written.

    style: "people", "whole" (numbers), "share", "points" (of shares), "plus" and "plus-days" (with their signs), "day",
    "days" or "".
    truth: without noise, NaN where it is not known.
    """

    value: float
    lower: float
    upper: float
    style: str = ""
    truth: float = math.nan

    @property
    def scale(self) -> float:
        return 100.0 if self.style in ("share", "points") else 1.0

    @property
    def half_width(self) -> float:
        """The wider side, in what is written."""
        return self.scale * max(self.upper - self.value, self.value - self.lower)

    @property
    def is_determined(self) -> bool:
        return not math.isnan(self.value)

    @property
    def is_outside(self) -> bool:
        """Whether the truth is known and lies outside the interval."""
        return self.lower > self.truth or self.truth > self.upper

    @property
    def decimals(self) -> int:
        return 0 if self.style in ("people", "whole") else decimals_for(self.half_width)


@dataclass(frozen=True)
class Pattern:
    """How several numbers stand in one cell: `{}` for each."""

    text: str

    def cell(self, parts: Sequence[Told]) -> Json:
        """value, margin (empty where nothing is told) and what the cell is sorted by; the truth where it is known."""
        last = parts[-1]
        if not parts[0].is_determined:
            shown: Json = {"value": "", "margin": "", "sort": -1e300}
        else:
            values = [_written(part, part.value) if part.is_determined else NOT_TOLD for part in parts]
            margins = [_margin(part) for part in parts]
            shown = {
                "value": self._filled(values),
                "margin": self._filled(margins),
                "sort": last.value if last.is_determined else -1e300,
            }
        if not math.isnan(parts[0].truth):
            shown["true"] = self._filled([_written(part, part.truth) for part in parts])
            shown["outside"] = any(part.is_determined and part.is_outside for part in parts)
        return shown

    def _filled(self, texts: Sequence[str]) -> str:
        return self.text.format(*texts)


COUNT_AND_SHARE = Pattern("{} ({})")
MEAN_AND_DEVIATION = Pattern("{} ({})")
MEDIAN_AND_QUARTILES = Pattern("{} [{}, {}]")
RANGE = Pattern("{} … {}")
SINGLE = Pattern("{}")


def told(interval: Interval, place: tuple[int, ...], style: str, truth: Interval | None = None) -> Told:
    """One number of arrays of estimates."""
    value, lower, upper = (float(x[place]) for x in (interval.estimate, interval.lower, interval.upper))
    return Told(value, lower, upper, style, math.nan if truth is None else float(truth.estimate[place]))


def _written(part: Told, value: float) -> str:
    if math.isnan(value):
        return NOT_TOLD
    if part.style == "day":
        return day_of(value).isoformat()
    text = number_text(part.scale * value, part.decimals)
    if part.style in SIGNED and value > 0:
        text = f"+{text}"
    return text.replace("-", "−") + str(UNITS.get(part.style, ""))


def _margin(part: Told) -> str:
    """The margin, rounded up to its two digits."""
    if not part.is_determined or not math.isfinite(part.half_width):
        return NOT_TOLD
    half, decimals = part.half_width, part.decimals
    rounded = math.ceil(half * 10**decimals - 1e-9) / 10**decimals
    unit = DAYS if part.style in ("day", "days", "plus-days") else ""
    return f"± {number_text(rounded, decimals)}{unit}"
