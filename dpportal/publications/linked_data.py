"""A publication as search engines for data read it: a schema.org Dataset in JSON-LD.

Source: Google Search Central, Dataset structured data; Science on Schema.org 1.3, guide to Dataset.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpportal.platform.json_types import Json
from mechanisms.tabular.file_types import media_type

if TYPE_CHECKING:
    from dpportal.publications.metadata import Download, Metadata

TECHNIQUE = "Differential privacy"
# What is measured where no column is, as by a running count of all rows.
COUNTED = "count"


def schema_org(metadata: Metadata) -> Json:
    """What was not said is left out."""
    about = metadata.about
    facts = {
        "name": metadata.title,
        "description": f"{metadata.kind}. {about.text}".strip(),
        "url": metadata.address,
        "identifier": metadata.link,
        "datePublished": metadata.published.isoformat(),
        "creator": {"@type": "Organization", "name": metadata.author},
        "publisher": {"@type": "Organization", "name": about.publisher} if about.publisher else "",
        "license": about.terms.text if about.terms else "",
        "keywords": list(about.keywords),
        "spatialCoverage": {"@type": "Place", "name": about.place} if about.place else "",
        "temporalCoverage": about.interval,
        "measurementTechnique": TECHNIQUE,
        "variableMeasured": [
            {"@type": "PropertyValue", "name": name, **known}
            for name, known in (metadata.columns or {COUNTED: {}}).items()
        ],
        "distribution": [_download(file) for file in metadata.downloads],
        "isAccessibleForFree": True,
    }
    return {
        "@context": "https://schema.org",
        "@type": "Dataset",
        **{key: value for key, value in facts.items() if value},
    }


def _download(file: Download) -> Json:
    return {
        "@type": "DataDownload",
        "name": file.name,
        "description": file.about,
        "contentUrl": file.address,
        "encodingFormat": media_type(file.name).partition(";")[0],
        "contentSize": f"{file.size} B",
        "sha256": file.sha256,
    }
