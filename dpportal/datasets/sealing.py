"""Stores files of people's records, sealed with the key of the dataset in whose folder they lie."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import partial
from typing import BinaryIO
from uuid import UUID

from django.core.files.base import File

from dpportal.datasets import keys
from dpportal.platform import storage
from dpportal.platform.json_types import Json
from dpportal.platform.sealed_files import SealedPath

# Ends the name of an uploaded file, kept with the records until nothing can change how it is read.
ORIGINAL = ".original"


def owner_of(name: str) -> UUID:
    """The dataset in whose folder a file lies."""
    return UUID(name.split("/")[1])


def keep(name: str, write: Callable[[BinaryIO], object], *, is_new: bool = False) -> str:
    """Store a file under a name in its dataset's folder; returns the name. write: writes what is to be sealed.

    is_new: of a dataset that has no file yet. Raises StorageFault.
    """
    key = keys.for_writing(owner_of(name), is_new=is_new)
    with storage.scratch_folder() as scratch:
        sealed = SealedPath(scratch / "sealed", key, name)
        with storage.on_disk(), sealed.open("wb") as target:
            write(target)
        return storage.keep(sealed.path, name)


def keep_upload(name: str, file: File[bytes], *, is_new: bool = False) -> str:
    """Store what a curator sent. Raises StorageFault."""
    file.seek(0)
    return keep(name, partial(shutil.copyfileobj, file), is_new=is_new)


def keep_json(name: str, content: Json) -> None:
    """Store what is kept as JSON. Raises StorageFault."""
    keep(name, lambda target: target.write(json.dumps(content).encode()))
