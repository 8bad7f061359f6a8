"""Values that a site sets by environment variables; one that cannot be is refused at start."""

from __future__ import annotations

import os

from django.core.exceptions import ImproperlyConfigured


def whole_number(name: str, default: int, most: int = 999_999_999) -> int:
    """A whole number from 1 to `most`."""
    given = os.environ.get(name) or str(default)
    if not (given.isascii() and given.isdecimal() and 0 < int(given[:10]) <= most):
        raise ImproperlyConfigured(
            f"{name} must be a whole number from 1 to {most}. Change it, or leave it out for {default}."
        )
    return int(given)
