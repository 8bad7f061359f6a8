"""The administrators' home and the admin's pages: what was released, by whom, in the portal's words and looks."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dpportal.datasets.models import Dataset
from dpportal.releases.models import Release
from tests.dpportal import building
from tests.dpportal.streams.building import monthly_stream


@pytest.fixture
def office(client: Client, administrator) -> Client:
    client.force_login(administrator)
    return client


def row(office: Client, dataset: Dataset) -> str:
    page = office.get(reverse("office")).text
    return " ".join(page.split(dataset.name)[-1].split("</tr>")[0].split())


def test_a_draft_is_no_release(office, dataset):
    building.complete_draft(dataset)
    shown = row(office, dataset)
    assert "none" in shown and "<td>–</td>" in shown
    Release.objects.update(measured_at=timezone.now(), state="ready", published_at=timezone.now())
    shown = row(office, dataset)
    assert "1 release" in shown and timezone.now().strftime("%Y") in shown


@pytest.mark.slow
def test_running_counts_are_counted_and_dated(office, dataset):
    stream = monthly_stream(dataset)
    assert "none" in row(office, dataset)
    type(stream).objects.update(published_at=timezone.now())
    shown = row(office, dataset)
    assert "1 running count" in shown and timezone.now().strftime("%Y") in shown


LISTS = ["budgets_ledgerentry", "releases_release", "streams_stream", "datasets_dataset"]


@pytest.mark.parametrize("name", LISTS)
def test_the_admins_lists_look_and_speak_like_the_portal(office, dataset, name):
    building.requested_release(dataset)
    page = office.get(reverse(f"admin:{name}_changelist")).text
    assert "css/admin.css" in page and f'href="{reverse("office")}"' in page and "Sign out" in page
    assert "View site" not in page and not re.search(r"By (by|created by|owner)\b", page)
