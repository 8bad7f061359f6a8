"""What the counts of a plan are counts of, in a word."""

from __future__ import annotations

from django import template

from dpportal.charts.counted_word import counted_word
from mechanisms.accounting import PrivacyUnit

register = template.Library()


@register.filter
def counted(counts: PrivacyUnit | bool | str) -> str:
    """“people”, or “rows” where a person may have several.

    counts: the unit of a plan's loss; or whether rows are counted, as stored pages say it, empty where they do not.
    """
    are_rows = counts.counts_rows if isinstance(counts, PrivacyUnit) else bool(counts)
    return counted_word(2 if are_rows else 1)
