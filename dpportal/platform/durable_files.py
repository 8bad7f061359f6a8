"""Local files and folders that a power cut leaves whole."""

from __future__ import annotations

import os
import uuid
from pathlib import Path

# Ends the name of a file that is not complete yet.
PART = ".part"


def replace_durably(path: Path, content: bytes, parts: Path) -> None:
    """Write a local file so that after a power cut it is the one before or this one, whole.

    parts: a folder on the same file system, for the file until it is complete.
    """
    _complete_part(parts, path, content).replace(path)
    fsync(path.parent)


def create_durably(path: Path, content: bytes, parts: Path) -> bool:
    """Write a local file that is not there yet, whole and durably; False if it is there, which is never changed.

    A link and not a rename, so that of several writers, on whatever machines, the first one's file stays.
    """
    part = _complete_part(parts, path, content)
    try:
        os.link(part, path)
        created = True
    except FileExistsError:
        # A file server's answer was lost, and the question repeated.
        created = part.exists() and part.samefile(path)
    finally:
        part.unlink(missing_ok=True)  # `drop_parts` may have been earlier
    fsync(path.parent)  # who reads the other one's file relies on it, too
    return created


def _complete_part(folder: Path, path: Path, content: bytes) -> Path:
    """A new file with this content, which the disk has. path: where it will be."""
    part = folder / f"{path.parent.name}.{uuid.uuid4().hex}{PART}"
    write_new(part, content)
    return part


def write_new(path: Path, content: bytes) -> None:
    """Write a file that is not there yet, for its owner only, so that the disk has it. Raises FileExistsError."""
    descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def drop_parts(parts: Path, folder: Path) -> None:
    """Delete what processes that died left of files of a folder before these were complete, or with a second name."""
    for part in parts.glob(f"{folder.name}.*{PART}"):
        part.unlink(missing_ok=True)


def make_folder(path: Path) -> None:
    """Make a folder, and those above it that are missing, so that they are there after a power cut."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=0o700, exist_ok=True)
        fsync(folder.parent)
    if not missing:
        fsync(path.parent)  # whoever made it may have died before


def fsync(path: Path) -> None:
    """The disk has a file, or what is in a folder."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
