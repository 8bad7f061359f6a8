"""What other catalogues and readers of news fetch: an Atom feed and a DCAT document of all that is public."""

from __future__ import annotations

import json
from datetime import timedelta
from xml.etree import ElementTree

import pytest
from django.urls import reverse

from dpportal.catalogue.entries import published
from dpportal.datasets.models import PublicDescription
from dpportal.releases import services
from dpportal.releases.models import Release
from tests.dpportal.test_public_work import calls

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


def many(release: Release, number: int) -> None:
    """So many more like it, published earlier, one a minute."""
    own = {"id", "charge_id", "published_at"}
    values = {
        f.attname: getattr(release, f.attname) for f in Release._meta.concrete_fields if f.attname not in own
    }
    assert release.published_at is not None
    Release.objects.bulk_create(
        Release(**values, published_at=release.published_at - timedelta(minutes=place))
        for place in range(1, number + 1)
    )


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
def test_a_sitemap_is_sent_again_once_something_is_published_or_withdrawn(client, public):
    page = f"<loc>http://testserver{public.get_absolute_url()}</loc><lastmod>{public.published_at:%Y-%m-%d}</lastmod>"

    def later(tag):
        return client.get("/sitemap.xml", headers={"If-None-Match": tag})

    first = client.get("/sitemap.xml")
    assert page in first.text and ElementTree.fromstring(first.content) is not None
    assert later(first["ETag"]).status_code == 304
    services.withdraw(public, public.created_by)
    second = later(first["ETag"])
    assert second.status_code == 200 and page not in second.text
    public.refresh_from_db()
    services.publish(public, public.created_by)
    third = later(second["ETag"])
    assert third.status_code == 200 and page in third.text


@pytest.mark.slow
def test_a_sitemap_of_thousands_of_publications_takes_little_work(client, public):
    """Counted by calls of functions: of each publication a few, where a page of a list makes hundreds."""
    many(public, 1000)
    client.get("/sitemap.xml")
    assert calls(lambda: client.get("/sitemap.xml")) < 80_000


@pytest.mark.slow
def test_what_a_feed_reads_does_not_grow_with_what_is_published(public):
    many(public, 300)
    assert published(most=50) == published()[:50]
    assert 3 * calls(lambda: published(most=50)) < calls(published)


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
