"""Before everyone may see a running count its curator is told of what use it is; then its DOI, versions, withdrawal."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.test import Client

from dpportal.accounts.models import AuditEntry
from dpportal.releases import services as release_services
from dpportal.releases.execution import RELEASES
from dpportal.streams import services
from dpportal.streams.execution import Update, publish
from dpportal.streams.models import Period, Stream
from tests.dpportal import building as around
from tests.dpportal.streams import building


def counted(stream: Stream, count: int) -> Stream:
    """The stream with the same noise each time, so that what it is worth depends on its count alone."""
    update = Update(1, (count,), Period.Source.TYPED)
    publish(stream.pk, [update], noise=building.repeated_noise())
    return stream


def is_public(stream: Stream) -> bool:
    stream.refresh_from_db()
    return stream.is_public


def asked(desk: Client, stream: Stream, page: str = "publish", **said: Any):
    return desk.post(f"/streams/{stream.pk}/{page}/", said)


@pytest.fixture
def older(dataset, curator) -> Stream:
    first = building.open_stream(dataset, name="First series", amount=Decimal("0.5"), expected=10**6)
    services.publish(first, curator)
    return first


@pytest.fixture
def newer(dataset, older) -> Stream:
    return building.open_stream(dataset, name="Second series", amount=Decimal("0.4"), expected=10**6)


@pytest.mark.slow
def test_a_useless_stream_is_not_published_without_a_word(curious, dataset) -> None:
    stream = counted(building.open_stream(dataset, expected=1), 1)
    address = f"/streams/{stream.pk}/publish/"
    page = curious.get(address).text
    assert "Expected: useless." in page and "publish it all the same" in page
    assert "Useless." in curious.get(f"/streams/{stream.pk}/compare/").text
    assert curious.post(address).status_code == 422
    assert not is_public(stream)
    asked(curious, stream, all_the_same="on")
    assert is_public(stream)


@pytest.mark.slow
def test_one_foreseen_as_useful_is_published_with_one_press_whatever_the_truth(curious, dataset) -> None:
    stream = counted(building.open_stream(dataset, expected=10**6), 1)
    page = curious.get(f"/streams/{stream.pk}/publish/").text
    assert "Expected: useful." in page and "publish it all the same" not in page
    assert asked(curious, stream).status_code == 302
    assert is_public(stream)


@pytest.mark.slow
def test_before_the_first_period_what_is_expected_is_repeated_with_nothing_to_change(
    curious, dataset
) -> None:
    stream = building.open_stream(dataset, expected=1)
    page = curious.get(f"/streams/{stream.pk}/publish/").text
    assert "Expected: useless." in page and "Change the periods" not in page
    assert asked(curious, stream).status_code == 422
    assert not AuditEntry.objects.filter(action="viewed true counts").exists()


@pytest.mark.slow
def test_without_an_estimate_its_use_is_in_doubt(curious, stream) -> None:
    page = curious.get(f"/streams/{stream.pk}/publish/").text
    assert "Expected: doubtful." in page and "nobody can say whether a running count" in page
    assert asked(curious, stream).status_code == 422


@pytest.mark.slow
def test_the_verdict_is_for_its_curator_alone_and_the_look_is_recorded(curious, stream) -> None:
    counted(stream, 1)
    curious.get(f"/streams/{stream.pk}/compare/")
    stream.refresh_from_db()
    kept_back = "Not published after its comparison"
    assert stream.withheld.startswith(kept_back)
    home = f"/datasets/{stream.dataset_id}/"
    assert kept_back in curious.get(home).text and kept_back in curious.get(f"{home}ledger/").text
    asked(curious, stream, all_the_same="on")
    assert AuditEntry.objects.filter(action="viewed true counts").count() == 1
    public = Client().get(stream.get_absolute_url())
    assert public.status_code == 200
    assert "Useless." not in public.text and "typical answer" not in public.text


def test_a_draft_cannot_be_published(curious, dataset) -> None:
    draft = building.draft_stream(dataset, amount=Decimal("0.1"))
    for page in ("publish", "details"):
        assert asked(curious, draft, page).url == f"/streams/{draft.pk}/home/"
    assert not is_public(draft)


@pytest.mark.slow
def test_versions_said_when_publishing_point_to_each_other(curious, older, newer) -> None:
    asked(curious, newer, doi="https://doi.org/10.5281/zenodo.7", supersedes=older.pk)
    before, after = (curious.get(one.get_absolute_url()).text for one in (older, newer))
    assert "There is a newer version" in before and newer.get_absolute_url() in before
    assert older.get_absolute_url() in after and "https://doi.org/10.5281/zenodo.7" in after
    assert "10.5281/zenodo.7" in curious.get(f"/streams/{newer.pk}/cite.bib").text


@pytest.mark.slow
def test_a_stream_replaces_only_what_was_opened_before_it_and_is_a_stream(
    curious, older, newer, dataset
) -> None:
    asked(curious, newer, supersedes=older.pk)
    release = around.requested_release(dataset, "0.0001")
    RELEASES.run(release.pk)
    release_services.publish(release, dataset.owner)
    for other in (newer.pk, release.pk, older.pk):
        assert asked(curious, older, "details", supersedes=other).status_code == 422
    older.refresh_from_db()
    assert older.supersedes is None


@pytest.mark.slow
def test_who_opens_a_withdrawn_stream_reads_why_and_is_led_on(curious, older, newer) -> None:
    asked(curious, newer, supersedes=older.pk)
    asked(curious, older, "withdraw", because="A month was <wrong>.")
    answer = Client().get(older.get_absolute_url())
    assert answer.status_code == 410
    assert "A month was &lt;wrong&gt;." in answer.text and newer.get_absolute_url() in answer.text
    assert f"Its newer version: {newer.name}" in answer.text
    asked(curious, older)
    older.refresh_from_db()
    assert older.withdrawn_because == ""


def test_a_reason_that_is_too_long_withdraws_nothing(curious, older) -> None:
    asked(curious, older, "withdraw", because="x" * 501)
    assert is_public(older)


def test_a_second_browser_publishes_nothing_again(older, curator):
    """It moves no date of publication, and writes no second line."""
    at = Stream.objects.get().published_at
    services.publish(Stream.objects.get(), curator)
    assert Stream.objects.get().published_at == at
    assert AuditEntry.objects.filter(action="published").count() == 1
