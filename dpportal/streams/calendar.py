"""Which period is which: numbers from 1, and the days that they begin on."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from typing import Literal, cast

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from mechanisms.domain import Date

NEXT = "next"
# The most that the database counts to.
_LAST = 2**31 - 1
_NUMBER = re.compile(r"[0-9]{1,10}")
_MONTH = re.compile(r"[0-9]{4}-[0-9]{2}")


class CalendarError(Exception):
    """A period that cannot be told; the message says how to write it."""


@dataclass(frozen=True)
class Calendar:
    """Periods of a step ("day", "week", "month"), the first of them with `first_day`; or numbers only ("next")."""

    step: str
    first_day: dt.date | None = None

    def start(self, index: int) -> dt.date | None:
        """The first day of a period, or None without a calendar. Raises CalendarError after the year 9999."""
        if self.step == NEXT or self.first_day is None:
            return None
        grid = self._grid
        try:
            return grid.period_start(grid.period(self.first_day) + index - 1)
        except (ValueError, OverflowError):
            raise CalendarError(_("That period lies after the year 9999. Take fewer periods.")) from None

    def index(self, day: dt.date) -> int:
        """The period that a day lies in; below 1 before the first."""
        assert self.first_day is not None
        return self._grid.period(day) - self._grid.period(self.first_day) + 1

    def last_day(self, index: int) -> dt.date | None:
        """The last day of a period, or None without a calendar. Raises CalendarError after the year 9999."""
        if self.step == "day":
            return self.start(index)
        following = self.start(index + 1)
        return None if following is None else following - dt.timedelta(days=1)

    def name(self, index: int) -> str:
        """A period as pages call it: a day, the days of a week, a month, or its number."""
        start, last = self.start(index), self.last_day(index)
        if start is None or last is None:
            return str(index)
        if self.step == "month":
            return date_format(start, "YEAR_MONTH_FORMAT")
        end = date_format(last, "DATE_FORMAT")
        if start == last:
            return end
        begins = date_format(start, "MONTH_DAY_FORMAT" if start.year == last.year else "DATE_FORMAT")
        return _("%(first)s – %(last)s") % {"first": begins, "last": end}

    def mark(self, index: int) -> str:
        """A period beside the axis of a chart: the day on which it begins, its month, or its number."""
        start = self.start(index)
        if start is None:
            return str(index)
        return date_format(start, "YEAR_MONTH_FORMAT" if self.step == "month" else "SHORT_DATE_FORMAT")

    def label(self, index: int) -> str:
        """A period as files and programs write it: a day, a month such as 2020-03, or its number."""
        start = self.start(index)
        if start is None:
            return str(index)
        return start.isoformat()[:7] if self.step == "month" else start.isoformat()

    def is_future(self, index: int) -> bool:
        """Whether the period has not begun."""
        start = self.start(index)
        return start is not None and start > timezone.localdate()

    def read(self, value: object) -> int:
        """The number of a period given as a number, or as a day (or month) in it. Raises CalendarError."""
        if isinstance(value, int) and not isinstance(value, bool):
            return self._checked(value)
        text = value.strip() if isinstance(value, str) else ""
        if _NUMBER.fullmatch(text):
            return self._checked(int(text))
        if self.step == NEXT:
            raise CalendarError(_("Give the period as its number, counted from 1."))
        day = f"{text}-01" if self.step == "month" and _MONTH.fullmatch(text) else text
        return self.read_day(day, "%Y-%m-%d")

    def read_day(self, text: str, form: str) -> int:
        """The number of the period that holds a day written in a strptime form. Raises CalendarError."""
        if self.step == NEXT:
            raise CalendarError(
                _("This running count has no calendar. Give the period as its number, counted from 1.")
            )
        try:
            day = dt.datetime.strptime(text, form).replace(tzinfo=dt.UTC).date()
        except ValueError:
            raise CalendarError(
                _("Give the period as its number, counted from 1, or as a day in it, such as 2020-03-01.")
            ) from None
        return self._checked(self.index(day))

    def _checked(self, index: int) -> int:
        if index < 1:
            raise CalendarError(
                _("That period lies before the first one, %(first)s.") % {"first": self.name(1)}
            )
        if index > _LAST:
            raise CalendarError(
                _("There is no such period: running counts do not last that long. Check the number.")
            )
        return index

    @property
    def _grid(self) -> Date:
        return Date("period", step=cast(Literal["day", "week", "month"], self.step))
