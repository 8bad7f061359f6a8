"""croissant.json: a bundle's tables as machine learning reads them, Croissant 1.0 in JSON-LD.

Source: MLCommons, Croissant Format Specification 1.0, http://mlcommons.org/croissant/1.0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from dpportal.platform.json_types import Json
from dpportal.publications.archive import BundleFile, write_json
from dpportal.publications.file_types import media_type
from dpportal.publications.metadata import About, Metadata
from dpportal.publications.table import Table

NAME = "croissant.json"
ABOUT = "The tables for programs that learn from data (Croissant)"
CONFORMS_TO = "http://mlcommons.org/croissant/1.0"
# By the types of Frictionless fields.
DATA_TYPES = {
    "string": "sc:Text",
    "integer": "sc:Integer",
    "number": "sc:Float",
    "boolean": "sc:Boolean",
    "date": "sc:Date",
}
_TERMS = (
    "citeAs column conformsTo equivalentProperty extract field fileProperty fileObject fileSet format includes "
    "isLiveDataset jsonPath key md5 parentField path recordSet references regex repeated replace separator source "
    "subField transform"
)
CONTEXT: Json = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    **{term: f"cr:{term}" for term in _TERMS.split()},
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "samplingRate": "cr:samplingRate",
}


@dataclass(frozen=True)
class Described:
    """What is said of a bundle as a whole. name: of its package. made: the day of its measurement or newest period."""

    name: str
    title: str
    description: str
    author: str
    made: date
    about: About


def croissant_file(folder: Path, tables: Sequence[Table], described: Described) -> BundleFile:
    """Write croissant.json: a file object for each data file, a record set for each CSV table with its columns."""
    document = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS_TO,
        "name": described.name,
        "alternateName": described.title,
        "description": described.description,
        "creator": {"@type": "Organization", "name": described.author},
        "datePublished": described.made.isoformat(),
        "version": "1.0.0",
        **_said(described.about),
        "distribution": [_file(BundleFile.of(table)) for table in tables],
        "recordSet": [_records(table) for table in tables if table.fields],
    }
    return write_json(folder / NAME, ABOUT, document)


def at_addresses(document: Json, metadata: Metadata, address: Callable[[str], str]) -> Json:
    """The same for a reader who has no bundle: with its page, its citation, and files at their addresses."""
    files = [{**file, "contentUrl": address(file["contentUrl"])} for file in document["distribution"]]
    published = {
        "url": metadata.address,
        "citeAs": metadata.bibtex,
        "datePublished": metadata.published.isoformat(),
    }
    return {**document, **published, "distribution": files}


def _said(about: About) -> Json:
    """What the curator lets everyone read of the dataset; what was not said is left out."""
    facts = {
        "license": about.terms.text if about.terms else "",
        "keywords": list(about.keywords),
        "publisher": {"@type": "Organization", "name": about.publisher} if about.publisher else "",
        "spatialCoverage": about.place,
        "temporalCoverage": about.interval,
    }
    return {name: value for name, value in facts.items() if value}


def _file(file: BundleFile) -> Json:
    return {
        "@type": "cr:FileObject",
        "@id": file.name,
        "name": file.name,
        "description": file.about,
        "contentUrl": file.name,
        "contentSize": f"{file.size} B",
        "encodingFormat": media_type(file.name).partition(";")[0],
        "sha256": file.sha256,
    }


def _records(table: Table) -> Json:
    name = table.path.stem
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": table.about,
        "field": [_field(name, table.path.name, field) for field in table.fields],
    }


def _field(records: str, file: str, field: Mapping[str, object]) -> Json:
    name = str(field["name"])
    return {
        "@type": "cr:Field",
        "@id": f"{records}/{name}",
        "name": name,
        "description": str(field.get("description") or field.get("title") or name),
        "dataType": DATA_TYPES[str(field["type"])],
        "source": {"fileObject": {"@id": file}, "extract": {"column": name}},
    }
