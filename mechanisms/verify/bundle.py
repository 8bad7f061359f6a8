"""A bundle as it was downloaded: its files, and release.json."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

import numpy as np

from mechanisms import __version__
from mechanisms.json_types import JsonObject
from mechanisms.refusal import RefusalError
from mechanisms.verify.json_values import has_endless_number, without_doubles

RELEASE, SIGNATURE, MEASUREMENT = "release.json", "signature.json", "measurement.npy"
# Among what is worked out: the margins of answers to queries.
MARGINS = "margins of answers"
# The product of running counts.
STREAM = "stream"
# What all files of a bundle unfold to, at most, in bytes.
LARGEST = 16 * 2**30


class BundleError(RefusalError):
    """The file is no bundle; the message says why."""


@dataclass(frozen=True)
class Bundle:
    """path: of the zip. entries: the name of each file in it, by its name without folder.

    worked_out: what one check made of it that took long, for others.
    """

    path: Path
    entries: dict[str, str]
    worked_out: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def read(cls, path: Path) -> Bundle:
        """Open a bundle. Raises BundleError."""
        try:
            with zipfile.ZipFile(path) as archive:
                infos = archive.infolist()
        except OSError as fault:
            raise BundleError("it cannot be read: {fault}", fault=fault.strerror) from None
        except zipfile.BadZipFile:
            raise BundleError("it is no zip.") from None
        if sum(info.file_size for info in infos) > LARGEST:
            raise BundleError("it unfolds to more than any bundle has.")
        entries = {info.filename.rpartition("/")[2]: info.filename for info in infos}
        if RELEASE not in entries:
            raise BundleError("it has no release.json: give the zip of a whole release.")
        return cls(path, entries)

    def content(self, name: str) -> bytes:
        """The bytes of a file. Raises KeyError if there is none."""
        with zipfile.ZipFile(self.path) as archive:
            return archive.read(self.entries[name])

    def size(self, name: str) -> int:
        """How many bytes a file has, as its zip says. Raises KeyError if there is none."""
        with zipfile.ZipFile(self.path) as archive:
            return archive.getinfo(self.entries[name]).file_size

    @contextmanager
    def opened(self, name: str) -> Iterator[IO[bytes]]:
        """A file, to be read piece by piece. Raises KeyError if there is none."""
        with zipfile.ZipFile(self.path) as archive, archive.open(self.entries[name]) as file:
            yield file

    def digest(self, name: str) -> str:
        """The SHA-256 of a file, in hexadecimal digits, read piece by piece."""
        digest = sha256()
        with self.opened(name) as file:
            while block := file.read(2**20):
                digest.update(block)
        return digest.hexdigest()

    @cached_property
    def release(self) -> JsonObject:
        """Everything that release.json says. Raises BundleError."""
        try:
            facts = json.loads(self.content(RELEASE), object_pairs_hook=without_doubles)
        except ValueError:
            raise BundleError("its release.json is no JSON, or has a name twice.") from None
        if not isinstance(facts, dict) or not {"plan", "files", "product"} <= set(facts):
            raise BundleError("its release.json says no plan and no files.")
        if not all(isinstance(facts[name], dict) for name in ("plan", "files")):
            raise BundleError("its release.json says no plan and no files.")
        if has_endless_number(facts["plan"]):
            raise BundleError("its plan has a number that is longer than any of a portal.")
        return facts

    @property
    def is_of_this_version(self) -> bool:
        """Whether the program that wrote it says to be this one; texts of others may be worded otherwise."""
        disclosure = self.release.get("disclosure")
        software = disclosure.get("software") if isinstance(disclosure, dict) else None
        return isinstance(software, dict) and software.get("version") == __version__

    @cached_property
    def measurement(self) -> np.ndarray:
        """What was measured. Raises ValueError if it is no array of plain numbers."""
        return np.asarray(np.load(io.BytesIO(self.content(MEASUREMENT)), allow_pickle=False))
