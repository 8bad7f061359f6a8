"""The folder that holds everything an embedded portal keeps: database, files, keys, queue."""

from __future__ import annotations

import os
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured


def prepare(folder: Path) -> Path:
    """Make the folder, private to this account. Raises ImproperlyConfigured with a remedy if it cannot be used."""
    try:
        for part in (folder, folder / "scratch", folder / "broker", folder / "broker" / "control"):
            part.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise ImproperlyConfigured(
            f"The data folder {folder} cannot be made ({error.strerror}). "
            "Choose another with --data-dir, or have its parent made writable for this account."
        ) from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ImproperlyConfigured(
            f"The data folder {folder} is not writable for this account. "
            "Choose another with --data-dir, or change its owner."
        )
    return folder
