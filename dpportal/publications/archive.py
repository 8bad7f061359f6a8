"""The files of a download, and all of them in one zip. The same content always gives the same bytes."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path

from django.utils.text import slugify

from dpportal.platform import storage
from dpportal.platform.json_types import Json
from dpportal.publications.table import Table
from mechanisms.verify.json_values import as_written

LONGEST_NAME = 60
ABOUT_ARCHIVE = "Everything below in one file"


@dataclass(frozen=True)
class BundleFile:
    """A file in the making: where it is, and what it is in a few words."""

    path: Path
    about: str

    @classmethod
    def of(cls, table: Table) -> BundleFile:
        return cls(table.path, table.about)

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def size(self) -> int:
        return self.path.stat().st_size

    @cached_property
    def sha256(self) -> str:
        return storage.sha256(self.path)


def write_json(path: Path, about: str, value: Json) -> BundleFile:
    """Write a file of JSON for a bundle. about: what it holds, in words."""
    path.write_bytes(as_written(value))
    return BundleFile(path, about)


def folder_name(title: str, fallback: str) -> str:
    """What the files of a release are called together: its title in letters, digits and hyphens."""
    return slugify(title, allow_unicode=True)[:LONGEST_NAME].strip("-_") or fallback


def saved_name(name: str, title: str) -> str:
    """What a file is saved as, by the title that it was published under."""
    published, ending = folder_name(title, ""), name.rsplit(".", 1)[-1]
    if not published:
        return name
    return f"{published}.zip" if ending == "zip" else f"{published}-{name}"


def write_zip(path: Path, files: Iterable[BundleFile], at: datetime, folder: str) -> BundleFile:
    """Zip one folder of this name.

    With the same time, that of the content, on every entry, so that the bytes are the same each time.
    """
    stamp = (at.year, at.month, at.day, at.hour, at.minute, at.second // 2 * 2)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            entry = zipfile.ZipInfo(f"{folder}/{file.name}", stamp)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            entry.file_size = file.size
            with file.path.open("rb") as source, archive.open(entry, "w") as target:
                while block := source.read(1 << 20):
                    target.write(block)
    return BundleFile(path, ABOUT_ARCHIVE)
