"""A figure of a publication as a file by itself: what it shows, its source and its licence, in the light colours."""

from __future__ import annotations

import re
import textwrap
from functools import cache

from django.template.loader import render_to_string
from django.utils.translation import gettext as _

from dpportal.platform.json_types import Json
from dpportal.platform.listed_names import joint
from dpportal.publications.descriptions import styles
from dpportal.publications.metadata import Metadata

SVG = "image/svg+xml"
FONT = "'Source Sans 3', system-ui, 'Segoe UI', Roboto, Arial, sans-serif"
# In pixels: title and subtitle above the drawing, a line of notes, a name in the legend; letters of a line.
HEAD, LINE, NAME_GAP, LETTER, LINE_LETTERS = 48, 15, 34, 6.2, 128
_VARIABLE = re.compile(r"var\((--[\w-]+)\)")


def picture(figure: Json, metadata: Metadata) -> str:
    """An SVG drawing of a figure with `drawing`, for a report or a web page. Loads nothing and needs no style sheet."""
    drawn = figure["drawing"]
    legend = HEAD + drawn["height"]
    first = legend + (2 * LINE if drawn["names"] else LINE)
    lines = textwrap.wrap(figure["caption"], LINE_LETTERS) + textwrap.wrap(_source(metadata), LINE_LETTERS)
    context = {
        "title": metadata.title,
        "subtitle": figure["title"],
        "drawn": drawn,
        "top": HEAD,
        "names": _legend(drawn["names"]),
        "legend": legend,
        "notes": [(line, first + place * LINE) for place, line in enumerate(lines)],
        "height": first + len(lines) * LINE,
        "font": FONT,
    }
    return in_light(render_to_string("publications/chart.svg", context))


def in_light(text: str) -> str:
    """With the light colours in place of the names that the style sheet has for them."""
    return _VARIABLE.sub(lambda found: _light_colours().get(found[1], "#1b2430"), text)


def _source(metadata: Metadata) -> str:
    about = metadata.about
    parts = [
        _("Data of %(period)s") % {"period": about.period} if about.period else "",
        about.publisher,
        _("Source: %(author)s. %(kind)s. %(link)s")
        % {"author": metadata.author, "kind": metadata.kind, "link": metadata.link},
        _("Licence: %(name)s") % {"name": about.terms.name} if about.terms else "",
    ]
    return joint(".").join(filter(None, parts))


def _legend(names: list[tuple[str, str]]) -> list[tuple[str, str, float]]:
    """Each name with its colour, and where it begins."""
    at, placed = 0.0, []
    for name, colour in names:
        placed.append((name, colour, round(at, 1)))
        at += NAME_GAP + LETTER * len(name)
    return placed


@cache
def _light_colours() -> dict[str, str]:
    """What the style sheet's first block declares."""
    first = styles().split(":root {", 1)[1].split("}", 1)[0]
    return dict(re.findall(r"(--[\w-]+):\s*([^;]+);", first))
