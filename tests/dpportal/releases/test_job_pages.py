"""A job's page in each of its states, the bell, and what can be done."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from django.test import Client
from django.urls import reverse

from dpportal.budgets import ledger
from dpportal.datasets import services as dataset_services
from dpportal.datasets.models import Dataset
from dpportal.releases.execution import RELEASES
from dpportal.releases.models import Release
from dpportal.tables.connections.models import Connection, SharedTable
from mechanisms.domain import Categorical, Integer
from tests.dpportal import building


@pytest.fixture
def desk(client, curator) -> Client:
    client.force_login(curator)
    return client


def page(desk: Client, release: Release, **headers: str) -> str:
    return desk.get(reverse("releases:job", args=[release.pk]), headers=headers).content.decode()


def test_a_queued_job_asks_for_itself_and_can_be_cancelled(desk, requested):
    html = page(desk, requested)
    assert 'hx-trigger="every 1s"' in html
    assert "Cancel this job" in html


@pytest.fixture
def wide_elsewhere(requested) -> Release:
    """A release of 59 columns and a million people of a table in Spark."""
    connection = Connection.objects.create(
        name="Register",
        kind=Connection.Kind.SPARK,
        host="spark.example.org",
        credential="register",
        seconds=1200,
    )
    table = SharedTable.objects.create(connection=connection, title="Visits", schema="health", table="visits")
    Dataset.objects.filter(pk=requested.dataset_id).update(source=table)
    Release.objects.filter(pk=requested.pk).update(people=10**6, columns=[f"c{j}" for j in range(59)])
    return Release.objects.get(pk=requested.pk)


def test_a_job_that_a_database_counts_says_how_long_that_takes_and_that_the_page_can_be_left(
    desk, wide_elsewhere
):
    html = " ".join(page(desk, wide_elsewhere).replace("&#x27;", "'").split())
    assert "For 1,000,000 people and 59 columns it needs about 2 minutes on one processor" in html
    assert "longer than 1,200 s, the connection's limit, is ended, and nothing is spent" in html
    assert "You can leave this page; the bell tells you when it is done." in html


def test_where_nobody_said_how_many_people_there_are_the_limit_alone_is_told(desk, wide_elsewhere):
    Release.objects.filter(pk=wide_elsewhere.pk).update(people=None)
    html = page(desk, wide_elsewhere)
    assert "on one processor" not in html and "1,200 s" in html


def test_a_job_that_the_portal_counts_says_nothing_of_a_database(desk, requested):
    assert "The database counts" not in page(desk, requested)


def test_htmx_gets_the_live_part_alone(desk, requested):
    assert "<html" not in page(desk, requested, hx_request="true")


@pytest.mark.slow
def test_a_finished_job_asks_no_more_and_leads_on(desk, requested):
    RELEASES.run(requested.pk)
    html = page(desk, requested)
    assert "hx-trigger" not in html
    assert "Compare with the true counts" in html
    assert re.search(r"Finished in \d+ seconds?\.", " ".join(html.split())) and "ago." not in html


def test_a_waiting_job_says_how_long_ago_it_was_requested(desk, requested):
    assert re.search(r"Requested \d+ seconds? ago\.", " ".join(page(desk, requested).split()))


def test_cancelling_gives_the_reservation_back(desk, dataset, requested):
    desk.post(reverse("releases:cancel", args=[requested.pk]))
    assert building.left(dataset) == Decimal(1)
    assert "Cancelled before it began" in page(desk, requested)


@pytest.mark.slow
def test_a_finished_job_cannot_be_cancelled(desk, dataset, requested):
    RELEASES.run(requested.pk)
    answer = desk.post(reverse("releases:cancel", args=[requested.pk]), follow=True)
    assert "cannot be cancelled any more" in str(*answer.context["messages"])
    assert building.left(dataset) == Decimal("0.9")


def test_a_cancelled_release_can_be_prepared_again(desk, requested):
    desk.post(reverse("releases:cancel", args=[requested.pk]))
    answer = desk.post(reverse("releases:again", args=[requested.pk]))
    draft = Release.objects.get(state=Release.State.DRAFT)
    assert answer.url == reverse("releases:product", args=[draft.pk])
    assert draft.columns == requested.columns


@pytest.mark.slow
def test_the_bell_counts_an_ended_job_until_it_is_seen(desk, requested):
    RELEASES.run(requested.pk)
    assert "1 piece of news" in desk.get("/guide/").content.decode()
    desk.get(reverse("releases:finished"))
    assert "0 pieces of news" in desk.get("/guide/").content.decode()


def test_another_curators_job_is_404(client, other_curator, requested):
    client.force_login(other_curator)
    assert client.get(reverse("releases:job", args=[requested.pk])).status_code == 404


@pytest.mark.slow
def test_a_cost_in_epsilon_is_none_in_rho(desk, ready, curator, administrator):
    newer = building.stored_dataset(curator, "Next year")
    how = {"reason": "First", "by": administrator}
    ledger.grant(newer, Decimal(1), definition="zcdp", **how)
    again = reverse("releases:again", args=[ready.pk])
    told = desk.post(again, {"dataset": newer.pk}, follow=True).text
    assert "The cost in ε is not taken over" in told
    assert Release.objects.get(dataset=newer).amount is None


@pytest.mark.slow
def test_a_release_is_run_again_on_a_new_version_of_its_table(desk, ready, curator, other_curator):
    address, again = (reverse(f"releases:{name}", args=[ready.pk]) for name in ("compare", "again"))
    assert "Run again on another table" not in desk.get(address).text
    newer = building.stored_dataset(curator, "Next year")
    building.stored_dataset(other_curator, "Somebody else's")
    ledger.grant(newer, Decimal(1), definition="pure", reason="First", by=curator)
    page = desk.get(address).text
    assert "Next year" in page and "Somebody else" not in page
    draft = Release.objects.get(pk=desk.post(again, {"dataset": newer.pk}).url.split("/")[2])
    assert (draft.dataset, draft.is_draft, draft.columns) == (newer, True, ready.columns)
    assert (draft.mechanism, draft.parameters, draft.amount) == (
        ready.mechanism,
        ready.parameters,
        ready.amount,
    )


@pytest.mark.slow
def test_who_runs_it_on_a_table_that_is_declared_otherwise_reads_so(desk, ready, curator):
    newer = building.stored_dataset(curator, "Next year")
    again = reverse("releases:again", args=[ready.pk])
    told = desk.post(again, {"dataset": newer.pk}, follow=True).text
    assert "declares these columns otherwise" not in told and "the estimate of the number of people" in told
    assert Release.objects.get(dataset=newer).proposed_title == "People by colour and age"
    assert Release.objects.get(dataset=newer).title == ""
    dataset_services.declare(newer, "age", Integer("age", lower=0, upper=99))
    dataset_services.declare(newer, "colour", Categorical("colour", values=("red", "green", "violet")))
    told = desk.post(again, {"dataset": newer.pk}, follow=True).text
    # Of as many cells, but others.
    assert "colour (4 cells before, 4 now), age (10 cells before, 100 now)" in told


@pytest.mark.slow
@pytest.mark.parametrize("named", ["nonsense", "theirs", "undeclared"])
def test_it_is_not_run_on_a_table_that_cannot_have_it(desk, ready, curator, other_curator, named):
    theirs, undeclared = (
        building.stored_dataset(other_curator),
        building.stored_dataset(curator, "Other columns"),
    )
    dataset_services.declare(undeclared, "age", None)
    names = {"theirs": theirs.pk, "undeclared": undeclared.pk}
    before = Release.objects.count()
    answer = desk.post(reverse("releases:again", args=[ready.pk]), {"dataset": names.get(named, named)})
    assert answer.url == reverse("releases:compare", args=[ready.pk])
    assert Release.objects.count() == before
