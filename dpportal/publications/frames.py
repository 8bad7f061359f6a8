"""How tall a frame with a chart has to be on a page of another site, so that nothing of it lies below its edge.

A frame fills the width of the page around it, which nobody knows here: the taller of a window's and a phone's is taken.
In it the drawing takes what the words leave, larger or smaller, by the style sheet's `.framed`.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil

from dpportal.charts.text_width import letters
from dpportal.platform.json_types import Json
from dpportal.platform.listed_names import joint
from dpportal.publications.metadata import Metadata

# Pixels: of a window's frame, of a phone's, and of the least and the greatest height that a line asks for.
WINDOW, PHONE = 792, 360
LEAST, MOST = 360, 1100
# Pixels at the sides of the words, and between them from top to bottom.
SIDES, BETWEEN = 32, 76
# Of a line of each size: its height, and a letter's width, in pixels; generous, as typefaces differ.
HEADING, NORMAL, SMALL = (26, 10.5), (26, 7.9), (23, 6.9)


def frame_height(figure: Mapping[str, Json], metadata: Metadata, width: int = 0) -> int:
    """In pixels of CSS. figure: title, caption, drawing. width: of the frame, where it is known, in pixels."""
    widths = (width,) if width else (WINDOW, PHONE)
    return max(LEAST, min(MOST, max(_height_at(figure, metadata, wide) for wide in widths)))


def _height_at(figure: Mapping[str, Json], metadata: Metadata, width: int) -> int:
    drawing, about = figure["drawing"], metadata.about
    narrow = drawing.get("narrow")
    if width < WINDOW and narrow and width <= PHONE * 1.6:
        drawing = narrow
    source = joint(",").join([metadata.author, metadata.title, metadata.kind])
    facts = [about.period, about.publisher, about.terms.name if about.terms else ""]
    words = [
        (HEADING, metadata.title),
        (NORMAL, joint(",").join(filter(None, facts))),
        (NORMAL, figure["title"]),
        (SMALL, joint(",").join(name for name, _mark in drawing["names"])),
        (SMALL, f"{figure['caption']} {drawing.get('scale', '')}"),
        (SMALL, source),
    ]
    room = max(1, width - SIDES)
    lines = sum(tall * ceil(letters(str(text).strip()) * letter / room) for (tall, letter), text in words)
    height: float = drawing["height"] * min(1.0, room / drawing["width"])
    return ceil(BETWEEN + lines + height)
