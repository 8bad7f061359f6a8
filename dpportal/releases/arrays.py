"""Named arrays in one file: an .npz whose bytes depend on the arrays alone, so that its SHA-256 names its content.

They are strategies and matrices of questions: nothing of anybody's data.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from dpportal.platform import storage

# The earliest time that a zip can hold: the same on every entry.
EPOCH = (1980, 1, 1, 0, 0, 0)


def write(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write the arrays in order of their names."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(arrays):
            entry = zipfile.ZipInfo(f"{name}.npy", EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(entry, "w", force_zip64=True) as file:
                np.lib.format.write_array(file, np.asanyarray(arrays[name]), allow_pickle=False)


def store(arrays: Mapping[str, np.ndarray], folder: str) -> tuple[str, str]:
    """Store the arrays in the private storage, named by their SHA-256; returns (name, digest)."""
    with storage.scratch_folder() as scratch:
        path = scratch / "arrays.npz"
        write(path, arrays)
        return storage.keep_by_digest(path, folder)


def load(name: str) -> dict[str, np.ndarray]:
    """What `store` stored under that name."""
    with storage.local_path(name) as path, np.load(path, allow_pickle=False) as arrays:
        return {key: arrays[key] for key in arrays.files}
