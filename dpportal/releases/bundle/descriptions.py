"""The files of a bundle that explain it: release.json, datapackage.json, README.md."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from django.template.loader import render_to_string

from dpportal import storage
from dpportal.releases.bundle.tables import NUMBERS, histogram_columns
from dpportal.releases.models import Release
from dpportal.releases.statement import statement
from dpportal.spreadsheet import inert
from mechanisms.domain import Attribute, Date, Integer, Real
from mechanisms.domain import Boolean as BooleanAttribute

FORMAT = 1
LIBRARIES = ("numpy", "scipy", "pandas", "pyarrow", "duckdb", "Django")
NUMBER_TITLES = {
    "noisy_count": "Count with noise, unbiased, may be negative",
    "count": "Count made into that of a possible table, never negative",
    "standard_error": "Standard error of the noisy count, in rows",
    "interval_lower": "Lower end of the 95% interval of the true count",
    "interval_upper": "Upper end of the 95% interval of the true count",
}


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


def release_json(release: Release, files: list[BundleFile], synthetic_rows: int) -> dict[str, Any]:
    """All parameters, versions and digests: enough to check how the release was made."""
    plan, delta = release.plan, release.dataset.budget.delta
    assert release.measured_at is not None and release.domain_version is not None
    return {
        "format": FORMAT,
        "release": str(release.pk),
        "title": release.title,
        "dataset": release.dataset.name,
        "curator": release.created_by.get_full_name() or release.created_by.get_username(),
        "measured_at": release.measured_at.isoformat(timespec="seconds"),
        "statement": statement(plan.loss, delta),
        "plan": plan.to_json(),
        "domain": {"version": release.domain_version.version, "filled_from_data": filled_columns(release)},
        "measurement_sha256": release.measurement_sha256,
        "synthetic_rows": synthetic_rows,
        "versions": {"python": platform.python_version(), **{name: version(name) for name in LIBRARIES}},
        "files": {file.name: {"bytes": file.size, "sha256": file.sha256} for file in files},
    }


def filled_columns(release: Release) -> list[str]:
    """The released columns whose domain was taken from the data."""
    assert release.domain_version is not None
    filled = release.domain_version.attributes.filter(filled_from_data=True, column__in=release.columns)
    return list(filled.values_list("column", flat=True))


def datapackage_json(release: Release, files: list[BundleFile]) -> dict[str, Any]:
    """A Frictionless data package of the bundle's CSV tables."""
    domain = release.plan.domain
    schemas = {
        "synthetic.csv": [_field(inert(a.name), a) for a in domain.attributes],
        "histogram.csv": [
            *({"name": inert(name), "type": "string"} for name in histogram_columns(domain)),
            *({"name": name, "type": _number_type(name), "title": NUMBER_TITLES[name]} for name in NUMBERS),
        ],
    }
    return {
        "profile": "tabular-data-package",
        "name": f"release-{release.pk}",
        "title": release.title,
        "description": statement(release.plan.loss, release.dataset.budget.delta),
        "resources": [_resource(file, schemas[file.name]) for file in files if file.name in schemas],
    }


def readme(release: Release, files: list[BundleFile]) -> str:
    """The bundle's explanation for people."""
    context = {
        "release": release,
        "plan": release.plan,
        "statement": statement(release.plan.loss, release.dataset.budget.delta),
        "files": files,
        "filled": filled_columns(release),
    }
    return render_to_string("releases/bundle_readme.md", context)


def _resource(file: BundleFile, fields: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "profile": "tabular-data-resource",
        "name": file.path.stem,
        "path": file.name,
        "format": "csv",
        "mediatype": "text/csv",
        "encoding": "utf-8",
        "bytes": file.size,
        "hash": f"sha256:{file.sha256}",
        "schema": {"fields": fields, "missingValues": [""]},
    }


def _field(name: str, attribute: Attribute) -> dict[str, Any]:
    if isinstance(attribute, Integer):
        return {"name": name, "type": "integer"}
    if isinstance(attribute, Real):
        return {"name": name, "type": "number"}
    if isinstance(attribute, Date):
        return {"name": name, "type": "date"}
    if isinstance(attribute, BooleanAttribute):
        return {"name": name, "type": "boolean", "trueValues": ["True"], "falseValues": ["False"]}
    return {"name": name, "type": "string"}


def _number_type(name: str) -> str:
    return "number" if name == "standard_error" else "integer"
