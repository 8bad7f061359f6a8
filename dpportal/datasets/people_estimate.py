"""How many people a curator thinks there are, asked for wherever errors are foreseen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import forms
from django.utils.translation import gettext_lazy

from dpportal.platform.typed_numbers import NOT_INTEGER, IntegerInput

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

MOST_PEOPLE = 10**10


def people_field(*, label: StrOrPromise | None = None, required: bool = True) -> forms.IntegerField:
    """A field for the estimate. label: of the form that asks; the field's name if None."""
    return forms.IntegerField(
        label=label,
        required=required,
        min_value=1,
        max_value=MOST_PEOPLE,
        widget=IntegerInput,
        error_messages={"invalid": NOT_INTEGER},
        help_text=gettext_lazy(
            "From public knowledge, never from this table. Not published itself, but the method and the cost that "
            "follow from it are."
        ),
    )
