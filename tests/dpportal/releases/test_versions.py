"""Where a release stands among others: its DOI, what it replaces, why it was withdrawn, how it is cited."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.urls import reverse

from dpportal.accounts.models import AuditEntry
from dpportal.budgets.amounts import plain
from dpportal.publications.publishing import set_details
from dpportal.releases import services
from dpportal.releases.execution import RELEASES
from dpportal.releases.models import Release
from mechanisms.histogram.noisy import LaplaceHistogram
from tests.dpportal import building


@pytest.fixture
def desk(client, curator):
    client.force_login(curator)
    return client


def finished(dataset, title: str) -> Release:
    release = building.requested_release(dataset, "0.1")
    RELEASES.run(release.pk)
    Release.objects.filter(pk=release.pk).update(title=title)
    return Release.objects.get(pk=release.pk)


@pytest.fixture
def older(dataset, curator) -> Release:
    release = finished(dataset, "First edition")
    services.publish(release, curator)
    return release


@pytest.fixture
def newer(dataset, older) -> Release:
    return finished(dataset, "Second edition")


def details(desk, release: Release, page: str = "details", **said):
    return desk.post(reverse(f"releases:{page}", args=[release.pk]), {"all_the_same": "on", **said})


def page(client, release: Release) -> str:
    return client.get(release.get_absolute_url()).text


@pytest.mark.slow
def test_versions_said_when_publishing_point_to_each_other(desk, older, newer):
    details(desk, newer, "publish", supersedes=older.pk)
    assert "There is a newer version" in page(desk, older)
    assert newer.get_absolute_url() in page(desk, older)
    assert older.get_absolute_url() in page(desk, newer)


@pytest.mark.slow
def test_who_publishes_reads_that_the_names_are_public_too(desk, newer):
    newer.dataset.name = "clinic_2011 <final>.csv"
    newer.dataset.save()
    asked = desk.get(reverse("releases:publish", args=[newer.pk])).text
    assert "the dataset&#x27;s name “clinic_2011 &lt;final&gt;.csv”" in asked.replace(
        "dataset's", "dataset&#x27;s"
    )
    assert reverse("datasets:edit", args=[newer.dataset_id]) in asked


@pytest.mark.slow
def test_earlier_ones_of_one_title_are_told_apart(desk, older, newer, curator):
    services.rename(newer, "First edition", curator)
    services.publish(newer, curator)
    published = datetime(2026, 3, 5, 14, 7, tzinfo=UTC)
    Release.objects.filter(pk=older.pk).update(published_at=published)
    asked = desk.get(reverse("releases:details", args=[newer.pk])).text
    assert (
        f"First edition · {LaplaceHistogram.title} · ε = 0.10 · published 5 March 2026, 14:07 UTC</option>"
        in asked
    )


@pytest.mark.slow
def test_they_can_be_said_later_and_the_change_is_recorded(desk, older, newer, curator):
    services.publish(newer, curator)
    assert (
        details(desk, newer, doi="https://doi.org/10.5281/zenodo.7", supersedes=older.pk).status_code == 302
    )
    newer.refresh_from_db()
    assert (newer.doi, newer.supersedes) == ("10.5281/zenodo.7", older)
    assert "https://doi.org/10.5281/zenodo.7" in page(desk, newer)
    assert AuditEntry.objects.filter(action="changed details of").count() == 1


@pytest.mark.slow
def test_readers_hear_nothing_of_a_newer_version_that_is_not_public(client, older, newer, curator):
    set_details(newer, doi="", supersedes=older, by=curator)
    assert "Second edition" not in page(client, older)


@pytest.mark.slow
def test_no_two_releases_replace_each_other(desk, older, newer):
    details(desk, newer, "publish", supersedes=older.pk)
    answer = details(desk, older, supersedes=newer.pk)
    assert answer.status_code == 422
    older.refresh_from_db()
    assert older.supersedes is None


@pytest.mark.slow
def test_another_curators_release_is_not_replaced(desk, older, other_curator, administrator):
    theirs = building.granted(building.stored_dataset(other_curator), administrator, knowing=True)
    assert details(desk, finished(theirs, "Theirs"), supersedes=older.pk).status_code == 404


@pytest.mark.slow
@pytest.mark.parametrize("doi", ["10.5281", "zenodo.7", '10.1234/"><b>', "10.1234/a b"])
def test_what_is_no_doi_is_refused(desk, older, doi):
    assert details(desk, older, doi=doi).status_code == 422


@pytest.mark.slow
def test_who_opens_a_withdrawn_release_reads_why_and_is_led_on(desk, older, newer):
    details(desk, newer, "publish", supersedes=older.pk)
    desk.post(reverse("releases:withdraw", args=[older.pk]), {"because": "A column was <wrong>."})
    desk.logout()
    answer = desk.get(older.get_absolute_url())
    assert answer.status_code == 410
    assert "A column was &lt;wrong&gt;." in answer.text
    cost = f"Its privacy cost about the people in its dataset stays spent: ε = {plain(older.amount)}."
    assert cost in " ".join(answer.text.split())
    assert newer.get_absolute_url() in answer.text


@pytest.mark.slow
def test_the_newer_version_does_not_tell_what_a_withdrawn_one_was_called(desk, older, newer):
    details(desk, newer, "publish", supersedes=older.pk)
    assert "First edition" in page(desk, newer)
    desk.post(reverse("releases:withdraw", args=[older.pk]), {"because": ""})
    desk.logout()
    told = page(desk, newer)
    assert "First edition" not in told and older.get_absolute_url() in told


@pytest.mark.slow
def test_published_again_the_reason_is_gone(older, curator):
    services.withdraw(older, curator, "A mistake")
    services.publish(older, curator)
    older.refresh_from_db()
    assert older.withdrawn_because == ""


@pytest.mark.slow
@pytest.mark.parametrize("form, begins", [("bib", "@misc{"), ("ris", "TY  - DATA")])
def test_a_citation_is_downloaded(client, older, form, begins):
    answer = client.get(reverse("releases:cite", args=[older.pk, form]))
    assert answer.text.startswith(begins)
    assert "First edition" in answer.text
    assert answer["Content-Disposition"] == f'attachment; filename="first-edition.{form}"'


@pytest.mark.slow
def test_of_other_forms_there_is_no_citation(client, older, newer):
    assert client.get(reverse("releases:cite", args=[older.pk, "exe"])).status_code == 404
    assert client.get(reverse("releases:cite", args=[newer.pk, "bib"])).status_code == 404
