"""What the wizards of releases and streams show of their steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.forms import BaseForm
from django.urls import reverse

UNPROCESSABLE = 422


def numbered(steps: Sequence[tuple[str, Any]], step: str, space: str, pk: Any) -> list[dict[str, Any]]:
    """The steps with their state; those that are done have an address to go back to.

    steps: names of views in the URL namespace `space`, with their labels. step: the current one.
    """
    here = [name for name, _label in steps].index(step)
    return [
        {
            "label": label,
            "state": "current" if i == here else "done" if i < here else "todo",
            "url": reverse(f"{space}:{name}", args=[pk]) if i < here else "",
        }
        for i, (name, label) in enumerate(steps)
    ]


def status_of(form: BaseForm | None) -> int:
    """Of the page that shows a form: whether something in it has to be corrected."""
    return UNPROCESSABLE if form is not None and form.is_bound and form.errors else 200
