"""How a publication is registered: the metadata of a DOI, as DataCite takes them.

Source: DataCite Metadata Schema 4.6, https://doi.org/10.14454/mzv1-5b55, in the JSON of DataCite's own
API, of which there is a schema for 4.5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpportal.platform.json_types import Json

if TYPE_CHECKING:
    from dpportal.publications.metadata import About, Metadata

SCHEMA = "http://datacite.org/schema/kernel-4"
SUBJECT = "Differential privacy"


def datacite(metadata: Metadata) -> Json:
    """All six mandatory properties, and of the others those that were said. Without a DOI only the address."""
    about = metadata.about
    return {
        "schemaVersion": SCHEMA,
        **({"doi": metadata.doi} if metadata.doi else {}),
        "alternateIdentifiers": [
            {"alternateIdentifier": metadata.identifier, "alternateIdentifierType": "Local accession number"}
        ],
        "url": metadata.address,
        "creators": [{"name": metadata.author, "nameType": "Organizational"}],
        "titles": [{"title": metadata.title}],
        "publisher": {"name": about.publisher or metadata.author},
        "publicationYear": str(metadata.published.year),
        "types": {"resourceTypeGeneral": "Dataset", "resourceType": metadata.kind},
        "dates": [{"date": metadata.published.isoformat(), "dateType": "Issued"}, *_covered(about)],
        "descriptions": [
            {
                "description": f"{metadata.kind}. {about.text}".strip(),
                "descriptionType": "Abstract",
            }
        ],
        "subjects": [{"subject": word} for word in dict.fromkeys((SUBJECT, *about.keywords))],
        **_described(about),
    }


def _covered(about: About) -> list[Json]:
    """What time the data are about; ends that were not said stay open, as RKMS-ISO8601 writes them.

    Version 4.6 has a type of its own for this, which those who keep to an earlier one refuse.
    """
    if not about.interval:
        return []
    open_ended = about.interval.replace("..", "")
    return [{"date": open_ended, "dateType": "Other", "dateInformation": "Coverage"}]


def _described(about: About) -> Json:
    facts: Json = {}
    if about.place:
        facts["geoLocations"] = [{"geoLocationPlace": about.place}]
    if terms := about.terms:
        named = {"rightsIdentifier": about.licence, "rightsIdentifierScheme": "SPDX"}
        facts["rightsList"] = [{"rights": terms.name, "rightsUri": terms.text, **named}]
    return facts
