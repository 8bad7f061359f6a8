"""The bundle of a release as a file of whoever ran `manage.py release`: nothing of theirs is written over unasked."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

from django.core.files.storage import default_storage
from django.utils.translation import gettext as _

from dpportal.api.release_file import ReleaseFileError
from dpportal.releases.models import Release


def write_bundle(release: Release, path: Path, *, replace: bool = False) -> Path:
    """Everything of a finished release in one file. A file that has it already is left as it is.

    path: the file, or a folder for it. replace: whether another file there is written over. Raises ReleaseFileError
    where one is there, and OSError.
    """
    archive = release.artifacts.get(name__endswith=".zip")
    target = path / archive.name if path.is_dir() else path
    if target.is_file() and not replace:
        if _sha256(target) == archive.sha256:
            return target
        text = _("%(file)s is there already, and holds something else. %(remedy)s")
        raise ReleaseFileError(text % {"file": target, "remedy": written_over()})
    with default_storage.open(archive.stored) as bundle, target.open("wb" if replace else "xb") as file:
        shutil.copyfileobj(bundle, file)
    return target


def written_over() -> str:
    """What to do where a file is in the way of a bundle."""
    return _("Write over it with --replace, or name another file or folder with --output.")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
