"""A column's limits as people type them: one number, or a question where a text may mean two."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import TypeVar

from django.utils.translation import gettext as _

from dpportal.datasets.out_of_domain_forms import FieldError
from dpportal.platform.typed_numbers import grouped_decimal_text, integer_text, two_readings

N = TypeVar("N", int, float)


def limit_read(field: str, text: str, number: type[N], *, is_typed: bool = True) -> N:
    """The number that a text writes. Raises FieldError.

    number: of which the column's values are. is_typed: whether a person wrote the text, so that 200.000 may mean
        200000 in a column of decimals.
    """
    if is_typed and number is not int and (readings := two_readings(text)):
        wrong = _("“%(text)s” can be read in two ways. Write %(whole)s or %(decimal)s.")
        raise FieldError(field, wrong % {"text": text.strip(), "whole": readings[0], "decimal": readings[1]})
    with suppress(ValueError, OverflowError):
        typed = text.strip()
        bound = number(integer_text(typed) if number is int else grouped_decimal_text(typed))
        if math.isfinite(bound):
            return bound
    if number is int:
        raise FieldError(field, _("Write this limit as a whole number, such as 0 or 120."))
    raise FieldError(field, _("Write this limit as a number, such as 0 or 99.5."))
