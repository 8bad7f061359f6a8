"""croissant.json beside the tables of a bundle, and the same for readers who have its page alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from dpportal.platform.json_types import Json
from dpportal.publications.archive import BundleFile, write_json
from dpportal.publications.metadata import About, Metadata
from dpportal.publications.table import Table
from mechanisms.tabular.croissant import DataFile, croissant

NAME = "croissant.json"
ABOUT = "The tables for programs that learn from data (Croissant)"

# Records of a CSV file are as it has them.
GUARDED = (
    "A text that a spreadsheet would take for a formula has an apostrophe before it; take it away. Texts such as NA, "
    "null and None are values: a library that reads them as missing is to be told so."
)


@dataclass(frozen=True)
class Described:
    """What is said of a bundle as a whole. name: of its package. made: the day of its measurement or newest period."""

    name: str
    title: str
    description: str
    author: str
    created_on: date
    about: About


def croissant_file(folder: Path, tables: Sequence[Table], described: Described) -> BundleFile:
    """Write croissant.json: a file object for each data file, a record set for each CSV table with its columns."""
    files = [_data_file(table) for table in tables]
    names = (described.name, described.title)
    day, facts = described.created_on.isoformat(), _described(described.about)
    document = croissant(names, described.description, described.author, day, facts, files)
    return write_json(folder / NAME, ABOUT, dict(document))


def _data_file(table: Table) -> DataFile:
    file = BundleFile.of(table)
    holds_texts = any(field["type"] == "string" for field in table.fields)
    about = f"{file.about.rstrip('.')}. {GUARDED}" if holds_texts else file.about
    return DataFile(file.name, about, file.size, file.sha256, table.fields)


def at_addresses(document: Json, metadata: Metadata, address: Callable[[str], str]) -> Json:
    """The same for a reader who has no bundle: with its page, its citation, and files at their addresses."""
    files = [{**file, "contentUrl": address(file["contentUrl"])} for file in document["distribution"]]
    published = {
        "url": metadata.address,
        "citeAs": metadata.bibtex,
        "datePublished": metadata.published.isoformat(),
    }
    return {**document, **published, "distribution": files}


def _described(about: About) -> Json:
    """What the curator lets everyone read of the dataset; what was not said is left out."""
    facts = {
        "license": about.terms.text if about.terms else "",
        "keywords": list(about.keywords),
        "publisher": {"@type": "Organization", "name": about.publisher} if about.publisher else "",
        "spatialCoverage": about.place,
        "temporalCoverage": about.interval,
    }
    return {name: value for name, value in facts.items() if value}
