"""Lists to choose from that have hundreds of entries, on pages that are written for each visitor."""

from __future__ import annotations

from typing import Any

from django import forms
from django.forms.utils import flatatt
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString


class ListedSelect(forms.Select):
    """A list that is written at once: Django fills a template for each entry, which takes some ten times as long."""

    def render(
        self, name: str, value: Any, attrs: dict[str, Any] | None = None, renderer: Any = None
    ) -> SafeString:
        several = {"multiple": True} if self.allow_multiple_selected else {}
        tag = flatatt(self.build_attrs({**self.attrs, "name": name, **several}, attrs))
        chosen = set(self.format_value(value))
        entries = ((key, " selected" if str(key) in chosen else "", label) for key, label in self.choices)
        return format_html(
            "<select{}>{}</select>",
            tag,
            format_html_join("", '<option value="{}"{}>{}</option>', entries),
        )


class ListedSelectMultiple(ListedSelect, forms.SelectMultiple):
    """The same to choose several from."""
