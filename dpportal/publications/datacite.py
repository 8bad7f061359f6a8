"""How a publication is registered: the metadata of a DOI, as DataCite takes them.

Source: DataCite Metadata Schema 4.6, https://doi.org/10.14454/mzv1-5b55, in the JSON of DataCite's own API.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpportal.platform.json_types import Json

if TYPE_CHECKING:
    from dpportal.publications.metadata import About, Metadata

SCHEMA = "http://datacite.org/schema/kernel-4"


def datacite(metadata: Metadata) -> Json:
    """All six mandatory properties, and of the others those that were said. Without a DOI only the address."""
    about = metadata.about
    return {
        "schemaVersion": SCHEMA,
        **({"doi": metadata.doi} if metadata.doi else {}),
        "identifiers": [{"identifier": metadata.identifier, "identifierType": "Local accession number"}],
        "url": metadata.address,
        "creators": [{"name": metadata.author, "nameType": "Organizational"}],
        "titles": [{"title": metadata.title}],
        "publisher": {"name": about.publisher or metadata.author},
        "publicationYear": metadata.published.year,
        "types": {"resourceTypeGeneral": "Dataset", "resourceType": metadata.kind},
        "dates": [{"date": metadata.published.isoformat(), "dateType": "Issued"}, *_covered(about)],
        "descriptions": [
            {
                "description": f"{metadata.kind}. {about.text}".strip(),
                "descriptionType": "Abstract",
            }
        ],
        "subjects": [{"subject": word} for word in ("Differential privacy", *about.keywords)],
        **_said(about),
    }


def _covered(about: About) -> list[Json]:
    """What time the data are about; ends that were not said stay open, as RKMS-ISO8601 writes them."""
    if not about.interval:
        return []
    open_ended = about.interval.replace("..", "")
    return [{"date": open_ended, "dateType": "Coverage"}]


def _said(about: About) -> Json:
    facts: Json = {}
    if about.place:
        facts["geoLocations"] = [{"geoLocationPlace": about.place}]
    if terms := about.terms:
        named = {"rightsIdentifier": about.licence, "rightsIdentifierScheme": "SPDX"}
        facts["rightsList"] = [{"rights": terms.name, "rightsUri": terms.text, **named}]
    return facts
