"""A bundle's tables as machine learning reads them, Croissant 1.0 in JSON-LD.

Source: MLCommons, Croissant Format Specification 1.0, http://mlcommons.org/croissant/1.0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mechanisms.json_types import JsonObject
from mechanisms.tabular.file_types import media_type

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
CONTEXT: JsonObject = {
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
class DataFile:
    """A data file: what it is in words, its size in bytes, and of a CSV table its columns as Frictionless fields."""

    name: str
    about: str
    size: int
    sha256: str
    fields: Sequence[Mapping[str, object]] = ()


def croissant(
    names: tuple[str, str],
    description: str,
    author: str,
    created: str,
    described: JsonObject,
    files: Sequence[DataFile],
) -> JsonObject:
    """A file object for each data file, a record set for each CSV table with its columns.

    names: of the package, and its title. created: a day by ISO 8601. described: what the curator says of the dataset.
    """
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS_TO,
        "name": names[0],
        "alternateName": names[1],
        "description": description,
        "creator": {"@type": "Organization", "name": author},
        "datePublished": created,
        "version": "1.0.0",
        **described,
        "distribution": [_file(file) for file in files],
        "recordSet": [_records(file) for file in files if file.fields],
    }


def _file(file: DataFile) -> JsonObject:
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


def _records(file: DataFile) -> JsonObject:
    name = file.name.rpartition(".")[0]
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": file.about,
        "field": [_field(name, file.name, field) for field in file.fields],
    }


def _field(records: str, file: str, field: Mapping[str, object]) -> JsonObject:
    name = str(field["name"])
    return {
        "@type": "cr:Field",
        "@id": f"{records}/{name}",
        "name": name,
        "description": str(field.get("description") or field.get("title") or name),
        "dataType": DATA_TYPES[str(field["type"])],
        "source": {"fileObject": {"@id": file}, "extract": {"column": name}},
    }
