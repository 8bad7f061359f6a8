"""The bundle's files, and all of them in one zip."""

from __future__ import annotations

import json
import zipfile
from datetime import datetime
from pathlib import Path
from typing import Any

from dpportal import storage
from dpportal.releases.bundle import descriptions, tables
from dpportal.releases.bundle.descriptions import BundleFile
from dpportal.releases.models import Artifact, Release
from mechanisms.mechanism import Result


def write(release: Release, result: Result) -> list[Artifact]:
    """Write and store the bundle of a measured release; returns its files, not yet saved as rows."""
    with storage.scratch_folder() as folder:
        files = _tables(release, result, folder)
        files += _explanations(release, result, files, folder)
        archive = BundleFile(folder / f"release-{release.pk}.zip", "Everything below in one file")
        _zip(archive.path, files, release)
        return [_store(release, file) for file in (archive, *files)]


def _tables(release: Release, result: Result, folder: Path) -> list[BundleFile]:
    csv = BundleFile(folder / "synthetic.csv", "Synthetic table, for any program")
    parquet = BundleFile(folder / "synthetic.parquet", "Synthetic table with exact column types")
    histogram = BundleFile(folder / "histogram.csv", "Noisy counts with standard errors and 95% intervals")
    tables.write_synthetic(release, result, csv.path, parquet.path)
    tables.write_histogram(release.plan, result, histogram.path)
    return [csv, parquet, histogram]


def _explanations(
    release: Release, result: Result, files: list[BundleFile], folder: Path
) -> list[BundleFile]:
    package = BundleFile(folder / "datapackage.json", "Column types of the tables (Frictionless)")
    _write_json(package.path, descriptions.datapackage_json(release, files))
    readme = BundleFile(folder / "README.md", "What this is and how to read it")
    readme.path.write_text(descriptions.readme(release, files), encoding="utf-8")
    about = BundleFile(folder / "release.json", "Every parameter, version and checksum")
    _write_json(
        about.path, descriptions.release_json(release, [*files, package, readme], int(result.counts.sum()))
    )
    return [about, package, readme]


def _write_json(path: Path, value: dict[str, Any]) -> None:
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _zip(path: Path, files: list[BundleFile], release: Release) -> None:
    """Zip with the time of the measurement on every entry, so that the bytes are the same each time."""
    assert release.measured_at is not None
    stamp = _zip_time(release.measured_at)
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
    stored = storage.keep(file.path, f"releases/{release.pk}/bundle/{file.name}")
    return Artifact(
        release=release, name=file.name, stored=stored, size=size, sha256=digest, about=file.about
    )
