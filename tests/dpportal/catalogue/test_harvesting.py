"""What other catalogues and readers of news fetch: an Atom feed and a DCAT document of all that is public."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest
from django.urls import reverse

from dpportal.datasets.models import PublicDescription
from dpportal.releases import services
from dpportal.releases.models import Release

ATOM = "{http://www.w3.org/2005/Atom}"


@pytest.fixture
def public(ready):
    services.publish(ready, ready.created_by)
    told = {
        "text": "Colours of all people",
        "keywords": ["colour", "age"],
        "licence": "CC-BY-4.0",
        "first": "2011",
    }
    PublicDescription.objects.create(dataset=ready.dataset, shown=True, publisher="Office of Colours", **told)
    ready.refresh_from_db()
    return ready


@pytest.mark.slow
def test_a_feed_has_what_is_public_and_nothing_else(client, public):
    feed = ElementTree.fromstring(client.get("/published/feed.atom").content)
    [entry] = feed.findall(f"{ATOM}entry")
    assert entry.findtext(f"{ATOM}title") == str(public)
    link = entry.find(f"{ATOM}link")
    assert link is not None and link.get("href", "").endswith(public.get_absolute_url())
    Release.objects.filter(pk=public.pk).update(title="Colours\x0bby age")
    assert "Colours by age" in client.get("/published/feed.atom").text
    services.withdraw(public, public.created_by)
    feed = ElementTree.fromstring(client.get("/published/feed.atom").content)
    assert feed.findall(f"{ATOM}entry") == []


@pytest.mark.slow
def test_a_catalogue_of_catalogues_finds_dataset_and_release(client, public):
    answer = client.get("/published/catalog.jsonld")
    assert answer["Content-Type"] == "application/ld+json"
    [dataset] = json.loads(answer.content)["dcat:dataset"]
    page = f"http://testserver{reverse('public_dataset', args=[public.dataset_id])}"
    assert (dataset["@id"], dataset["dct:description"]) == (page, "Colours of all people")
    assert dataset["dct:publisher"]["foaf:name"] == "Office of Colours"
    assert dataset["dct:temporal"]["dcat:startDate"] == {"@type": "xsd:gYear", "@value": "2011"}
    [distribution] = dataset["dcat:distribution"]
    assert distribution["dcat:accessURL"]["@id"] == f"http://testserver{public.get_absolute_url()}"
    assert "creativecommons" in distribution["dct:license"]["@id"]
    PublicDescription.objects.update(shown=False)
    assert "Office of Colours" not in client.get("/published/catalog.jsonld").text
