"""What other catalogues and readers of news fetch: an Atom feed and a DCAT document of all that is public."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from functools import partial
from itertools import product
from xml.etree import ElementTree

import pytest
from django.urls import reverse
from django.utils import timezone
from rdflib import RDF, Graph, URIRef

from dpportal.accounts.models import User
from dpportal.catalogue import snapshot
from dpportal.catalogue.forms import MOST_OFFERED
from dpportal.datasets.description_forms import RenameForm
from dpportal.datasets.models import Dataset, PublicDescription
from dpportal.releases import services
from dpportal.releases.models import Release
from dpportal.streams import execution, services as stream_services
from dpportal.streams.execution import Update
from dpportal.streams.models import Period
from tests.dpportal.streams import building as streams
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
def test_a_feed_that_is_as_it_was_is_not_sent_again(client, public):
    first = client.get("/published/feed.atom")
    since = {"If-Modified-Since": first["Last-Modified"]}
    assert client.get("/published/feed.atom", headers=since).status_code == 304
    assert client.post("/published/feed.atom").status_code == 405


def updated(client) -> tuple[str, str]:
    """Of the first entry, and of the feed."""
    feed = ElementTree.fromstring(client.get("/published/feed.atom").content)
    return feed.findtext(f"{ATOM}entry/{ATOM}updated"), feed.findtext(f"{ATOM}updated")


@pytest.mark.slow
def test_an_entry_is_updated_when_its_release_or_dataset_gets_another_name(client, public):
    def rename(**values):
        form = RenameForm(values, instance=Dataset.objects.get(pk=public.dataset_id))
        assert form.is_valid()
        form.keep(public.created_by)

    Release.objects.filter(pk=public.pk).update(published_at=timezone.now() - timedelta(days=1))
    published, since = updated(client), client.get("/published/feed.atom")["Last-Modified"]
    services.rename(public, "Colours of the people", public.created_by)
    renamed = updated(client)
    assert renamed > published and renamed[0] == renamed[1]
    assert client.get("/published/feed.atom", headers={"If-Modified-Since": since}).status_code == 200
    rename(name="Painters")
    assert updated(client) > renamed
    # What its curator alone sees is no change.
    last = updated(client)
    rename(name="Painters", description="From the inventory.")
    assert updated(client) == last


def test_a_name_of_a_dataset_is_no_markup_in_a_feed(client, public):
    Dataset.objects.filter(pk=public.dataset_id).update(name="R&D <b>5 cases")
    feed = ElementTree.fromstring(client.get("/published/feed.atom").content)
    summary = feed.findtext(f"{ATOM}entry/{ATOM}summary")
    assert summary is not None and "R&amp;D &lt;b&gt;5 cases" in summary


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
def test_lists_are_not_read_again_before_something_in_them_changes(client, public):
    """Counted by calls of functions: two or three for each publication, where its row alone would take dozens."""
    dataset = reverse("public_dataset", args=[public.dataset_id])
    lists = (
        "/",
        "/published/",
        "/published/feed.atom",
        "/published/catalog.jsonld",
        "/api/v1/catalogue",
        dataset,
    )

    def work() -> list[int]:
        for address in lists:
            client.get(address)
        return [calls(partial(client.get, address)) for address in lists]

    many(public, 50)
    before = work()
    many(public, 600)
    grown = dict(zip(lists, (b - a for a, b in zip(before, work(), strict=True)), strict=True))
    assert max(grown.values()) < 10 * 600, grown


@pytest.mark.slow
def test_what_changes_shows_at_once_in_the_catalogue(public):
    about = PublicDescription.objects.filter(dataset=public.dataset)
    rows, person = Release.objects.filter(pk=public.pk), User.objects.filter(pk=public.created_by_id)
    table = Dataset.objects.filter(pk=public.dataset_id)
    changes = (
        *(
            partial(about.update, **{name: "2001"})
            for name in ("text", "place", "first", "publisher", "licence")
        ),
        *(
            partial(about.update, **{name: value})
            for name, value in (("keywords", ["new"]), ("shown", False))
        ),
        partial(rows.update, title="new"),
        partial(rows.update, product=Release.Product.QUERIES),
        partial(rows.update, columns=["new"]),
        partial(table.update, name="new"),
        partial(person.update, display_name="new"),
        partial(rows.update, withdrawn_at=timezone.now()),
    )
    for change in changes:
        before = snapshot.current()
        assert snapshot.current() is before
        change()
        assert snapshot.current() is not before, change
    assert snapshot.current().entries == ()


@pytest.mark.slow
def test_a_catalogue_of_very_many_columns_offers_the_most_frequent_and_the_chosen(client, public):
    columns = [f"c{place}" for place in range(2 * MOST_OFFERED)]
    Release.objects.filter(pk=public.pk).update(columns=columns)
    page = client.get("/published/", {"column": columns[-1]})
    assert page.text.count("<option") < MOST_OFFERED + 20
    assert [entry.it.pk for entry in page.context["entries"]] == [public.pk]


@pytest.mark.slow
def test_what_is_written_in_chinese_is_said_to_be_chinese(client, public):
    Dataset.objects.update(name="居民二〇二六")
    [dataset] = json.loads(client.get("/published/catalog.jsonld").content)["dcat:dataset"]
    assert dataset["dct:language"]["@id"].endswith("/ZHO")


def test_a_catalogue_of_catalogues_finds_dataset_and_release(client, public):
    answer = client.get("/published/catalog.jsonld")
    assert answer["Content-Type"] == "application/ld+json"
    [dataset] = json.loads(answer.content)["dcat:dataset"]
    page = f"http://testserver{reverse('public_dataset', args=[public.dataset_id])}"
    assert (dataset["@id"], dataset["dct:description"]) == (f"{page}#dataset", "Colours of all people")
    assert dataset["dct:publisher"]["foaf:name"] == "Office of Colours"
    assert dataset["dct:language"]["@id"].endswith("/ENG")
    assert dataset["dct:temporal"]["dcat:startDate"] == {"@type": "xsd:gYear", "@value": "2011"}
    [distribution] = dataset["dcat:distribution"]
    assert distribution["dcat:accessURL"]["@id"] == f"http://testserver{public.get_absolute_url()}"
    assert "creativecommons" in distribution["dct:license"]["@id"]
    archive = public.artifacts.get(name__endswith=".zip").name
    assert (
        distribution["dcat:downloadURL"]["@id"]
        == f"http://testserver{public.get_absolute_url()}download/{archive}"
    )
    PublicDescription.objects.update(shown=False)
    assert "Office of Colours" not in client.get("/published/catalog.jsonld").text


# Of DCAT-AP 3.0, https://semiceu.github.io/DCAT-AP/releases/3.0.0/, by the class of what has them: all properties that
# are mandatory, those of the recommended that every portal can say, and those that may be said once only.
MANDATORY = {
    "dcat:Catalog": ("dct:title", "dct:description", "dct:publisher"),
    "dcat:Dataset": ("dct:title", "dct:description"),
    "dcat:Distribution": ("dcat:accessURL",),
    "foaf:Agent": ("foaf:name",),
}
RECOMMENDED = {
    "dcat:Catalog": ("dcat:dataset", "dct:language", "foaf:homepage"),
    "dcat:Dataset": (
        *("dcat:contactPoint", "dcat:distribution", "dcat:keyword", "dct:accessRights", "dct:publisher"),
        *("dct:spatial", "dct:temporal"),
    ),
    "dcat:Distribution": ("dct:description", "dct:format", "dct:license"),
    "dct:PeriodOfTime": ("dcat:startDate", "dcat:endDate"),
}
ONCE = {
    "dcat:Catalog": ("dct:publisher", "foaf:homepage"),
    "dcat:Dataset": ("dct:accessRights", "dct:issued", "dct:publisher"),
    "dcat:Distribution": ("dcat:mediaType", "dct:format", "dct:issued", "dct:license"),
    "dct:PeriodOfTime": ("dcat:startDate", "dcat:endDate"),
}
# The class of what each of these properties leads to.
RANGES = {
    "dcat:contactPoint": "vcard:Kind",
    "dcat:dataset": "dcat:Dataset",
    "dcat:distribution": "dcat:Distribution",
    "dcat:landingPage": "foaf:Document",
    "dcat:mediaType": "dct:MediaType",
    "dct:accessRights": "dct:RightsStatement",
    "dct:format": "dct:MediaTypeOrExtent",
    "dct:language": "dct:LinguisticSystem",
    "dct:license": "dct:LicenseDocument",
    "dct:publisher": "foaf:Agent",
    "dct:spatial": "dct:Location",
    "dct:temporal": "dct:PeriodOfTime",
    "foaf:homepage": "foaf:Document",
}


@pytest.mark.slow
def test_the_catalogue_has_what_the_profile_asks_for(client, public):
    PublicDescription.objects.update(place="Here", last="2012", contact="desk@example.org")
    answer = client.get("/published/catalog.jsonld", headers={"Accept-Language": "zh-hans"})
    graph = Graph().parse(data=answer.text, format="json-ld")

    def named(name: str) -> URIRef:
        return graph.namespace_manager.expand_curie(name)

    for table, numbers in ((MANDATORY, range(1, 100)), (RECOMMENDED, range(1, 100)), (ONCE, range(2))):
        for kind, names in table.items():
            nodes = list(graph.subjects(RDF.type, named(kind)))
            assert nodes, kind
            for node, name in product(nodes, names):
                assert len(list(graph.objects(node, named(name)))) in numbers, (kind, name)
    for name, kind in RANGES.items():
        values = list(graph.objects(None, named(name)))
        assert values and all((value, RDF.type, named(kind)) in graph for value in values), name
    # In the language that it names, whoever asked for it.
    titles = {str(title) for title in graph.objects(None, named("dct:title"))}
    assert "Published with differential privacy" in titles


def frame_of(client, address: str, **asked: str):
    return client.get("/published/oembed", {"url": address, **asked})


@pytest.mark.slow
def test_a_site_that_is_given_the_address_of_a_chart_gets_its_frame(client, public):
    page = f"http://testserver{public.get_absolute_url()}"
    found = frame_of(client, page, maxwidth="600").json()
    assert (found["type"], found["version"], found["width"]) == ("rich", "1.0", 600)
    # As tall as the chart and the words around it at that width.
    narrow = frame_of(client, page, maxwidth="300").json()
    assert narrow["height"] > 400 and 400 < found["height"] < frame_of(client, page).json()["height"] + 60
    source = re.search('src="([^"]+)"', found["html"])
    assert source and client.get(source[1]).status_code == 200
    assert frame_of(client, source[1]).json()["html"].count("<iframe") == 1
    for other in (
        "http://[",
        "https://elsewhere.example/",
        f"{page}download/release.json",
        f"{page}none/",
    ):
        assert_is_problem(frame_of(client, other), 404)
    services.withdraw(public, public.created_by)
    assert_is_problem(frame_of(client, page), 404)


def assert_is_problem(answer, status: int):
    """As programs read it, not a page."""
    assert (answer.status_code, answer["Content-Type"]) == (status, "application/problem+json")
    assert answer.json()["status"] == status and answer.json()["detail"].endswith(".")


@pytest.mark.slow
def test_a_site_s_room_for_a_chart_is_kept_and_what_is_no_number_of_pixels_refused(client, public):
    page = f"http://testserver{public.get_absolute_url()}"
    usual = frame_of(client, page).json()["height"]
    assert frame_of(client, page, maxheight="9" * 5000).json()["height"] == usual
    narrow = frame_of(client, page, maxwidth="007", maxheight="1").json()
    assert (narrow["width"], narrow["height"]) == (7, 1) and 'width="7" height="1"' in narrow["html"]
    for wrong in ("0", "-1", "3.5", "wide", "３５", "1e3"):
        assert_is_problem(frame_of(client, page, maxwidth=wrong), 400)
        assert_is_problem(frame_of(client, page, maxheight=wrong), 400)
    assert_is_problem(frame_of(client, page, format="xml"), 501)
    assert_is_problem(client.get("/published/oembed"), 400)


@pytest.mark.slow
def test_a_running_count_has_a_frame_and_data_at_its_address_too(client, dataset):
    stream = streams.open_stream(dataset)
    execution.publish(stream.pk, [Update(1, (4,), Period.Source.TYPED)])
    stream_services.publish(stream, stream.created_by)
    streams.with_files(stream)
    path = stream.get_absolute_url()
    source = re.search('src="([^"]+)"', frame_of(client, f"http://testserver{path}").json()["html"])
    assert source and client.get(source[1]).status_code == 200
    assert b"".join(client.get(path, headers={"accept": "text/csv"})).startswith(b"period,begins")
    files = [file["name"] for file in client.get(f"{path}croissant.json").json()["distribution"]]
    assert files == ["series.csv"]
    facts = json.loads(b"".join(client.get(path, headers={"accept": "application/json"})))
    assert facts["disclosure"]["neighbours"] == "add-remove"
