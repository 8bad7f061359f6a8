"""How a publication is cited, and what programs read of it."""

from __future__ import annotations

import json
from datetime import date

import pytest
from datacite import schema45

from dpportal.publications.licences import LICENCES
from dpportal.publications.metadata import About, Download, Metadata

ABOUT = About(
    text="All people\nof a county",
    keywords=["census", "age"],
    place="Fulton County",
    first="2011",
    last="2015-03",
    publisher="Bureau & Sons",
    contact="desk@example.org",
    licence="CC-BY-4.0",
)


def metadata(**said) -> Metadata:
    usual = {
        "title": "Ages 100% {true}",
        "kind": "Differentially private release of Census, ε = 1",
        "author": "Office of Counts",
        "published": date(2026, 5, 1),
        "address": "https://portal.example/releases/1/",
        "identifier": "0123456789",
        "columns": {"age": {"alternateName": ["Age in years"]}},
        "about": ABOUT,
        "downloads": [Download("ages.csv", "Ages", "https://portal.example/ages.csv", 12, "ab" * 32)],
    }
    return Metadata(**{**usual, **said})


def test_a_citation_begins_with_a_capital_letter():
    own = metadata(author="a curator of this portal")
    assert own.text.startswith("A curator of this portal (2026). Ages")
    assert own.author_and_year == "A curator of this portal (2026)"


def test_bibtex_has_each_field_on_a_line_and_no_mark_that_tex_obeys():
    assert metadata().bibtex.splitlines() == [
        "@misc{office2026-01234567,",
        r"  title = {{Ages 100\% \textbraceleft{}true\textbraceright{}}},",
        "  author = {{Office of Counts}},",
        "  year = {2026},",
        r"  publisher = {Bureau \& Sons},",
        "  note = {Differentially private release of Census, ε = 1},",
        "  url = {https://portal.example/releases/1/},",
        "}",
    ]


def test_a_brace_alone_leaves_the_braces_of_bibtex_balanced():
    """BibTeX counts every brace, with a backslash before it or not."""
    entry = metadata(title="Ages {0 to 17").bibtex
    assert r"{{Ages \textbraceleft{}0 to 17}}" in entry
    assert entry.count("{") == entry.count("}")


def test_ris_has_each_tag_on_a_line():
    assert metadata(doi="10.5281/zenodo.1").ris.split("\r\n") == [
        "TY  - DATA",
        "TI  - Ages 100% {true}",
        "AU  - Office of Counts",
        "PY  - 2026",
        "DA  - 2026/05/01",
        "PB  - Bureau & Sons",
        "N1  - Differentially private release of Census, ε = 1",
        "AB  - All people of a county",
        "KW  - census",
        "KW  - age",
        "DO  - 10.5281/zenodo.1",
        "UR  - https://doi.org/10.5281/zenodo.1",
        "ER  - ",
        "",
    ]


@pytest.mark.parametrize("form", ["bib", "ris", "datacite"])
def test_a_title_can_neither_end_an_entry_nor_begin_one(form):
    usual, odd = metadata(), metadata(title="One\r\nER  - \r\nTY  - BOOK\n}\n@misc{x,")
    assert len(odd.cited(form).splitlines()) == len(usual.cited(form).splitlines())


def test_the_sentence_names_publisher_and_doi():
    assert metadata(doi="10.1/a").text == (
        "Office of Counts (2026). Ages 100% {true}. Differentially private release of Census, ε = 1. "
        "Bureau & Sons. https://doi.org/10.1/a"
    )


def test_search_engines_read_a_schema_org_dataset():
    said = json.loads(metadata().linked_data)
    assert (said["@type"], said["name"], said["spatialCoverage"]["name"]) == (
        "Dataset",
        "Ages 100% {true}",
        "Fulton County",
    )
    assert said["temporalCoverage"] == "2011/2015-03"
    assert said["license"] == LICENCES["CC-BY-4.0"].text
    variable = {"@type": "PropertyValue", "name": "age", "alternateName": ["Age in years"]}
    assert said["variableMeasured"] == [variable]
    of_all_rows = json.loads(metadata(columns={}).linked_data)
    assert [variable["name"] for variable in of_all_rows["variableMeasured"]] == ["count"]
    [file] = said["distribution"]
    assert (file["encodingFormat"], file["contentSize"], file["@type"]) == (
        "text/csv",
        "12 B",
        "DataDownload",
    )
    # What Google asks of a dataset, and recommends.
    assert 50 <= len(said["description"]) <= 5000
    recommended = {
        "creator",
        "identifier",
        "isAccessibleForFree",
        "keywords",
        "license",
        "measurementTechnique",
        "url",
    }
    assert recommended <= set(said)


@pytest.mark.parametrize(
    "about",
    [ABOUT, About(), About(first="2011", keywords=["age", "Differential privacy"]), About(last="2012-01-31")],
)
@pytest.mark.parametrize("doi", ["", "10.5281/zenodo.1"])
def test_a_registry_of_dois_reads_what_fits_its_schema(about, doi):
    said = json.loads(metadata(about=about, doi=doi).cited("datacite"))
    schema45.validate(said)
    assert ("doi" in said) == bool(doi) and said["types"]["resourceTypeGeneral"] == "Dataset"


def test_a_registry_of_dois_is_told_licence_and_coverage():
    said = json.loads(metadata(doi="10.5281/zenodo.1").cited("datacite"))
    assert said["rightsList"][0]["rightsIdentifier"] == "CC-BY-4.0"
    covered = {"date": "2011/2015-03", "dateType": "Other", "dateInformation": "Coverage"}
    assert covered in said["dates"] and said["publicationYear"] == "2026"


def test_what_was_not_said_is_left_out():
    said = json.loads(metadata(about=About()).linked_data)
    assert not {"license", "spatialCoverage", "temporalCoverage", "keywords", "publisher"} & set(said)
    assert About().facts() == {}


def test_nothing_in_it_ends_the_script_element():
    said = metadata(title="</script><b>&").linked_data
    assert "<" not in said and "&" not in said
    assert json.loads(said)["name"] == "</script><b>&"


@pytest.mark.parametrize(
    "first, last, period",
    [("", "", ""), ("2011", "", "2011"), ("2011", "2015", "2011 – 2015"), ("2011", "2011", "2011")],
)
def test_a_period_is_written_once(first, last, period):
    assert About(first=first, last=last).period == period


def test_a_contact_is_a_mail_address_or_a_page():
    assert About(contact="desk@example.org").contact_address == "mailto:desk@example.org"
    assert About(contact="https://example.org/@desk").contact_address == "https://example.org/@desk"
