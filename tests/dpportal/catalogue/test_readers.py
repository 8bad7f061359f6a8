"""How often publications are read: by strangers with a browser, and nothing about them."""

from __future__ import annotations

import pytest
from django.db import DatabaseError

from dpportal.catalogue import readers
from dpportal.catalogue.models import Readership
from dpportal.releases import services
from dpportal.releases.models import Release
from tests.dpportal.catalogue.test_search import published

BROWSER = {"User-Agent": "Mozilla/5.0"}


@pytest.fixture(autouse=True)
def tally(monkeypatch):
    monkeypatch.setattr(readers, "tally", readers.Tally())
    monkeypatch.setattr(readers, "WRITTEN_EVERY_SECONDS", 0.0)


@pytest.fixture
def public(ready) -> Release:
    services.publish(ready, ready.created_by)
    return ready


def read(release) -> int:
    return sum(Readership.objects.filter(pk=release.pk).values_list("times", flat=True))


@pytest.mark.slow
def test_pages_and_files_count(client, public):
    for address in (public.get_absolute_url(), f"{public.get_absolute_url()}download/release.json"):
        assert client.get(address, headers=BROWSER).status_code == 200
    assert read(public) == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "headers",
    [{}, {"User-Agent": "Googlebot/2.1"}, {**BROWSER, "Sec-Purpose": "prefetch"}],
    ids=["unnamed", "robot", "ahead"],
)
def test_robots_do_not_count(client, public, headers):
    client.get(public.get_absolute_url(), headers=headers)
    assert read(public) == 0


@pytest.mark.slow
def test_neither_its_curator_nor_what_is_not_there_counts(client, public):
    client.get(f"{public.get_absolute_url()}download/none.csv", headers=BROWSER)
    client.head(public.get_absolute_url(), headers=BROWSER)
    client.force_login(public.created_by)
    client.get(public.get_absolute_url(), headers=BROWSER)
    assert read(public) == 0


def test_nothing_but_a_number_is_kept():
    assert {field.name for field in Readership._meta.get_fields()} == {"publication", "times"}


@pytest.mark.slow
def test_what_comes_at_once_is_written_together(public, monkeypatch, django_assert_num_queries):
    monkeypatch.setattr(readers, "WRITTEN_EVERY_SECONDS", 60.0)
    tally = readers.Tally()
    tally.add(public.pk)
    with django_assert_num_queries(0):
        for _ in range(9):
            tally.add(public.pk)
    tally.write()
    assert read(public) == 10


@pytest.mark.slow
def test_a_page_is_shown_when_its_count_cannot_be_written(client, public, monkeypatch):
    def broken(*_args, **_kwargs):
        raise DatabaseError

    monkeypatch.setattr(Readership.objects, "bulk_create", broken)
    assert client.get(public.get_absolute_url(), headers=BROWSER).status_code == 200


@pytest.mark.slow
def test_the_most_read_come_first_where_there_are_many(client, dataset):
    some = [published(dataset, f"Title {number}") for number in range(5)]
    for times, release in enumerate(some):
        Readership.objects.create(publication=release.pk, times=times)
    page = client.get("/")
    assert [str(entry.it) for entry in page.context["most_read"]] == ["Title 4", "Title 3", "Title 2"]
    assert client.get("/", {"words": "title"}).context["most_read"] == []
    services.withdraw(some[4], some[4].created_by)
    assert "Title 4" not in client.get("/").text
