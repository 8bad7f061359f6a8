"""Means of single columns, in words: of the rows, by the noisy counts, and what noise will do to them."""

from __future__ import annotations

import datetime as dt
import math

from django.utils.translation import gettext as _

from dpportal.platform.json_types import Json
from dpportal.releases.products.shared import bin_error
from dpportal.releases.products.shared.numbers import decimals_for, number_text
from mechanisms.domain import Date, Ordered
from mechanisms.microdata.column_means import ColumnMean, column_means, most_noise_errors
from mechanisms.microdata.plan import MicrodataPlan, MicrodataResult
from mechanisms.moments.estimates import Interval

# Beside a mean whose counts had no noise to speak of.
_DECIMALS = 2


def lines(plan: MicrodataPlan, result: MicrodataResult) -> list[Json]:
    """Of each column of numbers or dates: its name, the rows' mean, the mean with its margin by the noisy counts and by
    the sum of the column, empty where nothing is told, and how far the bins can move the mean by the counts."""
    return [_line(mean) for mean in column_means(plan, result)]


def _line(mean: ColumnMean) -> Json:
    intervals = [own for own in (mean.counted, mean.summed) if own is not None]
    halves = [float(own.upper[0] - own.lower[0]) / 2 for own in intervals]
    narrowest = min((half for half in halves if half > 0), default=0.0)
    decimals = decimals_for(narrowest) if narrowest else _DECIMALS

    def with_margin(own: Interval | None) -> str:
        if own is None or math.isnan(own.lower[0]):
            return ""
        middle, half = (float(own.lower[0] + own.upper[0]) / 2, float(own.upper[0] - own.lower[0]) / 2)
        own_decimals = decimals_for(half) if half > 0 else _DECIMALS
        return f"{_text(middle, mean.attribute, own_decimals)} ± {_difference(half, mean.attribute, own_decimals)}"

    return {
        "column": mean.attribute.shown_name,
        "rows": _text(mean.rows, mean.attribute, decimals),
        "counted": with_margin(mean.counted),
        "summed": with_margin(mean.summed),
        "bins": bin_error.amount(mean.bins, mean.attribute) if mean.bins else "",
    }


def _text(value: float, attribute: Ordered, decimals: int) -> str:
    if isinstance(attribute, Date):
        return dt.date.fromordinal(math.floor(value)).isoformat()
    return number_text(value, decimals)


def _difference(value: float, attribute: Ordered, decimals: int) -> str:
    text = number_text(value, decimals)
    return _("%(number)s days") % {"number": text} if isinstance(attribute, Date) else text


def noise_in_words(plan: MicrodataPlan, people: int) -> list[str]:
    """By how much noise can move each column's mean, largest share of its range first."""
    return bin_error.listed(most_noise_errors(plan, people))


def bins_in_words(plan: MicrodataPlan) -> list[str]:
    """By how much the bins alone can, before anything is known; nothing where columns are added up."""
    return [] if plan.sums else bin_error.in_words(plan.domain)
