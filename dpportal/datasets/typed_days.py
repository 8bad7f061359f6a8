"""Days as people type them on pages."""

from __future__ import annotations

from datetime import date

from dpportal.datasets.models import Dataset
from dpportal.tables import ReadOptions
from dpportal.tables.meaning import python_semantics

ISO = "iso"


def typed_day(text: str, date_format: str = ISO) -> date | None:
    """The day of a text such as 2024-01-31, 31.01.2024, or one as the table writes its dates; None where it is none.

    01/02/2024 is none unless the table says which of the two is the month.
    """
    day = _day(text, date_format) or _day(text, ISO)
    is_european = "." in text and "/" not in text and date_format != "month-first"
    return day or (_day(text, "day-first") if is_european else None)


def date_format_of(dataset: Dataset) -> str:
    """In which format a dataset's table writes its dates."""
    return str(dataset.options.get("date_format") or ISO)


def _day(text: str, date_format: str) -> date | None:
    return python_semantics.day_of(text, ReadOptions(date_format=date_format))
