"""A figure of a publication as a file by itself: what it shows, its source and its licence, in the light colours."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from functools import cache

from django.template.loader import render_to_string
from django.utils.translation import gettext as _

from dpportal.charts.text_width import width_of
from dpportal.platform.json_types import Json
from dpportal.platform.listed_names import joint
from dpportal.publications.descriptions import styles
from dpportal.publications.metadata import Metadata

SVG = "image/svg+xml"
FONT = "'Source Sans 3', system-ui, 'Segoe UI', Roboto, Arial, sans-serif"
# In pixels: title and subtitle above the drawing, a line of notes, and letters of one.
HEAD, LINE, LINE_LETTERS = 48, 15, 128
# Of the legend: a line, a mark with its gap, and what a name takes besides its letters.
LEGEND_LINE, MARK, NAME_GAP = 18, 16, 34
_VARIABLE = re.compile(r"var\((--[\w-]+)\)")


def picture(figure: Json, metadata: Metadata) -> str:
    """An SVG drawing of a figure with `drawing`, for a report or a web page. Loads nothing and needs no style sheet."""
    drawing = figure["drawing"]
    legend = list(_legend(drawing, HEAD + drawing["height"]))
    first = (legend[-1]["top"] if legend else HEAD + drawing["height"] - LINE) + 2 * LINE
    lines = textwrap.wrap(figure["caption"], LINE_LETTERS) + textwrap.wrap(_source(metadata), LINE_LETTERS)
    context = {
        "title": metadata.title,
        "subtitle": figure["title"],
        "drawn": drawing,
        "top": HEAD,
        "legend": legend,
        "notes": [(line, first + place * LINE) for place, line in enumerate(lines)],
        "height": first + len(lines) * LINE,
        "font": FONT,
    }
    return in_light(render_to_string("publications/chart.svg", context))


def in_light(text: str) -> str:
    """With the light colours in place of the names that the style sheet has for them."""
    return _VARIABLE.sub(lambda match: _light_colours().get(match[1], "#1b2430"), text)


def _source(metadata: Metadata) -> str:
    about = metadata.about
    parts = [
        _("Data of %(period)s") % {"period": about.period} if about.period else "",
        about.publisher,
        _("Source: %(author)s") % {"author": metadata.author},
        metadata.kind,
        metadata.link,
        _("Licence: %(name)s") % {"name": about.terms.name} if about.terms else "",
    ]
    return joint(".").join(filter(None, parts))


def _legend(figure: Json, top: int) -> Iterator[Json]:
    """The column and each name with its mark, where they begin, in as many lines as they need. top: of the first."""
    at = 0.0
    names = figure["names"]
    column = [(figure["names_of"] + joint(":").strip(), None)] if names and figure.get("names_of") else []
    for name, mark in [*column, *names]:
        wide = width_of(name) + (NAME_GAP if mark else MARK)
        if at and at + wide > figure["width"]:
            at, top = 0.0, top + LEGEND_LINE
        name_at = at + MARK if mark else at
        yield {"name": name, "mark": mark, "mark_at": at, "name_at": name_at, "top": top, "base": top + 10}
        at = round(at + wide, 1)


@cache
def _light_colours() -> dict[str, str]:
    """What the style sheet's first block declares."""
    first = styles().split(":root {", 1)[1].split("}", 1)[0]
    return dict(re.findall(r"(--[\w-]+):\s*([^;]+);", first))
