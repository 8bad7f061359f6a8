"""The bundle's files, and all of them in one zip."""

from __future__ import annotations

import json
import zipfile
from datetime import datetime
from pathlib import Path
from typing import Any

from dpportal import storage
from dpportal.releases.bundle import descriptions
from dpportal.releases.bundle.descriptions import BundleFile
from dpportal.releases.models import Artifact, Release
from dpportal.releases.products import Made, product_of
from dpportal.releases.products.base import Table


def write(made: Made) -> list[Artifact]:
    """Write and store the bundle of a measured release; returns its files, not yet saved as rows."""
    release = made.release
    with storage.scratch_folder() as folder:
        tables = product_of(release).tables(made, folder)
        files = [BundleFile(table.path, table.about) for table in tables]
        files += _explanations(made, tables, files, folder)
        archive = BundleFile(folder / f"release-{release.pk}.zip", "Everything below in one file")
        assert release.measured_at is not None
        write_zip(archive.path, files, release.measured_at)
        return [_store(release, file) for file in (archive, *files)]


def _explanations(made: Made, tables: list[Table], files: list[BundleFile], folder: Path) -> list[BundleFile]:
    package = BundleFile(folder / "datapackage.json", "Column types of the tables (Frictionless)")
    _write_json(package.path, descriptions.datapackage_json(made, tables))
    readme = BundleFile(folder / "README.md", "What this is and how to read it")
    readme.path.write_text(descriptions.readme(made, files), encoding="utf-8")
    about = BundleFile(folder / "release.json", "Every parameter, version and checksum")
    _write_json(about.path, descriptions.release_json(made, [*files, package, readme]))
    return [about, package, readme]


def _write_json(path: Path, value: dict[str, Any]) -> None:
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def write_zip(path: Path, files: list[BundleFile], at: datetime) -> None:
    """Zip with the same time, that of the content, on every entry, so that the bytes are the same each time."""
    stamp = _zip_time(at)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            entry = zipfile.ZipInfo(file.name, stamp)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            entry.file_size = file.size
            with file.path.open("rb") as source, archive.open(entry, "w") as target:
                while block := source.read(1 << 20):
                    target.write(block)


def _zip_time(at: datetime) -> tuple[int, int, int, int, int, int]:
    return at.year, at.month, at.day, at.hour, at.minute, at.second // 2 * 2


def _store(release: Release, file: BundleFile) -> Artifact:
    size, digest = file.size, file.sha256
    # Named by content, so that a worker that wakes up late cannot change what a row points to.
    stored = storage.keep(file.path, f"releases/{release.pk}/bundle/{digest}/{file.name}")
    return Artifact(
        release=release, name=file.name, stored=stored, size=size, sha256=digest, about=file.about
    )
