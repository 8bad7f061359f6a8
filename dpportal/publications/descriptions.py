"""The files that explain a bundle to people and programs: release.json, datapackage.json, README.md, report.html."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles import finders
from django.template.loader import render_to_string
from django.utils.translation import override

from dpportal.platform.json_types import Json
from dpportal.platform.keyed import signing_keys
from dpportal.publications.archive import BundleFile, write_json
from dpportal.publications.croissant import Described
from dpportal.publications.table import Table
from mechanisms.verify.bundle import SIGNATURE
from mechanisms.verify.signature import signed_text

FORMAT = 1
# What begins a tag in Markdown, and what ends the words of a link or a picture, or the name of its address, of which
# texts of the portal have none; and the backslashes before. Each is written so that it is no sign of Markdown for any
# program: some read a backslash before one as a part of an address that it stands behind.
_MARKUP = re.compile(r"\\*(?:<(?=[A-Za-z/!?])|\](?=[(\[:]))")
_WRITTEN = {"\\": "\\\\", "<": "&lt;", "]": "&#93;"}
STYLES, REPORT = "css/portal.css", "report.html"
# What each file is, in the lists of files on pages and in README.md.
ABOUT_RELEASE = "Every parameter, version and checksum"
ABOUT_SIGNATURE = "The portal's signature of release.json"
ABOUT_README = "What this is and how to read it"
ABOUT_REPORT = "What the public page says, to read in a browser and to print"
ABOUT_REPORT_IN = "What the public page says, in {language}"
LIBRARIES = ("numpy", "scipy", "pandas", "pyarrow", "duckdb", "Django")


def about_file(folder: Path, facts: Json, files: Iterable[BundleFile]) -> BundleFile:
    """release.json: the facts, with versions and the checksums of all other files."""
    everything = {
        "format": FORMAT,
        **facts,
        "versions": {"python": platform.python_version(), **{name: version(name) for name in LIBRARIES}},
        "files": {file.name: {"bytes": file.size, "sha256": file.sha256} for file in files},
    }
    return write_json(folder / "release.json", ABOUT_RELEASE, everything)


def signature_file(folder: Path, about: BundleFile) -> BundleFile:
    """signature.json: the portal's signature of release.json, and so of every digest in it."""
    signed = signing_keys().sign(signed_text(about.sha256))
    return write_json(folder / SIGNATURE, ABOUT_SIGNATURE, signed)


def package_file(folder: Path, tables: list[Table], described: Described) -> BundleFile:
    """datapackage.json: a Frictionless data package of the bundle's CSV tables."""
    package = {
        "profile": "tabular-data-package",
        "name": described.name,
        "title": described.title,
        "description": described.description,
        **described.about.frictionless(),
        "resources": [_resource(table) for table in tables if table.fields],
    }
    return write_json(folder / "datapackage.json", about_package(len(tables)), package)


def about_package(tables: int) -> str:
    """What datapackage.json is, beside so many tables."""
    return f"Column types of the {'table' if tables == 1 else 'tables'} (Frictionless)"


def readme_file(folder: Path, template: str, contexts: Mapping[str, Json]) -> BundleFile:
    """README.md: the bundle's explanation for people, in English, and below it in each other language.

    template: in English; another language's has its code before the ending. contexts: by the languages' codes.
    Titles, names and descriptions are texts of people and shown as they are: no tag, link or picture comes of them.
    """
    path = folder / "README.md"
    with path.open("w", encoding="utf-8") as readme:
        for code, _name in settings.LANGUAGES:
            with override(code):
                text = render_to_string(_named(template, code), contexts[code])
                readme.write(_MARKUP.sub(lambda match: "".join(_WRITTEN[sign] for sign in match[0]), text))
    return BundleFile(path, ABOUT_README)


def report_files(folder: Path, template: str, contexts: Mapping[str, Json]) -> list[BundleFile]:
    """What the public page says, to read and to print without the portal: a file for each language.

    contexts: by the languages' codes.
    """
    files = []
    for code, language in settings.LANGUAGES:
        path = folder / _named(REPORT, code)
        about = ABOUT_REPORT if path.name == REPORT else ABOUT_REPORT_IN.format(language=language)
        with override(code):
            text = render_to_string(template, {**contexts[code], "styles": styles(), "alone": True})
        path.write_text(text, encoding="utf-8")
        files.append(BundleFile(path, about))
    return files


def _named(name: str, code: str) -> str:
    """A file's name in English; in another language with its code before the ending."""
    stem, _dot, ending = name.rpartition(".")
    return name if code == settings.LANGUAGE_CODE else f"{stem}.{code}.{ending}"


def styles() -> str:
    """The portal's own styles, to be written into a file by itself."""
    path = finders.find(STYLES)
    assert isinstance(path, str)
    return Path(path).read_text(encoding="utf-8")


def _resource(table: Table) -> Json:
    """A CSV table as a Frictionless resource."""
    file = BundleFile.of(table)
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
