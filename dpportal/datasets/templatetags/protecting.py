"""Who is protected, in the words of a page."""

from __future__ import annotations

from django import template
from django.utils.translation import gettext as _

from dpportal.datasets.models import Dataset
from dpportal.datasets.protection import Protection

register = template.Library()


@register.filter
def protecting(who: Protection, dataset: Dataset) -> str:
    """As it is said of a dataset: where its curator counts the people themselves, no row stands for anybody."""
    return str(who) if dataset.had_table else who.in_words(_("each person"))
