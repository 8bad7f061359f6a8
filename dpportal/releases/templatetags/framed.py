"""What a line that frames a chart elsewhere says of its size."""

from __future__ import annotations

from django import template

from dpportal.platform.json_types import Json
from dpportal.publications.frames import frame_height
from dpportal.publications.metadata import Metadata

register = template.Library()


@register.filter
def height_in_frame(figure: Json, metadata: Metadata) -> int:
    """Pixels, see `frame_height`."""
    return frame_height(figure, metadata)
