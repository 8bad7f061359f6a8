"""By whom neighbouring tables differ, in the words that pages have for it."""

from __future__ import annotations

from django import template
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

register = template.Library()

# As the page calls them on which a curator says who is protected.
NEIGHBOURS = {
    "add-remove": _("one person, added or removed"),
    "replace-one": _("one person, replaced by another"),
}


@register.filter
def neighbours_in_words(name: str) -> str | Promise:
    """By whom neighbouring tables differ."""
    return NEIGHBOURS.get(name, name)
