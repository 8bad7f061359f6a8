"""How many people a curator thinks there are, asked for wherever errors are foreseen."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy

from dpportal.platform.typed_numbers import NOT_WHOLE, IntegerInput

MOST_PEOPLE = 10**10


def people_field(*, label: object = None, required: bool = True) -> forms.IntegerField:
    """A field for the estimate. label: of the form that asks; the field's name if None."""
    return forms.IntegerField(
        label=label,  # type: ignore[arg-type]
        required=required,
        min_value=1,
        max_value=MOST_PEOPLE,
        widget=IntegerInput,
        error_messages={"invalid": NOT_WHOLE},
        help_text=gettext_lazy(
            "From public knowledge, never from this table. Not published itself, but the method and the cost that "
            "follow from it are."
        ),
    )
