"""The lists of releases: who sees what, and as many queries however long they are."""

from __future__ import annotations

import pytest
from django.urls import reverse
from django.utils import timezone

from dpportal.releases.models import Release
from tests.dpportal import building

LIST = "/releases/"


def published(dataset, title: str) -> Release:
    release = building.requested_release(dataset, "0.01")
    Release.objects.filter(pk=release.pk).update(
        title=title, state=Release.State.READY, published_at=timezone.now()
    )
    return release


def test_a_stranger_sees_only_what_is_published(client, dataset, draft):
    published(dataset, "For everyone")
    page = client.get(LIST).content.decode()
    assert "For everyone" in page
    assert draft.title not in page


def test_a_curator_sees_own_drafts(client, curator, draft):
    client.force_login(curator)
    assert draft.title in client.get(LIST).content.decode()


def test_what_a_draft_costs_has_its_unit_before_there_is_a_budget(client, curator):
    dataset = building.stored_dataset(curator)
    draft = building.complete_draft(dataset)
    Release.objects.filter(pk=draft.pk).update(amount="0.12", priced_in="pure")
    client.force_login(curator)
    assert '<td class="number">ε 0.12</td>' in client.get(LIST).text


@pytest.mark.parametrize("name", ["list", "home"])
def test_drafts_stand_apart_from_what_was_released(client, curator, dataset, draft, name):
    published(dataset, "For everyone")
    client.force_login(curator)
    page = client.get(LIST if name == "list" else reverse("datasets:home", args=[dataset.pk])).text
    released, drafts = page.split('id="releases-drafts"')
    assert "For everyone" in released and "For everyone" not in drafts.split("</section>")[0]
    assert draft.title in drafts and f"/releases/{draft.pk}/" not in released


def test_a_curator_does_not_see_another_curators_draft(client, other_curator, draft):
    client.force_login(other_curator)
    assert draft.title not in client.get(LIST).content.decode()


def test_a_curator_can_see_what_everyone_published(client, dataset, other_curator):
    published(dataset, "For everyone")
    client.force_login(other_curator)
    assert "For everyone" in client.get(LIST, {"show": "published"}).content.decode()


@pytest.mark.slow
@pytest.mark.parametrize("releases", [1, 12])
@pytest.mark.parametrize("address", ["list", "finished", "home", "ledger"])
def test_a_list_takes_as_many_queries_however_long(
    client, curator, dataset, django_assert_max_num_queries, address, releases
):
    for number in range(releases):
        published(dataset, f"Release {number}")
    pages = {
        "list": LIST,
        "finished": reverse("releases:finished"),
        "home": reverse("datasets:home", args=[dataset.pk]),
        "ledger": reverse("budgets:ledger", args=[dataset.pk]),
    }
    client.force_login(curator)
    with django_assert_max_num_queries(25):
        assert client.get(pages[address]).status_code == 200


@pytest.mark.slow
@pytest.mark.parametrize("address", ["releases/release", "releases/releasejob", "budgets/ledgerentry"])
def test_an_admin_list_takes_few_queries(
    client, administrator, dataset, django_assert_max_num_queries, address
):
    for number in range(12):
        published(dataset, f"Release {number}")
    client.force_login(administrator)
    with django_assert_max_num_queries(16):
        assert client.get(f"/admin/{address}/").status_code == 200
