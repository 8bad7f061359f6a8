"""What the counts of a plan are counts of, in a word."""

from __future__ import annotations

from django import template

from dpportal.charts.counted_word import counted_word, of_number as word_of_number
from mechanisms.accounting import PrivacyUnit

register = template.Library()


@register.filter
def counted(counts: PrivacyUnit | bool | str) -> str:
    """“people”, or “rows” where a person may have several.

    counts: the unit of a plan's loss; or whether rows are counted, as stored pages say it, empty where they do not.
    """
    are_rows = counts.counts_rows if isinstance(counts, PrivacyUnit) else bool(counts)
    return counted_word(2 if are_rows else 1)


@register.filter
def of_number(word: str, number: object) -> str:
    """“person” or “row” in place of what `counted` says, for the number 1, however it is written."""
    return word_of_number(word, number)
