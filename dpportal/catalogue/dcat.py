"""The catalogue for other catalogues: a DCAT 3 document in JSON-LD, as the profile DCAT-AP asks for it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from dpportal.accounts.origins import origin_of
from dpportal.budgets.charged_publication import ChargedPublication
from dpportal.catalogue import snapshot
from dpportal.catalogue.entries import Catalogue, Entry, abouts, loaded
from dpportal.platform.json_types import Json
from dpportal.publications.licences import Licence
from dpportal.publications.metadata import About
from dpportal.releases import bundle as release_bundle
from dpportal.releases.models import Release
from dpportal.streams import bundle as stream_bundle
from dpportal.streams.models import Stream

# The newest; harvesters ask again and again.
MOST = 500
# Documents that were written last, by the state of the catalogue and the portal's address.
_latest: dict[tuple[Catalogue, str], bytes] = {}
MOST_DOCUMENTS = 4
_HAN = re.compile("[\u4e00-\u9fff]")
# Entries of the vocabularies that DCAT-AP asks for.
AUTHORITY = "http://publications.europa.eu/resource/authority"
MEDIA_TYPES = "https://www.iana.org/assignments/media-types"
# Each with its class, by which the profile's shapes know it.
ENGLISH = {"@id": f"{AUTHORITY}/language/ENG", "@type": "dct:LinguisticSystem"}
CHINESE = {**ENGLISH, "@id": f"{AUTHORITY}/language/ZHO"}
PUBLIC_ACCESS = {"@id": f"{AUTHORITY}/access-right/PUBLIC", "@type": "dct:RightsStatement"}
ZIP = {"@id": f"{AUTHORITY}/file-type/ZIP", "@type": "dct:MediaTypeOrExtent"}
ZIP_TYPE = {"@id": f"{MEDIA_TYPES}/application/zip", "@type": "dct:MediaType"}
CONTEXT = {
    "dcat": "http://www.w3.org/ns/dcat#",
    "dct": "http://purl.org/dc/terms/",
    "dcatap": "http://data.europa.eu/r5r/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "vcard": "http://www.w3.org/2006/vcard/ns#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}


@require_safe
def catalogue(request: HttpRequest) -> HttpResponse:
    """Every dataset of which something is public, with a distribution for each release and running count."""
    return HttpResponse(_current(origin_of(request)), content_type="application/ld+json")


def _current(site: str) -> bytes:
    """The document, written once for each state of the catalogue. site: the portal's address without a last slash."""
    listed = snapshot.current()
    document = _latest.get((listed, site))
    if document is None:
        document = _document(listed, site)
        # Where something changed meanwhile, it is of neither state.
        if snapshot.current() is listed:
            if len(_latest) >= MOST_DOCUMENTS:
                _latest.clear()
            _latest[listed, site] = document
    return document


def _document(listed: Catalogue, site: str) -> bytes:
    entries = loaded(listed.entries[:MOST], with_pictures=False)
    groups = _by_dataset(entries)
    descriptions = abouts(groups)
    document = {
        "@context": CONTEXT,
        "@id": f"{site}{reverse('dcat')}",
        "@type": "dcat:Catalog",
        "dct:title": _("Published with differential privacy"),
        "dct:description": _("Releases, synthetic tables and running counts."),
        "dct:publisher": _agent(_("DP Portal")),
        "foaf:homepage": _page(f"{site}{reverse('catalogue')}"),
        "dct:language": _language_of(_("DP Portal"), _("Releases, synthetic tables and running counts.")),
        "dcat:dataset": [_dataset(site, group, descriptions[pk]) for pk, group in groups.items()],
    }
    return json.dumps(document).encode()


def _by_dataset(entries: list[Entry]) -> dict[UUID, list[Entry]]:
    groups: dict[UUID, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(entry.it.dataset.pk, []).append(entry)
    return groups


def _dataset(site: str, entries: list[Entry], about: About) -> Json:
    """entries: all of one dataset, the newest first."""
    dataset = entries[0].it.dataset
    page = f"{site}{reverse('public_dataset', args=[dataset.pk])}"
    first = min(entry.it.published_at for entry in entries if entry.it.published_at)
    return {
        # Its page is a document about it.
        "@id": f"{page}#dataset",
        "@type": "dcat:Dataset",
        "dct:title": dataset.name,
        "dct:identifier": str(dataset.pk),
        "dct:issued": _day(first.date().isoformat()),
        "dcat:landingPage": _page(page),
        "dct:accessRights": PUBLIC_ACCESS,
        "dct:language": _language_of(dataset.name, about.text),
        **dict(_described(about, entries[0].it)),
        "dcat:distribution": [_distribution(site, entry, about) for entry in entries],
    }


def _language_of(*texts: str) -> Json:
    """Nobody declares a language: that of what is written about it."""
    return CHINESE if any(_HAN.search(text) for text in texts) else ENGLISH


def _described(about: About, newest: ChargedPublication) -> Iterator[tuple[str, object]]:
    """What the curator lets everyone read of the dataset."""
    text = about.text or _("Statistics of this dataset, with differential privacy.")
    yield "dct:description", text
    name = about.publisher or newest.created_by.public_name
    yield "dct:publisher", _agent(name)
    if about.keywords:
        yield "dcat:keyword", list(about.keywords)
    if about.place:
        yield "dct:spatial", {"@type": "dct:Location", "skos:prefLabel": about.place}
    if about.first or about.last:
        ends = {"dcat:startDate": about.first, "dcat:endDate": about.last}
        days = {name: _day(end) for name, end in ends.items() if end}
        yield "dct:temporal", {"@type": "dct:PeriodOfTime", **days}
    if about.contact:
        address = "vcard:hasEmail" if about.contact_address.startswith("mailto:") else "vcard:hasURL"
        yield "dcat:contactPoint", {"@type": "vcard:Kind", address: {"@id": about.contact_address}}


def _distribution(site: str, entry: Entry, about: About) -> Json:
    """A release or a running count: its page, which has the downloads, and the file with all of them."""
    publication, page = entry.it, f"{site}{entry.it.get_absolute_url()}"
    return {
        "@id": page,
        "@type": "dcat:Distribution",
        "dct:title": str(publication),
        "dct:description": f"{entry.kind}, {publication.dataset.name}, {entry.loss}",
        "dcat:accessURL": {"@id": page},
        "dcat:downloadURL": {"@id": f"{site}{_archive(publication)}"},
        "dct:format": ZIP,
        "dcat:mediaType": ZIP_TYPE,
        **({"dct:issued": _day(at.date().isoformat())} if (at := publication.published_at) else {}),
        **({"dct:license": _licence(about.terms)} if about.terms else {}),
    }


def _archive(publication: ChargedPublication) -> str:
    """The path of the file with everything."""
    if isinstance(publication, Stream):
        return reverse("streams:download", args=[publication.pk, stream_bundle.archive_name(publication)])
    assert isinstance(publication, Release)
    return reverse("releases:download", args=[publication.pk, release_bundle.archive_name(publication)])


def _page(address: str) -> Json:
    return {"@id": address, "@type": "foaf:Document"}


def _agent(name: str) -> Json:
    return {"@type": "foaf:Agent", "foaf:name": name}


def _licence(terms: Licence) -> Json:
    return {"@id": terms.text, "@type": "dct:LicenseDocument", "dct:title": terms.name}


def _day(text: str) -> Json:
    """A year, a month or a day with its type."""
    kind = {4: "xsd:gYear", 7: "xsd:gYearMonth"}.get(len(text), "xsd:date")
    return {"@type": kind, "@value": text}
