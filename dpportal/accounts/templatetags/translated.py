"""Texts that a program composed in English, in the language of the page."""

from __future__ import annotations

from django import template
from django.conf import settings
from django.forms.utils import ErrorList
from django.utils.safestring import SafeString, mark_safe

from dpportal.platform import stored_texts

register = template.Library()


@register.filter
def translated(text: object) -> str:
    """A sentence that may be one of the catalogue's, such as a job's failure or a mechanism's summary.

    Of a field's errors each.
    """
    if isinstance(text, ErrorList):
        errors = text.copy()
        errors.data = [stored_texts.translated(error) for error in text]
        return str(errors)
    said = stored_texts.translated(text)
    return mark_safe(said) if isinstance(text, SafeString) else said  # noqa: S308 (as safe as it came)


@register.simple_tag
def own_names() -> list[tuple[str, str]]:
    """Every language by its code and its own name, which is not translated."""
    return list(settings.LANGUAGES)
