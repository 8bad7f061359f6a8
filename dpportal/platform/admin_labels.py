"""What the admin calls the portal's models and their fields, in the reader's language.

Models declare names for programmers. Here each is looked up when a page shows it: a name of another language in the
declaration itself would be a migration for every word.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.contrib import admin
from django.db import models
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

OWN = "dpportal."
# Every label that no gettext marks in its declaration: what the catalogue of translations needs.
admin_labels: set[str] = set()


def translate_admin_labels() -> None:
    """Have all of them looked up. Called once, when the admin knows its models."""
    for config in apps.get_app_configs():
        if config.name.startswith(OWN):
            config.verbose_name = _lazily(config.verbose_name)
    for options in _models():
        # Django makes a plural that is not declared of the singular, by a letter.
        plural = options.original_attrs.get("verbose_name_plural", str(options.verbose_name_plural))
        options.verbose_name = _lazily(options.verbose_name)
        options.verbose_name_plural = _lazily(plural)
        for field in options.get_fields():
            if isinstance(field, models.Field):
                field.verbose_name = _lazily(field.verbose_name)


def _lazily(text: Any) -> Any:
    if isinstance(text, Promise):
        return text
    admin_labels.add(text)
    return gettext_lazy(text)


def _models() -> Iterator[Any]:
    """Of the models that the admin shows, and of those that it shows as lines of theirs."""
    for model, shown in admin.site._registry.items():
        if model.__module__.startswith(OWN):
            yield model._meta
            yield from (inline.model._meta for inline in shown.inlines)
