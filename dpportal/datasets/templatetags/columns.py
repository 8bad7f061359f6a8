"""How pages name the kinds of columns."""

from __future__ import annotations

from django import template
from django.utils.functional import Promise

from dpportal.datasets.forms import AttributeForm
from mechanisms.domain import Attribute

register = template.Library()


@register.filter
def kind_in_words(attribute: Attribute) -> str | Promise:
    """A column's kind as the page of its domain calls it, such as “Whole numbers”."""
    return dict(AttributeForm.KINDS)[attribute.kind]
