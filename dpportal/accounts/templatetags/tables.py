"""How tables stand on pages."""

from __future__ import annotations

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

register = template.Library()


@register.simple_block_tag
def framed_table(content: str, label: str, *heads: str, numbers: str = "") -> SafeString:
    """Rows in a table with these heads, in a frame that is moved by itself where the page is narrow.

    label: what the frame is called. numbers: the places, from 1, of the columns that hold numbers.
    """
    classes = (' class="number"' if str(place) in numbers.split() else "" for place, _ in enumerate(heads, 1))
    cells = format_html_join(
        "",
        '<th scope="col"{}>{}</th>',
        ((SafeString(c), head) for c, head in zip(classes, heads, strict=True)),
    )
    return format_html(
        '<div class="table-frame" tabindex="0" role="region" aria-label="{}">'
        "<table><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>",
        label,
        cells,
        content,
    )
