"""A running count beside another promise to the same people: its page and its files name it, also afterwards."""

from __future__ import annotations

import json
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db.models import F

from dpportal.budgets import ledger
from dpportal.datasets import services as datasets
from dpportal.datasets.models import Dataset
from dpportal.jobs.claims import JobState
from dpportal.streams import downloads, execution, services
from dpportal.streams.execution import Update
from dpportal.streams.models import Period, SeriesBundle, Stream
from tests.dpportal.building import granted
from tests.dpportal.streams import building

ROWS = {"neighbours": "replace-one", "unit_column": "", "max_rows": 1}
PEOPLE = {"neighbours": "add-remove", "unit_column": "age", "max_rows": 3}


def fresh(dataset: Dataset) -> Dataset:
    return Dataset.objects.get(pk=dataset.pk)


def facts(client, stream: Stream) -> dict:
    """What a reader gets as release.json now."""
    answer = client.get(f"/streams/{stream.pk}/download/release.json")
    assert answer.status_code == 200
    return json.loads(b"".join(answer.streaming_content))


def published_stream(dataset: Dataset, amount: str) -> Stream:
    stream = building.open_stream(dataset, amount=Decimal(amount))
    execution.publish(stream.pk, [Update(1, (5,), Period.Source.TYPED)], noise=building.repeated_noise())
    services.publish(stream, stream.created_by)
    building.with_files(stream)
    return Stream.objects.get(pk=stream.pk)


@pytest.mark.slow
def test_each_of_two_streams_names_the_promise_of_the_other(client, dataset, administrator):
    datasets.declare_unit(dataset, **PEOPLE)
    person = published_stream(fresh(dataset), "0.1")
    before = facts(client, person)
    assert before["protects"]["released_under_other_protections_too"] is False

    datasets.declare_unit(fresh(dataset), **ROWS)
    rows = published_stream(granted(fresh(dataset), administrator, "5"), "5")
    assert not rows.plan.loss.unit.total_public  # a number that the first stream hides
    worked = "a person with 10 rows up to ε = 50.00 (10 × 5.00)"
    assert worked in client.get(person.get_absolute_url()).text
    assert f"this running count can cost {worked}" in facts(client, rows)["statement"]
    public = client.get(rows.get_absolute_url()).text
    assert f"this running count can cost {worked}" in public and "have spent ε = 0.10 in all" in public


def _a_day_later(stream: Stream) -> None:
    """As if its files had been written a day ago."""
    earlier = {name: F(name) - timedelta(days=1) for name in ("started_at", "finished_at")}
    SeriesBundle.objects.filter(pk=stream.pk).update(**earlier)


@pytest.mark.slow
def test_files_that_a_worker_wrote_are_written_anew_when_another_account_spends(
    client, dataset, administrator
):
    """No request, no new period and no sweep comes between the charge and the reader."""
    datasets.declare_unit(dataset, **PEOPLE)
    person = published_stream(fresh(dataset), "0.1")
    datasets.declare_unit(fresh(dataset), **ROWS)
    there = granted(fresh(dataset), administrator, "5")
    paid = [("2", "2", "ε = 20.00 (10 × 2.00)", True), ("3", "5", "ε = 50.00 (10 × 5.00)", False)]
    for amount, spent, worked, closed in paid:
        waiting = building.requested_stream(fresh(there), amount=Decimal(amount))
        facts(client, person)  # what is reserved only changes nothing
        ledger.spend(waiting.charge)
        files = f"/streams/{person.pk}/download"
        stale = [client.get(f"{files}/{name}") for name in ("release.json", "README.md", "report.html")]
        # A promise that they do not name closes them; what more is spent under one that they name does not.
        assert {answer.status_code for answer in stale} == {503 if closed else 200}
        page = client.get(person.get_absolute_url()).text
        said = "Something that these files say has changed" in page
        assert ("/download/" in page, said) == (not closed, not closed) and worked in page
        # Where writing them failed they would say too little for long.
        SeriesBundle.objects.filter(pk=person.pk).update(state=JobState.FAILED)
        assert client.get(f"{files}/release.json").status_code == 503
        _a_day_later(person)
        downloads.request(person)
        downloads.DOWNLOADS.run(person.pk)
        written = facts(client, person)
        assert worked in written["statement"]
        assert [other["spent"] for other in written["protects"]["other_protections"]] == [spent]
        assert worked in client.get(person.get_absolute_url()).text
