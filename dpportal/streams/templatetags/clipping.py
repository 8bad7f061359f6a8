"""What a stream clips, wherever a page names what is counted."""

from __future__ import annotations

from django import template
from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _

from dpportal.datasets.unread_values import unread_cells, unread_text
from dpportal.platform.json_types import Json
from dpportal.streams.measure import counted_by, summed_bounds
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


@register.filter
def unread_where(stream: Stream) -> str:
    """In which counted cell what is missing or unreadable in its column counts unseen; empty if in none."""
    version = stream.domain_version or stream.dataset.current_domain()
    if not stream.column or version is None or not stream.dataset.had_table:
        return ""
    counted = counted_by(stream, version.domain())
    own = counted.column
    return unread_text(unread_cells([own])) if own is not None and own.takes_unread in counted.cells else ""
