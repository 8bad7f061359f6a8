"""Lists to choose from that have hundreds of entries, on pages that are written for each visitor."""

from __future__ import annotations

from html import escape
from typing import Any

from django import forms
from django.forms.utils import flatatt
from django.utils.safestring import SafeString, mark_safe


class ListedSelect(forms.Select):
    """A list that is written at once: Django fills a template for each entry, which takes some ten times as long."""

    def render(
        self, name: str, value: Any, attrs: dict[str, Any] | None = None, renderer: Any = None
    ) -> SafeString:
        several = {"multiple": True} if self.allow_multiple_selected else {}
        tag = flatatt(self.build_attrs({**self.attrs, "name": name, **several}, attrs))
        chosen = set(self.format_value(value))
        entries = [
            f'<option value="{escape(key)}"{" selected" if key in chosen else ""}>{escape(label)}</option>'
            for key, label in ((str(key), str(label)) for key, label in self.choices)
        ]
        return mark_safe(f"<select{tag}>{''.join(entries)}</select>")  # noqa: S308 (escaped above)


class ListedSelectMultiple(ListedSelect, forms.SelectMultiple):
    """The same to choose several from."""


class ListedCheckboxes(forms.CheckboxSelectMultiple):
    """The same with a box for each entry."""

    def render(
        self, name: str, value: Any, attrs: dict[str, Any] | None = None, renderer: Any = None
    ) -> SafeString:
        own = self.build_attrs(self.attrs, attrs)
        group_id, chosen = own.pop("id", ""), set(self.format_value(value))
        tag = flatatt({**own, "type": "checkbox", "name": name})
        boxes = [
            f'<div><label for="{group_id}_{place}"><input{tag} id="{group_id}_{place}" value="{escape(key)}"'
            f"{' checked' if key in chosen else ''}> {escape(label)}</label></div>"
            for place, (key, label) in enumerate((str(key), str(label)) for key, label in self.choices)
        ]
        return mark_safe(f'<div id="{group_id}">{"".join(boxes)}</div>')  # noqa: S308 (escaped above)
