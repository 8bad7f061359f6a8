"""Scripts, styles and pictures, collected once for each version of them."""

from __future__ import annotations

import hashlib
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command

STAMP = "collected"
# What no page loads: a copy of the chart library for notebooks, and a second viewer of the API.
NOT_SERVED = ["widgetbundle.js", "redoc*"]


def collect() -> None:
    """Collect and compress the static files, unless the same files were collected before."""
    stamp = Path(settings.STATIC_ROOT) / STAMP
    version = _version()
    if stamp.exists() and stamp.read_text() == version:
        return
    call_command("collectstatic", interactive=False, verbosity=0, ignore_patterns=NOT_SERVED)
    stamp.write_text(version)


def _version() -> str:
    """A digest of every file's name, size and time."""
    digest = hashlib.sha256()
    for finder in get_finders():
        for name, storage in finder.list(NOT_SERVED):
            status = Path(storage.path(name)).stat()
            digest.update(f"{name}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
    return digest.hexdigest()
