"""What a curator writes of a dataset for everyone: checked, and shown with permission alone."""

from __future__ import annotations

import json

import pytest
from django.urls import reverse

from dpportal.datasets.models import Dataset, PublicDescription
from dpportal.releases import services
from dpportal.releases.execution import RELEASES

SAID = {
    "text": "Everyone in spring",
    "keywords": "census,  age , census,",
    "place": "Fulton County",
    "first": "2011",
    "last": "2011-03",
    "publisher": "Bureau of Counts",
    "contact": "desk@example.org",
    "licence": "CC-BY-4.0",
    "shown": "on",
}


@pytest.fixture
def desk(client, curator):
    client.force_login(curator)
    return client


def describe(desk, dataset, **said):
    return desk.post(reverse("datasets:description", args=[dataset.pk]), {**SAID, **said})


def test_everything_that_was_written_is_kept(desk, dataset):
    assert describe(desk, dataset).status_code == 302
    about = Dataset.objects.get().about
    assert about.keywords == ["census", "age"]
    assert (about.text, about.place, about.period) == (
        "Everyone in spring",
        "Fulton County",
        "2011 – 2011-03",
    )


@pytest.mark.parametrize(
    "said, told",
    [
        ({"first": "spring"}, "Write a year"),
        ({"first": "2011-13"}, "Write a year"),
        ({"first": "2011-02-30"}, "Write a year"),
        ({"first": "", "last": "2011"}, "Say when it begins"),
        ({"first": "2012"}, "ends before it begins"),
        ({"contact": "ring twice"}, "Write a mail address"),
        ({"contact": "javascript:alert(1)//"}, "Write a mail address"),
        ({"licence": "MY-OWN"}, "Select a valid choice"),
        ({"keywords": ",".join(f"word {i}" for i in range(21))}, "at most 20 keywords"),
    ],
)
def test_what_readers_could_not_use_is_refused(desk, dataset, said, told):
    answer = describe(desk, dataset, **said)
    assert answer.status_code == 422
    assert told in answer.text
    assert not PublicDescription.objects.exists()


def test_without_the_tick_nobody_reads_it(desk, dataset):
    describe(desk, dataset, shown="")
    assert PublicDescription.objects.get().place == "Fulton County"
    assert Dataset.objects.get().about.facts() == {}


@pytest.mark.slow
def test_readers_find_it_on_the_page_of_a_release_and_in_its_download(desk, requested):
    describe(desk, requested.dataset)
    RELEASES.run(requested.pk)
    services.publish(requested, requested.created_by)
    desk.logout()
    page = desk.get(requested.get_absolute_url()).text
    for text in ("Fulton County", "mailto:desk@example.org", "CC-BY-4.0", "application/ld+json"):
        assert text in page
    about = json.loads(_file(desk, requested, "release.json"))["about"]
    assert (about["licence"], about["from"]) == ("CC-BY-4.0", "2011")
    assert json.loads(_file(desk, requested, "datapackage.json"))["licenses"][0]["name"] == "CC-BY-4.0"
    assert "- Publisher: Bureau of Counts" in _file(desk, requested, "README.md")


def _file(desk, release, name: str) -> str:
    answer = desk.get(reverse("releases:download", args=[release.pk, name]))
    return b"".join(answer.streaming_content).decode()
