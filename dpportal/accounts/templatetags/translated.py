"""Texts that a program composed in English, in the language of the page."""

from __future__ import annotations

from collections.abc import Iterable

from django import template
from django.conf import settings
from django.forms.utils import ErrorList
from django.utils.safestring import SafeString, mark_safe

from dpportal.platform import listed_names, stored_texts

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
    translation = stored_texts.translated(text)
    return mark_safe(translation) if isinstance(text, SafeString) else translation  # noqa: S308 (as safe as it came)


@register.filter
def listed(names: Iterable[object]) -> str:
    """Names one after the other, with the comma of the reader's language."""
    return listed_names.listed(names)


@register.simple_tag
def joint(mark: str) -> str:
    """A comma, colon, semicolon or full stop between two texts, as the reader's language writes it."""
    return listed_names.joint(mark)


@register.simple_tag
def own_names() -> list[tuple[str, str]]:
    """Every language by its code and its own name, which is not translated."""
    return list(settings.LANGUAGES)
