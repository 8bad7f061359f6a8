"""The text of a workbook's cell, by its kind, its style and what its markup holds."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Sequence
from typing import Any

from openpyxl.utils.datetime import from_excel, from_ISO8601

INTEGER_DOUBLES = 2**53
# Digits of a whole number that is written as it stands.
PLAIN_DIGITS = 15


class CellTexts:
    """Texts of cells as openpyxl reads their values: days as ISO 8601, whole numbers without a point.

    strings: those that a workbook keeps once for all its cells. epoch: of its days. dates, durations: the styles whose
    numbers are moments, and lengths of time among these.
    """

    def __init__(
        self,
        strings: Sequence[str],
        epoch: dt.datetime,
        dates: Collection[int] = (),
        durations: Collection[int] = (),
    ) -> None:
        self._strings, self._epoch = strings, epoch
        self._dates, self._durations = frozenset(dates), frozenset(durations)
        # Styles that are known to be of no moments.
        self._plain: set[str] = {""} if 0 not in self._dates else set()

    def text(self, kind: str, style: str, value: str) -> str | None:
        """kind: "n", "s", "b", "str", "d" or "e". style: its number, or empty. value: not empty.

        None for an error. Raises ValueError, IndexError or OverflowError for a value that is none of its kind.
        """
        if kind == "s":
            return self._strings[int(value)]
        if kind == "n":
            return _number(value) if style in self._plain else self._moment(int(style or 0), value)
        if kind == "e":
            return None
        if kind == "b":
            return text_of(bool(int(value)))
        return text_of(from_ISO8601(value)) if kind == "d" else value

    def _moment(self, style: int, value: str) -> str | None:
        """The day or time of a style of these, else the number."""
        if style not in self._dates:
            self._plain.add(str(style))
            return _number(value)
        number = float(value) if _is_fraction(value) else int(value)
        try:
            return text_of(from_excel(number, self._epoch, timedelta=style in self._durations))
        except (OverflowError, ValueError):
            return None


def _number(value: str) -> str:
    if value.isdigit() and value[0] != "0" and len(value) <= PLAIN_DIGITS and value.isascii():
        return value
    return text_of(float(value)) if _is_fraction(value) else str(int(value))


def _is_fraction(value: str) -> bool:
    return "." in value or "e" in value or "E" in value


def text_of(value: Any) -> str:
    """A value as the one text that it has, whatever its column holds."""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < INTEGER_DOUBLES else repr(value)
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dt.datetime):
        return value.date().isoformat() if value.time() == dt.time() else value.isoformat(" ", "seconds")
    return value.isoformat() if isinstance(value, dt.date | dt.time) else str(value)
