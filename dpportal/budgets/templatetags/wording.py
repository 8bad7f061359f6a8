"""By whom neighbouring tables differ, in the words that pages have for it."""

from __future__ import annotations

from django import template
from django.utils.translation import gettext

from dpportal.datasets.protection import HOW_NEIGHBOURS_DIFFER

register = template.Library()


@register.filter
def neighbours_in_words(name: str) -> str:
    """By whom neighbouring tables differ."""
    return gettext(HOW_NEIGHBOURS_DIFFER[name]) if name in HOW_NEIGHBOURS_DIFFER else name
