"""How pages name the kinds of columns."""

from __future__ import annotations

from django import template
from django.utils.functional import Promise
from django.utils.translation import gettext

from dpportal.datasets.forms import AttributeForm
from mechanisms.domain import OTHER_LABEL, Attribute, Categorical, Domain

register = template.Library()


@register.filter
def kind_in_words(attribute: Attribute) -> str | Promise:
    """A column's kind as the page of its domain calls it, such as “Whole numbers”."""
    return dict(AttributeForm.KINDS)[attribute.kind]


@register.filter
def look_in_words(kind: str) -> str | Promise:
    """What a column's first rows look like, by its stored name, such as “Whole numbers”; empty where none is known."""
    if kind == "text":
        return gettext("Text")
    return dict(AttributeForm.KINDS)[kind] if kind else ""


@register.filter
def has_missing(domain: Domain) -> bool:
    """Whether a column has a cell for missing values."""
    return any(attribute.missing_cell for attribute in domain.attributes)


@register.filter
def has_other(domain: Domain) -> bool:
    """Whether a column has a cell for values that are not on its list."""
    return any(isinstance(a, Categorical) and OTHER_LABEL in a.cells for a in domain.attributes)
