"""Numbers as people type them on pages: 0,5 for 0.5; 1,500, 1.500 and 1 500 for 1500.

What a program sends is not read so: it has numbers, or texts with a point.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from django import forms
from django.utils.translation import gettext_lazy as _

from dpportal.platform.form_data import ProgramData

_COMMA = re.compile(r"[+-]?(?:[0-9]+,[0-9]*|,[0-9]+)")
_MARKS = " .,'\N{RIGHT SINGLE QUOTATION MARK}\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}"
# One mark between all groups; of 1,500.25 nobody here says which of the two is which.
_GROUPED = re.compile(rf"[+-]?[0-9]{{1,3}}([{_MARKS}])[0-9]{{3}}(?:\1[0-9]{{3}})*")
# Of both marks the last one is the decimal sign.
_BOTH = re.compile(rf"([+-]?[0-9]{{1,3}}(?:([{_MARKS}])[0-9]{{3}})(?:\2[0-9]{{3}})*)(?!\2)[.,]([0-9]+)")
# One mark before three digits, after which nothing says whether it ends thousands or begins decimals.
_EITHER = re.compile(r"([+-]?[1-9][0-9]{0,2})[.,]([0-9]{3})")
NOT_INTEGER = _("Write a whole number, such as 1500, 1,500 or 1 500.")


def decimal_text(text: str) -> str:
    """With a point where its one comma is the decimal sign; any other text as it is."""
    typed = text.strip()
    return typed.replace(",", ".") if _COMMA.fullmatch(typed) else text


def integer_text(text: str) -> str:
    """Without the marks between groups of three digits; any other text as it is."""
    typed = text.strip()
    return re.sub(f"[{_MARKS}]", "", typed) if _GROUPED.fullmatch(typed) else text


def grouped_decimal_text(text: str) -> str:
    """As a file may write it, 200.000,00 or 200,000.00: without marks between groups where a decimal sign ends them.

    So 1.200.000 and 200 000, whose marks can be nothing else; see `two_readings` of 200.000.
    """
    typed = text.strip()
    if match := _BOTH.fullmatch(typed):
        return f"{re.sub(f'[{_MARKS}]', '', match[1])}.{match[3]}"
    grouped = _GROUPED.fullmatch(typed)
    is_integer = grouped and (grouped[1] not in ".," or typed.count(grouped[1]) > 1)
    return integer_text(text) if is_integer else decimal_text(text)


def two_readings(text: str) -> tuple[str, str] | None:
    """How to write either number that a text may mean, 200000 and 200.0 of 200.000; None where it means one alone."""
    match = _EITHER.fullmatch(text.strip())
    if not match:
        return None
    decimals = match[2].rstrip("0")
    return match[1] + match[2], f"{match[1]}.{decimals if 0 < len(decimals) < 3 else f'{decimals}0'}"


class _TypedInput(forms.TextInput):
    inputmode: ClassVar[str]

    def read(self, text: str) -> str:
        """What is typed, as the field reads it."""
        raise NotImplementedError

    def __init__(self, attrs: dict[str, Any] | None = None) -> None:
        super().__init__({"inputmode": self.inputmode, "autocomplete": "off", **(attrs or {})})

    def value_from_datadict(self, data: Mapping[str, Any], files: Any, name: str) -> Any:
        value = super().value_from_datadict(data, files, name)
        is_typed = isinstance(value, str) and not isinstance(data, ProgramData)
        return self.read(value) if is_typed else value


class DecimalInput(_TypedInput):
    """A field for a number with a decimal sign."""

    inputmode = "decimal"

    def read(self, text: str) -> str:
        return decimal_text(text)


class IntegerInput(_TypedInput):
    """A field for a whole number, perhaps with marks between thousands."""

    inputmode = "numeric"

    def read(self, text: str) -> str:
        return integer_text(text)
