"""croissant.json as MLCommons' own library reads it: it validates, and every table's records load."""

from __future__ import annotations

import json
import zipfile
from datetime import date
from pathlib import Path

import mlcroissant as mlc
import pytest

from dpportal.publications.croissant import GUARDED, NAME, Described, at_addresses, croissant_file
from dpportal.publications.metadata import About, Metadata
from dpportal.publications.table import Table

pytestmark = pytest.mark.slow
ABOUT = About(
    keywords=["census"], place="Fulton County", first="2011", publisher="Office", licence="CC-BY-4.0"
)
FIELDS = [
    {"name": "größe", "type": "string", "title": "Size"},
    {"name": "n", "type": "integer"},
    {"name": "error", "type": "number", "description": "In rows"},
    {"name": "known", "type": "boolean"},
]


def loaded(bundle: Path, folder: Path) -> dict[str, list[dict[str, object]]]:
    """The records of each table of a bundle by its name, once its description is valid."""
    with zipfile.ZipFile(bundle) as archive:
        archive.extractall(folder)
    [described] = folder.rglob(NAME)
    return read(described)


def read(described: Path) -> dict[str, list[dict[str, object]]]:
    dataset = mlc.Dataset(jsonld=str(described))
    assert not dataset.metadata.issues.errors
    return {records.name: list(dataset.records(records.name)) for records in dataset.metadata.record_sets}


@pytest.fixture
def described(tmp_path) -> Path:
    path = tmp_path / "sizes.csv"
    path.write_text("größe,n,error,known\nlarge,3,0.5,True\n,,,False\n", encoding="utf-8")
    (tmp_path / "strategy.npz").write_bytes(b"arrays")
    tables = [Table(path, "All sizes", FIELDS), Table(tmp_path / "strategy.npz", "What was measured")]
    said = Described("release-1", "Sizes", "Every size.", "A curator", date(2026, 5, 1), ABOUT)
    return croissant_file(tmp_path, tables, said).path


def test_records_have_their_types_and_missing_values_are_missing(described):
    [first, second] = read(described)["sizes"]
    assert (first["sizes/größe"], first["sizes/n"], first["sizes/error"]) == (b"large", 3, 0.5)
    assert second["sizes/größe"] is None or second["sizes/größe"] != second["sizes/größe"]


def test_a_table_of_texts_says_that_its_records_keep_the_apostrophe_of_a_file(described):
    document = json.loads(described.read_text(encoding="utf-8"))
    [records] = document["recordSet"]
    about = f"All sizes. {GUARDED}"
    assert "apostrophe" in GUARDED and "NA" in GUARDED
    assert records["description"] == about
    assert [file["description"] for file in document["distribution"]] == [about, "What was measured"]


def test_what_was_said_of_the_dataset_stands_in_it(described):
    document = json.loads(described.read_text(encoding="utf-8"))
    assert document["license"].startswith("https://creativecommons.org")
    assert (document["spatialCoverage"], document["temporalCoverage"]) == ("Fulton County", "2011/..")
    assert [file["name"] for file in document["distribution"]] == ["sizes.csv", "strategy.npz"]


def test_a_description_at_an_address_is_valid_and_leads_to_page_and_files(described):
    metadata = Metadata(
        "Sizes", "Release", "A curator", date(2026, 6, 1), "https://portal.example/releases/1/", "1"
    )
    placed = at_addresses(json.loads(described.read_text()), metadata, "https://portal.example/{}".format)
    assert placed["url"] == "https://portal.example/releases/1/"
    assert placed["distribution"][0]["contentUrl"] == "https://portal.example/sizes.csv"
    issues = mlc.Dataset(jsonld=placed).metadata.issues
    assert not issues.errors and not issues.warnings
