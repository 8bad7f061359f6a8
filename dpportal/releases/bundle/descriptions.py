"""The files of a bundle that explain it: release.json, datapackage.json, README.md."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from django.template.loader import render_to_string

from dpportal import storage
from dpportal.releases.models import Release
from dpportal.releases.products import Made, product_of
from dpportal.releases.products.base import Table
from dpportal.releases.statement import statement

FORMAT = 1
LIBRARIES = ("numpy", "scipy", "pandas", "pyarrow", "duckdb", "Django")


@dataclass(frozen=True)
class BundleFile:
    """A file in the making: where it is, and what it is in a few words."""

    path: Path
    about: str

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def size(self) -> int:
        return self.path.stat().st_size

    @property
    def sha256(self) -> str:
        return storage.sha256(self.path)


def release_json(made: Made, files: list[BundleFile]) -> dict[str, Any]:
    """All parameters, versions and digests: enough to check how the release was made."""
    release = made.release
    assert release.measured_at is not None and release.domain_version is not None
    return {
        "format": FORMAT,
        "release": str(release.pk),
        "product": release.product,
        "title": release.title,
        "dataset": release.dataset.name,
        "curator": release.created_by.get_full_name() or release.created_by.get_username(),
        "measured_at": release.measured_at.isoformat(timespec="seconds"),
        "statement": statement(made.plan.loss, release.dataset.budget.delta),
        "plan": made.plan.to_json(),
        "domain": {"version": release.domain_version.version, "filled_from_data": filled_columns(release)},
        "measurement_sha256": release.measurement_sha256,
        **product_of(release).facts(made),
        "versions": {"python": platform.python_version(), **{name: version(name) for name in LIBRARIES}},
        "files": {file.name: {"bytes": file.size, "sha256": file.sha256} for file in files},
    }


def filled_columns(release: Release) -> list[str]:
    """The released columns whose domain was taken from the data."""
    assert release.domain_version is not None
    filled = release.domain_version.attributes.filter(filled_from_data=True, column__in=release.columns)
    return list(filled.values_list("column", flat=True))


def datapackage_json(made: Made, tables: list[Table]) -> dict[str, Any]:
    """A Frictionless data package of the bundle's CSV tables."""
    release = made.release
    return {
        "profile": "tabular-data-package",
        "name": f"release-{release.pk}",
        "title": release.title,
        "description": statement(made.plan.loss, release.dataset.budget.delta),
        "resources": [resource(table) for table in tables if table.fields],
    }


def readme(made: Made, files: list[BundleFile]) -> str:
    """The bundle's explanation for people."""
    release = made.release
    context = {
        "release": release,
        "plan": made.plan,
        "statement": statement(made.plan.loss, release.dataset.budget.delta),
        "files": files,
        "filled": filled_columns(release),
        "product": product_of(release),
    }
    return render_to_string("releases/bundle_readme.md", context)


def resource(table: Table) -> dict[str, Any]:
    """A CSV table as a Frictionless resource."""
    file = BundleFile(table.path, table.about)
    return {
        "profile": "tabular-data-resource",
        "name": file.path.stem,
        "path": file.name,
        "format": "csv",
        "mediatype": "text/csv",
        "encoding": "utf-8",
        "bytes": file.size,
        "hash": f"sha256:{file.sha256}",
        "schema": {"fields": list(table.fields), "missingValues": [""]},
        **({"dialect": {"skipBlankRows": True}} if table.may_be_blank else {}),
    }
