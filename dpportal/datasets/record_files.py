"""Opens the stored files of people's records, for `records` alone: with the keys of their datasets."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TextIO

from django.core.files.storage import default_storage

from dpportal.datasets import keys, sealing
from dpportal.datasets.models import Dataset
from dpportal.history import watched
from dpportal.platform import storage
from dpportal.platform.json_types import Json
from dpportal.platform.records_guard import reading
from dpportal.platform.sealed_files import (
    CHUNK,
    HEAD_BYTES,
    ChangedFileError,
    FilePath,
    SealedPath,
    begins_sealed,
    is_sealed,
)
from dpportal.platform.sealing_faults import FileChangedFault, FileGoneFault, KeyLostFault


@contextmanager
def opened(name: str) -> Iterator[FilePath]:
    """Where a file of records can be read. Raises KeyMissingFault, FileChangedFault, FileGoneFault."""
    with reading(), ExitStack() as stack:
        try:
            path = _with_key(stack.enter_context(storage.local_path(name)), name)
        except FileNotFoundError:
            raise FileGoneFault from None
        try:
            yield path
        except ChangedFileError:
            raise FileChangedFault from None


@contextmanager
def own_table(dataset: Dataset) -> Iterator[FilePath]:
    """A dataset's table: none of another one's folder, whatever its row says by now. Raises as `opened` does."""
    _require_own(dataset, "table")
    with opened(dataset.table) as path:
        yield path


@contextmanager
def own_upload(dataset: Dataset) -> Iterator[FilePath]:
    """The same of what was uploaded."""
    _require_own(dataset, "upload")
    with opened(dataset.upload) as path:
        yield path


def _require_own(dataset: Dataset, field: str) -> None:
    if sealing.owner_of(getattr(dataset, field)) != dataset.pk or not watched.is_written(dataset, field):
        raise FileChangedFault


def is_intact(name: str) -> bool:
    """Whether a file of records is there, and every byte of it as the portal wrote it, where it is sealed.

    Raises KeyMissingFault where that cannot be known.
    """
    try:
        with opened(name) as path, path.open("rb") as file:
            while isinstance(path, SealedPath) and file.read(CHUNK):
                pass
    except (FileGoneFault, FileChangedFault, KeyLostFault):
        return False
    return True


@contextmanager
def piece(name: str) -> Iterator[BinaryIO]:
    """A piece of an upload that is not whole yet, for whoever puts them together."""
    with opened(name) as path, path.open("rb") as file:
        yield file


@contextmanager
def waiting_lines(name: str) -> Iterator[TextIO]:
    """The lines of a file of true counts that waits to be published, for the worker that does it."""
    with opened(name) as path, path.open(encoding="utf-8-sig", newline="") as lines:
        yield lines


def _with_key(path: Path, name: str) -> FilePath:
    """A stored file with what opens it; one of an earlier version, or that came past the portal, is not sealed."""
    key = keys.key_of(sealing.owner_of(name))
    if not is_sealed(path):
        if key and key.is_for_all and not name.endswith(sealing.ORIGINAL):
            raise FileChangedFault
        return path
    if key is None:
        raise KeyLostFault
    return SealedPath(path, key.unwrapped(), name)


@dataclass(frozen=True)
class FileFacts:
    """A stored file as it lies there: its name, and the digest of the head by which a sealed one differs from others.

    Receipts leave the portal, so no length is among them: a row more makes a file longer, and counts have digits. Nor
    has a file that is not sealed a digest: its first bytes could be guessed.
    """

    name: str
    digest: str


def described(folder: str) -> list[FileFacts]:
    """Every file of a folder, without opening what is sealed. Raises StorageFault."""
    return [facts for name in sorted(storage.names_under(folder)) if (facts := _facts_of(name))]


def _facts_of(name: str) -> FileFacts | None:
    """None of a file that went meanwhile."""
    try:
        with reading(), default_storage.open(name) as file:
            head = file.read(HEAD_BYTES)
        return FileFacts(name, hashlib.sha256(head).hexdigest() if begins_sealed(head) else "")
    except FileNotFoundError:
        return None


def stored_json(name: str) -> Json | None:
    """What `sealing.keep_json` stored; None if it is not there any more."""
    if not default_storage.exists(name):
        return None
    with opened(name) as path, path.open("rb") as file:
        return dict(json.load(file))
