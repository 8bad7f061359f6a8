"""What a stream clips, wherever a page names what is counted."""

from __future__ import annotations

from django import template
from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _

from dpportal.platform.json_types import Json
from dpportal.streams.measure import summed_bounds
from dpportal.streams.models import Stream

register = template.Library()


@register.filter
def at_most(stream: Stream) -> str:
    """Goes on with the sentence of what is counted; empty where nothing is clipped."""
    if not stream.largest_increment:
        return ""
    limit = _("at most %(largest)s in a period: more count as %(largest)s, also where this page says “true”")
    return "; " + limit % {"largest": intcomma(stream.largest_increment)}


@register.filter
def summed_column(stream: Stream) -> Json:
    """Name and declared bounds of the column that is added up."""
    lower, upper = summed_bounds(stream)
    return {"name": stream.summed, "lower": intcomma(lower), "upper": intcomma(upper)}
