"""The charts of a public page of a running count, drawn once for each state of it.

Periods that were published stay as they are, so that charts of so many of them do, too. Drawing several counts takes a
tenth of a second, and a page is asked for more often than a period is added.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from uuid import UUID

from django.utils.translation import get_language

from dpportal.charts.report import stilled
from dpportal.charts.screens import for_screens
from dpportal.charts.style import Figure
from dpportal.platform.json_types import Json
from dpportal.streams.models import Stream
from dpportal.streams.series_view import Chosen, figures

# Some hundred kilobytes each, in each process.
MOST_STORED = 32


@dataclass(frozen=True)
class _State:
    """What a running count's charts are drawn of; the same whoever asks, but for the language."""

    stream_id: UUID
    periods: int
    chosen: Chosen
    language: str | None
    stream: Stream = field(compare=False, repr=False)


def still_charts(stream: Stream, chosen: Chosen, periods: int) -> dict[str, object]:
    """The charts with their drawings, by their names. periods: how many were published when the page was begun."""
    return _stilled(_State(stream.pk, periods, chosen, get_language(), stream))


@lru_cache(maxsize=MOST_STORED)
def _stilled(state: _State) -> dict[str, object]:
    stored = as_json(figures(state.stream, state.chosen, state.periods))
    return {name: stilled(figure, for_screens) for name, figure in stored.items()}


def as_json(figures: Mapping[str, Figure]) -> dict[str, Json]:
    """Figures by the same names, as pages and addresses have them."""
    return {name: {"json": f.json, "title": f.title, "caption": f.caption} for name, f in figures.items()}
