"""Means of single columns, in words: of the rows, by the noisy counts, and what noise will do to them."""

from __future__ import annotations

import datetime as dt
import math

from dpportal.platform.json_types import Json
from dpportal.releases.products.shared import bin_error
from dpportal.releases.products.shared.numbers import decimals_for, number_text
from mechanisms.domain import Date
from mechanisms.microdata.column_means import ColumnMean, Ordered, column_means, most_noise_error
from mechanisms.microdata.mechanism import margin_laws
from mechanisms.microdata.plan import MicrodataPlan, MicrodataResult

# Beside a mean whose counts had no noise to speak of.
_DECIMALS = 2


def lines(plan: MicrodataPlan, result: MicrodataResult) -> list[Json]:
    """Of each column of numbers or dates: its name, the rows' mean, both ends by the noisy counts, the bins' part."""
    return [_line(mean) for mean in column_means(plan, result)]


def _line(mean: ColumnMean) -> Json:
    lower, upper = float(mean.measured.lower[0]), float(mean.measured.upper[0])
    half = (upper - lower) / 2
    decimals = decimals_for(half) if half > 0 else _DECIMALS
    ends = [] if math.isnan(half) else [_text(end, mean.attribute, decimals) for end in (lower, upper)]
    bins = bin_error.amount(mean.bins, mean.attribute) if mean.bins else ""
    return {
        "column": mean.attribute.name,
        "rows": _text(mean.rows, mean.attribute, decimals),
        "measured": ends,
        "bins": bins,
    }


def _text(value: float, attribute: Ordered, decimals: int) -> str:
    if isinstance(attribute, Date):
        return dt.date.fromordinal(math.floor(value)).isoformat()
    return number_text(value, decimals)


def noise_in_words(plan: MicrodataPlan, people: int) -> list[str]:
    """By how much noise can move a mean of each column's counts, largest share of its range first."""
    columns = zip(plan.domain.attributes, margin_laws(plan), strict=True)
    return bin_error.listed(
        [(most_noise_error(a, law, people), a) for a, law in columns if isinstance(a, Ordered)]
    )
