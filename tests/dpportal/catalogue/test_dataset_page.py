"""The public page of a dataset: only where something of it is public, with its whole cost and no sum over promises."""

from __future__ import annotations

import uuid
import xml.etree.ElementTree as ET

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from dpportal.catalogue.dataset_page import _line
from dpportal.datasets import services as datasets
from dpportal.datasets.models import AttributeDeclaration, PublicDescription
from dpportal.releases import execution, services
from dpportal.releases.models import Release
from dpportal.streams.models import Stream
from mechanisms.domain import Categorical, Integer, Real
from tests.dpportal import building
from tests.dpportal.streams import building as stream_building

pytestmark = pytest.mark.slow


def address(dataset) -> str:
    return reverse("public_dataset", args=[dataset.pk])


def published(dataset, amount: str = "0.1") -> Release:
    release = building.requested_release(dataset, amount)
    execution.RELEASES.run(release.pk)
    release.refresh_from_db()
    services.publish(release, dataset.owner)
    return release


def locations(client) -> list[str]:
    elements = ET.fromstring(client.get("/sitemap.xml").content).iter()
    return [str(element.text) for element in elements if element.tag.endswith("loc")]


def test_nobody_learns_of_a_dataset_of_which_nothing_is_public(client, dataset, ready, curator) -> None:
    assert client.get(address(dataset)).status_code == 404
    client.force_login(curator)
    assert client.get(address(dataset)).status_code == 404
    assert not any(str(dataset.pk) in place or str(ready.pk) in place for place in locations(client))


def test_page_and_releases_tell_all_that_was_spent_and_name_each_other(client, dataset) -> None:
    first, second = published(dataset), published(dataset, "0.2")
    page = client.get(address(dataset)).text
    assert "ε = 0.30" in page and first.get_absolute_url() in page and second.get_absolute_url() in page
    assert "colour" in page and "red, green, blue" in page
    shown = client.get(first.get_absolute_url()).text
    assert "ε = 0.30" in shown and second.get_absolute_url() in shown and address(dataset) in shown
    places = locations(client)
    assert {f"http://testserver{a}" for a in (address(dataset), first.get_absolute_url())} <= set(places)
    assert "http://testserver/sitemap.xml" in client.get("/robots.txt").text
    assert address(dataset) in client.get("/published/", {"words": "small"}).text


def test_costs_for_different_people_stand_apart(client, dataset, administrator) -> None:
    published(dataset)
    datasets.declare_unit(dataset, neighbours="add-remove", unit_column="age", max_rows=3)
    building.granted(dataset, administrator, "1", knowing=True)
    dataset.refresh_from_db()
    published(dataset, "0.2")
    page = client.get(address(dataset)).text
    assert "ε = 0.10" in page and "ε = 0.20" in page and "ε = 0.30" not in page
    assert "each person in “age”" in page and "not added" in page


def test_a_description_that_is_not_permitted_is_not_shown(client, dataset, curator) -> None:
    published(dataset)
    PublicDescription.objects.create(dataset=dataset, text="Nobody may read this.", shown=False)
    assert "Nobody may read this." not in client.get(address(dataset)).text


def test_after_its_only_release_was_withdrawn_the_page_says_so_and_that_its_cost_stays(
    client, dataset, curator
) -> None:
    release = published(dataset)
    shown = client.get(address(dataset)).text
    assert "Withdrawn on" not in shown and "withdrawn." not in shown
    services.withdraw(release, curator, "A mistake")
    answer = client.get(address(dataset))
    page = " ".join(answer.text.split())
    assert answer.status_code == 200 and "Nothing of it is public now." in page
    assert "Withdrawn on" in page and f'href="{release.get_absolute_url()}"' in page
    assert page.count("ε = 0.10") == 2 and "Their privacy cost stays spent" in page
    assert "red, green, blue" not in page and release.title not in page
    assert client.get(release.get_absolute_url()).status_code == 410
    assert not any(str(dataset.pk) in place for place in locations(client))


def test_beside_what_is_public_the_page_tells_of_what_was(client, dataset, curator) -> None:
    first, second = published(dataset), published(dataset, "0.2")
    services.withdraw(first, curator)
    page = client.get(address(dataset)).text
    assert "Withdrawn on" in page and second.get_absolute_url() in page and "ε = 0.30" in page


def test_columns_with_an_order_say_their_bounds() -> None:
    assert _line(Integer("income", lower=0, upper=99_999))["values"] == "0 to 99,999"
    assert _line(Integer("rok urodzenia", lower=1920, upper=2024))["values"] == "1920 to 2024"
    assert _line(Real("pay", lower=0.0, upper=50_000.0, bins=5))["values"] == "0 to 50,000"
    assert _line(Real("share", lower=-0.5, upper=1.25, bins=5))["values"] == "-0.5 to 1.25"
    assert _line(Categorical("sex", values=("f", "m"), closed=True))["values"] == "f, m"
    married = Categorical("status", values=("married, spouse absent", "divorced"), closed=True)
    assert _line(married)["values"] == "married, spouse absent; divorced"


def test_the_codebook_has_the_column_of_a_running_count(client, dataset) -> None:
    stream = stream_building.open_stream(dataset, first_day=None)
    Stream.objects.filter(pk=stream.pk).update(published_at=timezone.now())
    page = client.get(address(dataset))
    assert [(line["name"], line["releases"]) for line in page.context["codebook"]] == [("colour", 1)]


def test_the_codebook_of_many_releases_costs_as_many_queries_as_that_of_few(client, dataset) -> None:
    ready = published(dataset)
    client.get(address(dataset))  # a process asks for some things once
    counted = []
    for columns in (range(20), range(20, 60)):
        AttributeDeclaration.objects.bulk_create(
            AttributeDeclaration(
                domain_version=ready.domain_version,
                position=2 + place,
                column=f"c{place}",
                declaration=Categorical(f"c{place}", values=("x", "y")).to_json(),
            )
            for place in columns
        )
        for place in columns:
            other = Release.objects.get(pk=ready.pk)
            other.pk, other.charge, other.columns, other._state.adding = (
                uuid.uuid4(),
                None,
                [f"c{place}"],
                True,
            )
            other.save(force_insert=True)
        with CaptureQueriesContext(connection) as queries:
            assert f">c{columns[-1]}<" in "".join(client.get(address(dataset)).text.split())
        counted.append(len(queries))
    assert counted[0] == counted[1]
