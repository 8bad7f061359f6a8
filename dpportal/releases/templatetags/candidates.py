"""Among what a private choice was made."""

from __future__ import annotations

from django import template
from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import ngettext

from dpportal.platform.json_types import Json
from dpportal.platform.listed_names import in_sentence
from dpportal.platform.stored_texts import translated

register = template.Library()


@register.filter
def among(shown: Json) -> str:
    """Such as “4 declared values, Other and Missing”, by `declared_values` and `others` of what a page shows."""
    number: int = shown["declared_values"]
    declared = ngettext("%(number)s declared value", "%(number)s declared values", number)
    return in_sentence([declared % {"number": intcomma(number)}, *map(translated, shown["others"])])
