"""Amounts of privacy loss in the database: Decimals, stored as whole millionths; of δ, as whole units of 10⁻¹⁵.

SQLite keeps decimals as floating point, in which ten times 0.1 is not 1; whole numbers are exact everywhere.
"""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from django import forms
from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext_lazy as _

from dpportal.platform.typed_numbers import DecimalInput
from mechanisms.number_text import small_text, with_two_decimals

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

_Set = TypeVar("_Set")
_Get = TypeVar("_Get")
PLACES = 6
STEP = Decimal(1).scaleb(-PLACES)
LARGEST = Decimal(1000)
# A δ is small: of 10⁻¹² a thousandth can be spent exactly.
DELTA_PLACES = 15
DELTA_STEP = Decimal(1).scaleb(-DELTA_PLACES)
LARGEST_DELTA = Decimal("0.001")
# A sign is read, so that a negative amount is told that it is too small.
PLAIN = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)")

# A δ may be written as 1e-9, too.
SMALL = re.compile(rf"(?:{PLAIN.pattern})(?:[eE]-?[0-9]{{1,2}})?")

TOO_FINE = _("Give at most 6 digits after the point: amounts are counted in millionths.")
TOO_SMALL = _("The amount must be above 0; the smallest is 0.000001.")
TOO_LARGE = _("The amount must be at most 1000; above that there is no privacy left to speak of.")
DELTA_TOO_FINE = _("Give δ with at most 15 digits after the point.")
DELTA_TOO_SMALL = _("A δ must be above 0; the smallest is 10⁻¹⁵.")
DELTA_TOO_LARGE = _(
    "δ must be at most 0.001: it is the chance with which the whole promise may fail for one of the people."
)
NOT_A_NUMBER = _("Write one plain number such as 0.25, without signs, sums or letters.")


class AmountFormField(forms.DecimalField):
    """A field for a plain number; on pages its decimal sign may be a comma.

    What Decimal reads besides, such as 1_0, 1e1 or digits of other scripts, is no number here.
    """

    written: ClassVar = PLAIN
    widget = DecimalInput

    def to_python(self, value: object) -> Decimal | None:  # type: ignore[override]
        if isinstance(value, str) and value.strip() and not self.written.fullmatch(value.strip()):
            raise ValidationError(self.error_messages["invalid"], code="invalid")
        return super().to_python(value)


class DeltaFormField(AmountFormField):
    """The same for a δ, which may have an exponent."""

    written = SMALL


def amount_formfield(
    label: StrOrPromise | None = None, help_text: StrOrPromise = "", *, required: bool = True
) -> forms.DecimalField:
    """A form field for an amount: positive, exact, with messages that say what to type."""
    messages = {
        "invalid": NOT_A_NUMBER,
        "min_value": TOO_SMALL,
        "max_value": TOO_LARGE,
        "max_digits": NOT_A_NUMBER,
        "max_decimal_places": TOO_FINE,
        "max_whole_digits": TOO_LARGE,
    }
    return AmountFormField(
        label=label,
        help_text=help_text,
        required=required,
        min_value=STEP,
        max_value=LARGEST,
        decimal_places=PLACES,
        error_messages=messages,
    )


def delta_formfield(
    label: StrOrPromise | None = None, help_text: StrOrPromise = "", *, required: bool = True
) -> forms.DecimalField:
    """The same for a δ."""
    messages = {
        "invalid": NOT_A_NUMBER,
        "min_value": DELTA_TOO_SMALL,
        "max_value": DELTA_TOO_LARGE,
        "max_digits": NOT_A_NUMBER,
        "max_decimal_places": DELTA_TOO_FINE,
        "max_whole_digits": DELTA_TOO_LARGE,
    }
    return DeltaFormField(
        label=label,
        help_text=help_text,
        required=required,
        min_value=DELTA_STEP,
        max_value=LARGEST_DELTA,
        decimal_places=DELTA_PLACES,
        error_messages=messages,
    )


class AmountField(models.BigIntegerField[_Set, _Get]):
    """A Decimal with six places, stored as an integer count of millionths."""

    step: ClassVar = STEP
    too_fine: ClassVar = TOO_FINE

    # What the type checker's Django plugin takes an attribute of this field to be.
    _pyi_private_set_type: Decimal  # type: ignore[assignment]
    _pyi_private_get_type: Decimal  # type: ignore[assignment]

    description = "privacy loss in millionths"

    def from_db_value(self, value: int | None, *_: object) -> Decimal | None:
        return None if value is None else (Decimal(value) * self.step)

    def to_python(self, value: Decimal | str | None) -> Decimal | None:
        return None if value is None or value == "" else Decimal(value)

    def get_prep_value(self, value: Decimal | str | None) -> int | None:
        if value is None:
            return None
        scaled = Decimal(value) / self.step
        if scaled != scaled.to_integral_value():
            raise ValidationError(self.too_fine)
        return int(scaled)

    def formfield(self, **kwargs: Any) -> forms.Field:
        return amount_formfield(
            **{key: kwargs[key] for key in ("label", "help_text", "required") if key in kwargs}
        )


class DeltaField(AmountField[_Set, _Get]):
    """A δ: a Decimal with 15 places, stored as an integer count of 10⁻¹⁵."""

    _pyi_private_set_type: Decimal
    _pyi_private_get_type: Decimal

    description = "chance of failure in units of 10⁻¹⁵"
    step = DELTA_STEP
    too_fine = DELTA_TOO_FINE

    def formfield(self, **kwargs: Any) -> forms.Field:
        return delta_formfield(
            **{key: kwargs[key] for key in ("label", "help_text", "required") if key in kwargs}
        )


def stored(amount: Decimal) -> models.Value:
    """An amount for use in a database expression beside amount columns."""
    return models.Value(amount, output_field=AmountField())


def stored_delta(delta: Decimal) -> models.Value:
    """The same of a δ."""
    return models.Value(delta, output_field=DeltaField())


def plain(amount: Decimal) -> str:
    """An amount as people write it: at least two decimal places, no exponent, no further trailing zeros."""
    return with_two_decimals(f"{amount.normalize():f}")


def with_delta(cost: str, delta: Decimal) -> str:
    """A cost in words with the δ that it has besides, if it has any: ε 0.10, δ 10⁻⁷."""
    return f"{cost}, δ {small_text(Fraction(delta))}" if delta else cost
