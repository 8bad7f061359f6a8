"""What programs get of a published release: data at its own address, and a description that leads to every file."""

from __future__ import annotations

import hashlib
import json

import pytest
from django.core.files.storage import default_storage

from dpportal.releases import services
from dpportal.releases.public import pages

pytestmark = pytest.mark.slow
BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


@pytest.fixture
def public(ready):
    services.publish(ready, ready.created_by)
    return ready


def asked(client, release, accept: str):
    return client.get(release.get_absolute_url(), headers={"accept": accept} if accept else {})


@pytest.mark.parametrize("accept", ["", "*/*", BROWSER, "image/png"])
def test_people_get_the_page(client, public, accept):
    answer = asked(client, public, accept)
    assert answer["Content-Type"].startswith("text/html") and "Accept" in answer["Vary"]


def test_programs_get_data_at_the_same_address(client, public):
    facts = asked(client, public, "application/json")
    assert json.loads(b"".join(facts))["release"] == str(public.pk)
    assert facts["Content-Location"].endswith("/download/release.json") and "Accept" in facts["Vary"]
    table = asked(client, public, "text/csv, application/json;q=0.5")
    assert b"".join(table).startswith(b"colour,age,noisy_count")
    linked = json.loads(asked(client, public, "application/ld+json").content)
    assert "histogram.csv" in [file["name"] for file in linked["distribution"]]


def test_whoever_refuses_pages_gets_data(client, public):
    answer = asked(client, public, "text/html;q=0,*/*")
    assert answer["Content-Type"].startswith("application/json") and answer.status_code == 200


@pytest.mark.parametrize("accept", ["application/json", "text/csv"])
def test_data_that_are_not_there_are_a_problem(client, public, accept):
    """Of a release that was withdrawn; people get a page."""
    services.withdraw(public, public.created_by, "A mistake.")
    gone = asked(client, public, accept)
    assert (gone.status_code, gone["Content-Type"]) == (410, "application/problem+json")
    assert gone.json()["title"] == "Gone" and "withdrawn" in gone.json()["detail"]
    assert asked(client, public, BROWSER)["Content-Type"].startswith("text/html")


@pytest.mark.parametrize(
    "path", ["download/release.json", "croissant.json", "cite.bibtex", "chart/main.json", "chart/main.svg"]
)
@pytest.mark.parametrize("accept", ["", "*/*", "application/json"])
def test_files_of_what_was_withdrawn_are_a_problem(client, public, path, accept):
    """To programs, which often accept anything; a browser names pages, and gets one."""
    services.withdraw(public, public.created_by, "A mistake.")
    address = public.get_absolute_url() + path
    gone = client.get(address, headers={"accept": accept} if accept else {})
    assert (gone.status_code, gone["Content-Type"]) == (410, "application/problem+json")
    assert "withdrawn" in gone.json()["detail"] and "Accept" in gone["Vary"]
    page = client.get(address, headers={"accept": BROWSER})
    assert page.status_code == 410 and page["Content-Type"].startswith("text/html")


def test_a_file_that_is_being_written_is_a_problem(client, public):
    for file in pages.files(public):
        default_storage.delete(file.stored)
    later = client.get(f"{public.get_absolute_url()}download/release.json")
    assert (later.status_code, later["Content-Type"]) == (503, "application/problem+json")
    assert later["Retry-After"]


def test_data_that_are_being_written_are_a_problem(client, public):
    for file in pages.files(public):
        default_storage.delete(file.stored)
    later = asked(client, public, "application/json")
    assert (later.status_code, later["Content-Type"]) == (503, "application/problem+json")
    assert later["Retry-After"] and "being written" in later.json()["detail"]


def test_a_draft_has_neither(client, ready):
    for accept in (BROWSER, "application/json", "text/csv", "application/ld+json"):
        assert asked(client, ready, accept).status_code == 404


def test_its_description_leads_to_every_table(client, public):
    described = client.get(f"{public.get_absolute_url()}croissant.json")
    assert described["Content-Type"] == "application/ld+json"
    files = described.json()["distribution"]
    assert "histogram.csv" in [file["name"] for file in files]
    for file in files:
        content = b"".join(client.get(file["contentUrl"]))
        assert hashlib.sha256(content).hexdigest() == file["sha256"]


def test_an_unpublished_file_that_is_asked_for_by_its_type_is_recorded(client, ready):
    from dpportal.accounts.models import AuditEntry

    client.force_login(ready.created_by)
    asked(client, ready, "text/csv")
    assert AuditEntry.objects.filter(action="downloaded unpublished").count() == 1


@pytest.mark.parametrize("accept", ["*/*", BROWSER])
def test_that_it_was_withdrawn_is_not_kept_by_browsers(client, public, accept):
    """It may be published again, and then readers have all of it, also those who have seen that it was gone."""
    paths = ("", "download/histogram.csv", "download/release.json", "chart/main.svg", "chart/main.json")
    paths += ("embed/main/", "croissant.json", "cite.bib")
    addresses = [public.get_absolute_url() + path for path in paths]
    addresses.append(f"/api/v1/catalogue/{public.pk}")
    read = {address: client.get(address, headers={"accept": accept}) for address in addresses}
    assert {answer.status_code for answer in read.values()} == {200}
    services.withdraw(public, public.created_by, "A mistake.")
    for address, before in read.items():
        known = {"if-none-match": before["ETag"]} if "ETag" in before else {}
        gone = client.get(address, headers={"accept": accept, **known})
        assert (gone.status_code, gone["Cache-Control"]) == (410, "no-store"), address
    public.refresh_from_db()
    services.publish(public, public.created_by)
    for address in addresses:
        assert client.get(address, headers={"accept": accept}).status_code == 200, address
        assert client.get(address, headers={"accept": accept, "if-none-match": '"gone"'}).status_code == 200
    nowhere = client.get("/releases/7e8ec915-ee41-4b31-afe1-ad83db2ac252/")
    assert (nowhere.status_code, nowhere["Cache-Control"]) == (404, "no-store")
