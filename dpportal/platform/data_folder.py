"""The folder of an embedded portal: database, files, keys, queue."""

from __future__ import annotations

import os
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured


def prepare(folder: Path) -> Path:
    """Make the folder, private to this account, or close one that others may enter.

    Whatever this process writes from now on is private, too. Raises ImproperlyConfigured with a remedy if the folder
    cannot be used.
    """
    os.umask(0o077)
    try:
        for part in (folder, folder / "scratch", folder / "broker"):
            part.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise ImproperlyConfigured(
            f"The data folder {folder} cannot be made ({error.strerror}). "
            "Choose another with --data-dir, or have its parent made writable for this account."
        ) from None
    try:
        if folder.stat().st_mode & 0o077:
            folder.chmod(0o700)
    except OSError as error:
        raise ImproperlyConfigured(
            f"Others may enter the data folder {folder}, and that cannot be changed ({error.strerror}). "
            "Have its owner take their rights away (chmod 700), or choose another with --data-dir."
        ) from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ImproperlyConfigured(
            f"The data folder {folder} is not writable for this account. "
            "Choose another with --data-dir, or change its owner."
        )
    return folder
