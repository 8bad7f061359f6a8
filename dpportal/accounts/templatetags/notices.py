"""How a message to whoever is signed in looks."""

from __future__ import annotations

from django import template
from django.contrib.messages import constants

register = template.Library()

CLASSES = {constants.SUCCESS: "good", constants.WARNING: "warn", constants.ERROR: "bad"}


@register.filter
def notice_class(level: int) -> str:
    """The class of a notice, by the level of a message."""
    return CLASSES.get(level, "info")
