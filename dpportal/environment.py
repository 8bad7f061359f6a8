"""Values that a site sets by environment variables; one that cannot be is refused at start."""

from __future__ import annotations

import os

from django.core.exceptions import ImproperlyConfigured


def whole_number(name: str, default: int) -> int:
    """A whole number of at least 1."""
    given = os.environ.get(name) or str(default)
    if not (given.isascii() and given.isdecimal() and int(given[:10]) > 0 and len(given) <= 9):
        raise ImproperlyConfigured(
            f"{name} must be a whole number from 1 to 999999999. Change it, or leave it out for {default}."
        )
    return int(given)
