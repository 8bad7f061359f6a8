"""What a program says in JSON, as a page's form would have sent it: both are checked by the same fields."""

from __future__ import annotations

from collections.abc import Mapping

from django.http import QueryDict


class ProgramData(QueryDict):
    """What a program sent: its numbers are read as they are, and not as people type them."""


def form_data(values: Mapping[str, object]) -> ProgramData:
    """values: texts, numbers, truths, or lists of these by the name of the field; None and False are not sent."""
    data = ProgramData(mutable=True)
    for name, value in values.items():
        if isinstance(value, list | tuple):
            data.setlist(name, [_text(one) for one in value])
        elif value is not None and value is not False:
            data[name] = _text(value)
    return data


def _text(value: object) -> str:
    return "on" if value is True else str(value)
