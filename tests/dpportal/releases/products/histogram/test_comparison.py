"""The compare page: true counts for the curator alone, and each look recorded."""

from __future__ import annotations

import csv

import pytest
from django.template.loader import render_to_string
from django.urls import reverse

from dpportal.accounts.models import AuditEntry
from dpportal.datasets import services as dataset_services
from dpportal.releases.execution import RELEASES
from dpportal.releases.models import Release
from tests.dpportal.markup import folded


@pytest.fixture
def finished(requested) -> Release:
    RELEASES.run(requested.pk)
    return Release.objects.get(pk=requested.pk)


def address(release: Release, page: str = "compare") -> str:
    return reverse(f"releases:{page}", args=[release.pk])


@pytest.mark.slow
def test_the_table_holds_the_true_counts(client, curator, finished):
    client.force_login(curator)
    answer = client.get(address(finished, "compare_csv"))
    true = [int(line["true_count"]) for line in csv.DictReader(answer.content.decode().splitlines())]
    # 300 people, red, green and blue in turn, each age three times: every colour has one of each age.
    assert true == [10] * 30 + [0] * 10


@pytest.mark.slow
def test_each_look_is_recorded(client, curator, finished):
    client.force_login(curator)
    client.get(address(finished))
    client.get(address(finished, "compare_csv"))
    assert AuditEntry.objects.filter(by=curator, action="viewed true counts").count() == 2


@pytest.mark.slow
def test_true_counts_are_never_kept_by_a_cache(client, curator, finished):
    client.force_login(curator)
    for page in ("compare", "compare_csv"):
        assert client.get(address(finished, page))["Cache-Control"] == "no-store, private"


@pytest.mark.slow
@pytest.mark.parametrize("who", ["other_curator", "administrator", "analyst"])
def test_no_one_else_sees_them(client, finished, request, who):
    client.force_login(request.getfixturevalue(who))
    for page in ("compare", "compare_csv"):
        assert client.get(address(finished, page)).status_code in (403, 404)


def test_an_unfinished_release_has_nothing_to_compare(client, curator, requested):
    client.force_login(curator)
    answer = client.get(address(requested))
    assert answer.url == address(requested, "job")


@pytest.mark.slow
def test_erased_records_take_the_comparison_with_them(client, curator, dataset, finished):
    dataset_services.erase(dataset, curator)
    client.force_login(curator)
    assert client.get(address(finished)).url == address(finished, "job")


@pytest.mark.parametrize("raw, said", [(180.0, "above 1"), (0.25, "0.25")])
def test_no_share_of_people_above_one_is_a_headline(raw, said):
    errors = {
        name: {"raw": raw, "expected": raw, "counts": 0.2}
        for name in ("total_variation", "largest", "l1", "l2")
    }
    context = {"comparison": {"errors": errors, "figures": {}, "table": []}, "release": Release()}
    head = folded(render_to_string("releases/histogram/_compare.html", context)).split("</dd>")[0]
    assert said in head and "180" not in head
