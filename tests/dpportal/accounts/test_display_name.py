"""The name under which a person publishes: asked for where something is published, and back from there."""

from __future__ import annotations

import pytest
from django.urls import reverse

from tests.dpportal.streams import building as streams

ADDRESS = reverse("accounts:display_name")


@pytest.fixture
def desk(client, curator):
    client.force_login(curator)
    return client


def test_the_page_that_asks_for_it_is_led_back_to(desk):
    address = f"{ADDRESS}?back=/releases/1/publish/"
    page = desk.get(address).content.decode()
    assert "Save and go back" in page and 'href="/releases/1/publish/"' in page
    answer = desk.post(address, {"display_name": "County office"})
    assert answer.url == "/releases/1/publish/"


@pytest.mark.parametrize("back", ["", "?back=https://elsewhere.example/", "?back=//elsewhere.example"])
def test_no_other_site_is_led_to(desk, back):
    assert "elsewhere" not in desk.get(ADDRESS + back).content.decode().partition("<main")[2]
    assert desk.post(ADDRESS + back, {"display_name": "County office"}).url == ADDRESS


def test_what_is_published_asks_for_it_with_the_way_back(desk, draft):
    address = reverse("releases:review", args=[draft.pk])
    assert f'href="{ADDRESS}?back={address}"' in "".join(desk.get(address).content.decode().split("\n"))


def test_so_does_a_running_count_before_it_is_opened(desk, dataset):
    stream = streams.draft_stream(dataset)
    address = reverse("streams:review", args=[stream.pk])
    assert f'href="{ADDRESS}?back={address}"' in "".join(desk.get(address).content.decode().split("\n"))
