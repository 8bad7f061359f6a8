"""A published series as pages show it: which of its running counts, in which charts, beside which numbers."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

import numpy as np
from django.http import QueryDict

from dpportal.charts.cell_names import cell_name, named
from dpportal.charts.increments import increments_apart_figure, increments_figure
from dpportal.charts.series import Timeline, expectation_figure, expectation_periods, series_figure
from dpportal.charts.small_multiples import MAX_APART, MAX_TOGETHER, apart_figure, together_figure
from dpportal.charts.style import Figure
from dpportal.platform.json_types import Json
from dpportal.platform.stored_texts import translated
from dpportal.streams.finding import finding
from dpportal.streams.models import Stream
from dpportal.streams.series import Series, chosen_place, evenly_spaced, newest, unit_of
from mechanisms import registry

MAX_ROWS = 100
# What a page draws and lists over all series, since it is computed for every visitor: points of lines, numbers of the
# table, and bars of what periods added.
MAX_POINTS, MAX_NUMBERS, MAX_BARS = 800, 240, 96
# Points of a chart beyond which nobody sees more, and numbers of them that are read for it.
MAX_LINE, MAX_READ = 500, 40_000
TOGETHER, APART = "together", "apart"


@dataclass(frozen=True)
class Chosen:
    """Which running counts a visitor asked to see, and whether each in a panel of its own.

    places: among the stream's, at least one and no more than can be told apart.
    """

    places: tuple[int, ...]
    is_apart: bool = False

    @classmethod
    def of(cls, stream: Stream, query: QueryDict) -> Chosen:
        """What the address asks for; without a word the first ones, together. What is unknown is the first one."""
        counts = query.getlist("count")
        places = (
            dict.fromkeys(chosen_place(stream, one) for one in counts)
            if counts
            else range(len(stream.labels))
        )
        is_apart = query.get("view") == APART
        return cls(tuple(places)[: MAX_APART if is_apart else MAX_TOGETHER], is_apart)

    @property
    def address(self) -> str:
        """The same as the query of an address."""
        return urlencode(
            [("view", APART if self.is_apart else TOGETHER), *(("count", p) for p in self.places)]
        )


def shown(stream: Stream, query: QueryDict) -> Json:
    """The series as pages show it beside its charts: which counts, the newest periods, the first sentences."""
    count, chosen = stream.periods.count(), Chosen.of(stream, query)
    rows: list[Json] = []
    first_sentences: Json | None = None
    if count:
        latest = newest(stream, _most_newest(chosen)).called(stream.calendar.name)
        rows = _rows(latest, chosen, _most_rows(chosen))
        first_sentences = finding(stream, latest)
    return {
        "chosen": chosen,
        "counts": list(enumerate(named(stream.labels))) if len(stream.labels) > 1 else [],
        "shown_names": named(stream.labels[place] for place in chosen.places),
        "most": {"together": MAX_TOGETHER, "apart": MAX_APART},
        "newest": rows,
        "finding": first_sentences,
        "period_count": count,
        "unit": unit_of(stream),
    }


def figures(stream: Stream, chosen: Chosen, count: int) -> dict[str, Figure]:
    """The charts of a series of so many periods, and of its expected error."""
    expected = {"expectation": expectation(stream, count)}
    series = evenly_spaced(stream, _points(stream, chosen))
    if series is None:
        return expected
    mark, latest = stream.calendar.mark, newest(stream, _most_newest(chosen))
    return {
        "series": series_chart(series.called(mark), chosen, count),
        "increments": increments_chart(latest.called(mark), chosen, count),
        **expected,
    }


def _most_rows(chosen: Chosen) -> int:
    """Of the table."""
    return min(MAX_ROWS, MAX_NUMBERS // len(chosen.places))


def _most_newest(chosen: Chosen) -> int:
    """Periods of table and bars, and the one before them."""
    return max(_most_rows(chosen), MAX_BARS) + 1


def series_chart(series: Series, chosen: Chosen, periods: int) -> Figure:
    """One running count with what never falls, where the whole series is drawn; several, together or apart."""
    places, time = list(chosen.places), Timeline(series.labels, series.unit, periods)
    if len(places) > 1:
        make = apart_figure if chosen.is_apart else together_figure
        return make(
            time,
            named(series.names[place] for place in places),
            released=series.released[:, places],
            half_widths=series.half_widths,
        )
    is_complete = len(series.labels) == periods
    return series_figure(
        time,
        released=series.released[:, places[0]],
        half_widths=series.half_widths,
        consistent=series.never_falling(places[0]) if is_complete else None,
        name=cell_name(series.names[places[0]]),
    )


def increments_chart(series: Series, chosen: Chosen, periods: int) -> Figure:
    """What the newest periods added to the running counts. series: of neighbouring periods, to the last."""
    places = list(chosen.places)
    is_apart = chosen.is_apart and len(places) > 1
    # Side by side they have a third of the width.
    bars = MAX_BARS // (3 if is_apart else len(places))
    last = slice(-min(bars, _known(series)), None)
    make = increments_apart_figure if is_apart else increments_figure
    return make(
        Timeline(series.labels[last], series.unit, periods),
        named(series.names[place] for place in places),
        added=series.increments[last, places],
        half_widths=series.increment_half_widths[last],
    )


def expectation(stream: Stream, published_periods: int) -> Figure:
    """The plan's expected error over the whole stream, with a mark at the present."""
    plan = stream.plan
    horizon = plan.request.horizon or max(int(plan.details["periods_shown"]), published_periods)
    periods = expectation_periods(horizon)
    mechanism = registry.stream(plan.mechanism)
    errors = {translated(mechanism.title): np.sqrt(mechanism.variances(plan, periods))}
    return expectation_figure(periods, errors, published=published_periods or None, unit=unit_of(stream))


def _known(series: Series) -> int:
    """Of how many of the series' periods the one before is there, or none was before."""
    return len(series.labels) - (0 if series.periods[0] == 1 else 1)


def _points(stream: Stream, chosen: Chosen) -> int:
    """How many periods are read and drawn of each of the chosen counts; a period is read with all its counts."""
    return min(MAX_LINE, MAX_POINTS // len(chosen.places), max(2, MAX_READ // len(stream.labels)))


def _rows(series: Series, chosen: Chosen, most: int) -> list[Json]:
    """The newest periods first, as rows of a table: of each chosen count what is released, and what is new."""
    places, rows = list(chosen.places), []
    for at in range(len(series.labels) - 1, len(series.labels) - 1 - min(most, _known(series)), -1):
        released, half_width = series.released[at, places].tolist(), int(series.half_widths[at])
        rows.append(
            {
                "label": series.labels[at],
                "released": released,
                "half_width": half_width,
                "added": series.increments[at, places].tolist(),
                "added_half_width": int(series.increment_half_widths[at]),
                "published_at": series.published_at[at],
            }
        )
    return rows
