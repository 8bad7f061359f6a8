"""Periods as pages call them: in one manner of dates, and by their last day where something is counted up to it."""

from __future__ import annotations

import datetime as dt

import pytest

from dpportal.streams import execution
from dpportal.streams.calendar import Calendar
from dpportal.streams.execution import Update
from dpportal.streams.finding import finding
from dpportal.streams.models import Period, Stream
from dpportal.streams.series import newest
from dpportal.streams.series_view import Chosen, figures
from tests.dpportal.streams import building

MONDAY = dt.date(2026, 1, 5)


@pytest.mark.parametrize(
    ("step", "first", "index", "name", "mark", "last"),
    [
        ("day", MONDAY, 4, "8 January 2026", "8 Jan 2026", dt.date(2026, 1, 8)),
        ("week", MONDAY, 4, "26 January – 1 February 2026", "26 Jan 2026", dt.date(2026, 2, 1)),
        ("week", MONDAY, 52, "28 December 2026 – 3 January 2027", "28 Dec 2026", dt.date(2027, 1, 3)),
        ("month", MONDAY, 2, "February 2026", "February 2026", dt.date(2026, 2, 28)),
        ("next", None, 12, "12", "12", None),
    ],
)
def test_a_period_has_one_name_for_people(step, first, index, name, mark, last) -> None:
    calendar = Calendar(step, first)
    assert (calendar.name(index), calendar.mark(index), calendar.last_day(index)) == (name, mark, last)


def test_the_first_sentence_says_the_last_day_that_is_counted(dataset, client) -> None:
    stream = building.open_stream(dataset, step="week", first_day=MONDAY)
    execution.publish(stream.pk, [Update(index, (1,), Period.Source.TYPED) for index in range(1, 5)])
    stream = Stream.objects.get(pk=stream.pk)
    assert finding(stream, newest(stream, 2))["day"] == dt.date(2026, 2, 1)
    charts = figures(stream, Chosen((0,)), 4)
    assert list(charts["series"].json["data"][0]["x"])[-1] == "26 Jan 2026"
