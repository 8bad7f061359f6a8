"""How numbers are written on pages."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from decimal import ROUND_FLOOR, ROUND_HALF_UP, Decimal
from fractions import Fraction
from html import escape
from typing import Any

from django import template
from django.contrib.humanize.templatetags.humanize import intcomma
from django.template.defaultfilters import floatformat
from django.utils.formats import get_format, localize
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _, ngettext

from dpportal.budgets.amounts import plain
from mechanisms.number_text import small_text

register = template.Library()
# In seconds.
MINUTE = 60
# Of margins of 95 % one in so many may miss; pages with fewer margins than that do not say how many do.
ONE_IN, MANY_MARGINS = 20, 100
TENTH = Decimal("0.1")
# Of numbers below 0; Python and Django write a hyphen.
MINUS = "\N{MINUS SIGN}"
# The sign of a margin, with its spaces and the tag of the element that it begins.
_SIGN = re.compile(r"\s+((?:<[^<>]*>\s*)?±)\s+")
_PER_CENT = re.compile(r"(?<=\d)\s+(?=%)")


@register.filter
def amount(value: Decimal | None) -> str:
    """An amount of privacy loss: 0.25, 1.00, 0.000001."""
    return "–" if value is None else plain(value)


@register.filter
def left(value: Decimal) -> str:
    """What is left of a budget, rounded down: two decimals, and of less than 0.1 two significant digits."""
    places = min(-2, value.adjusted() - 1) if value else -2
    return plain(value.quantize(Decimal(1).scaleb(places), ROUND_FLOOR))


@register.filter
def delta(value: Decimal) -> str:
    """A δ: 10⁻⁷, 2.5 × 10⁻⁷."""
    return small_text(Fraction(value))


@register.filter
def significant(value: Decimal | float | str | None, digits: int = 3) -> str:
    """A number with so many significant digits and thousands separators: 1,230; 0.0312; –."""
    if not isinstance(value, int | float | Decimal) or not math.isfinite(value):
        return "–"
    if value == 0:
        return "0"
    decimals = digits - 1 - math.floor(math.log10(abs(float(value))))
    return f"{round(value, decimals):,.{max(0, decimals)}f}"


@register.filter
def times(number: int, other: int) -> int:
    """A product, such as of periods and series."""
    return number * other


@register.filter
def may_miss(margins: int) -> int | None:
    """How many of so many margins miss the true number, at most and on average; None where they are few."""
    return (margins + ONE_IN // 2) // ONE_IN if margins >= MANY_MARGINS else None


@register.filter
def number_cells(row: Sequence[Any], labels: int) -> SafeString:
    """The cells of a table's row that begins with so many labels, then numbers: a filter, as a page has thousands."""
    heads = "".join(f"<td>{conditional_escape(localize(cell))}</td>" for cell in row[:labels])
    numbers = "".join(f'<td class="number">{grouped(cell)}</td>' for cell in row[labels:])
    return mark_safe(heads + numbers)  # noqa: S308 (labels are escaped, numbers are made here)


@register.filter
def measured_cells(row: Sequence[Any], labels: int) -> SafeString:
    """The cells of a row that begins with so many labels, then has a count and both ends of its margin."""
    count, _lower, upper = row[labels:]
    return number_cells([*row[:labels], count, f"± {grouped(upper - count)}"], labels)


@register.filter
def compared_cells(row: Sequence[Any], labels: int) -> SafeString:
    """The same of a row that goes on with noisy and adjusted count, the ends of a margin, and the true count."""
    noisy, adjusted, _lower, upper, true = row[labels:]
    return number_cells([*row[:labels], noisy, f"± {grouped(upper - noisy)}", adjusted, true], labels)


@register.filter
def count_rows(rows: Sequence[Sequence[Any]], labels: int) -> SafeString:
    """The lines of a table of counts: so many labels, noisy count, its margin if it has one, adjusted count.

    rows: of each labels, noisy and adjusted count, and the ends of the interval if there is one. A filter for all of
    them, since a page has thousands: how the language writes numbers is looked up once.
    """
    written = _integers()
    return mark_safe("".join(_count_row(row, labels, written) for row in rows))  # noqa: S308 (as in number_cells)


def _count_row(row: Sequence[Any], labels: int, written: Callable[[Any], str]) -> str:
    # Plain words need no look at what Django may have marked as safe.
    heads = "".join(
        [
            f'<th scope="row">{escape(cell) if type(cell) is str else conditional_escape(localize(cell))}</th>'
            for cell in row[:labels]
        ]
    )
    noisy, adjusted, *ends = row[labels:]
    margin = f'<td class="number margin">± {written(ends[1] - noisy)}</td>' if ends else ""
    first, last = written(noisy), written(adjusted)
    return f'<tr>{heads}<td class="number">{first}</td>{margin}<td class="number">{last}</td></tr>'


def _integers() -> Callable[[Any], str]:
    """`grouped` for many numbers."""
    thousands = str(get_format("THOUSAND_SEPARATOR"))
    by_threes = get_format("NUMBER_GROUPING") == 3

    def written(value: Any) -> str:
        if not by_threes or type(value) is not int:
            return grouped(value)
        text = f"{value:,}".replace(",", thousands)
        return f"{MINUS}{text[1:]}" if value < 0 else text

    return written


@register.filter
def answer_rows(rows: Sequence[Sequence[Any]]) -> SafeString:
    """The lines of a table of answers: number, words, answer, margin.

    rows: of each these; answer and margin are whole numbers, or texts. A filter, as `count_rows` is.
    """
    integers = _integers()

    def written(number: int | str) -> str:
        return _signed(escape(number)) if isinstance(number, str) else integers(number)

    lines = [
        f'<tr><td class="number">{integers(number)}</td><th scope="row">{escape(words)}</th>'
        f'<td class="number">{written(answer)}</td><td class="number margin">± {written(margin)}</td></tr>'
        for number, words, answer, margin in map(_with_margin, rows)
    ]
    return mark_safe("".join(lines))  # noqa: S308 (words are escaped, numbers are made here)


def _with_margin(row: Sequence[Any]) -> Sequence[Any]:
    """A row of answers; of a page that is still to be stored anew, which has its standard error and both ends."""
    if len(row) == 4:
        return row
    number, words, answer, _error, _lower, upper = row
    return number, words, round(answer), math.ceil(upper - answer)


@register.filter(is_safe=True)
def margin(upper: float, estimate: float) -> str:
    """How far an interval reaches beyond its estimate: ± 12.4."""
    return f"± {tenths(float(upper) - float(estimate))}"


@register.filter(is_safe=True)
def unbroken(written: str) -> str:
    """A part of a page in which no line ends between a number, its margin and a per-cent sign."""
    if "±" in written:
        written = _SIGN.sub("\u00a0\\1\u00a0", written)
    return _PER_CENT.sub("\u00a0", written) if "%" in written else written


@register.filter(is_safe=True)
def grouped(value: Any) -> str:
    """What `intcomma` says with a minus sign, in a fifth of its time where thousands are grouped by threes."""
    by_threes = type(value) is int and get_format("NUMBER_GROUPING") == 3
    return _integers()(value) if by_threes else _signed(str(conditional_escape(intcomma(value))))


@register.filter(is_safe=True)
def tenths(value: object) -> str:
    """What `floatformat:"1g"` says with a minus sign, in a quarter of its time."""
    return _tenths()(value) if type(value) is float else _signed(str(floatformat(value, "1g")))


def _tenths() -> Callable[[Any], str]:
    """`tenths` for many numbers."""
    by_threes = get_format("NUMBER_GROUPING") == 3
    separators = str(get_format("THOUSAND_SEPARATOR")), str(get_format("DECIMAL_SEPARATOR"))

    def written(value: Any) -> str:
        if not by_threes or not math.isfinite(value):
            return _signed(str(floatformat(value, "1g")))
        rounded = Decimal(repr(value)).quantize(TENTH, ROUND_HALF_UP)
        return _separated(f"{rounded if rounded else TENTH * 0:,}", *separators)

    return written


def _signed(written: str) -> str:
    return f"{MINUS}{written[1:]}" if written.startswith("-") else written


def _separated(written: str, thousands: str, point: str) -> str:
    """An English number with the separators of a language."""
    signed = _signed(written)
    if (thousands, point) == (",", "."):
        return signed
    return signed.replace(",", "\0").replace(".", point).replace("\0", thousands)


@register.filter
def percent(value: float | str | None) -> str:
    """A share as a percentage with one decimal: 95.4 %. Only what is certain is 0.0 % or 100.0 %."""
    if not isinstance(value, int | float):
        return "–"
    if 0.9995 <= value < 1:
        return _("over 99.9 %")
    return _("under 0.1 %") if 0 < value < 0.0005 else f"{100 * value:.1f} %"


@register.filter
def chance(value: float | str | None) -> str:
    """A chance as a percentage: over 99.9 % where a float is 1, as nothing that noise decides is certain."""
    return percent(min(value, math.nextafter(1, 0)) if isinstance(value, int | float) else value)


@register.filter
def short_percent(value: float | str | None) -> str:
    """A share as a percentage with two significant digits: 9.5 %; 18 %."""
    if not isinstance(value, int | float):
        return "–"
    return f"{significant(100 * value, 2)} %"


@register.filter
def lasting(seconds: float | str | None) -> str:
    """How long something takes, as people say it: less than a second; 12 seconds; 3 minutes."""
    if not isinstance(seconds, int | float):
        return "–"
    if seconds < 1:
        return _("less than a second")
    if (full := round(seconds)) < MINUTE:
        return ngettext("%(seconds)s second", "%(seconds)s seconds", full) % {"seconds": full}
    minutes = round(seconds / MINUTE)
    return ngettext("%(minutes)s minute", "%(minutes)s minutes", minutes) % {"minutes": minutes}


@register.filter
def about_lasting(seconds: float) -> str:
    """How long something is expected to take: about 20 seconds; about 3 minutes."""
    if seconds < MINUTE:
        tens = 10 * max(1, math.ceil(seconds / 10))
        return _("about %(seconds)s seconds") % {"seconds": tens}
    minutes = math.ceil(seconds / MINUTE)
    return ngettext("about %(minutes)s minute", "about %(minutes)s minutes", minutes) % {"minutes": minutes}


@register.filter
def at(mapping: dict[str, object], key: str) -> object:
    """The entry of a mapping whose key is a variable."""
    return mapping.get(key, "")
