"""A running count beside another promise to the same people: its page and its files name it, also afterwards."""

from __future__ import annotations

import json
from decimal import Decimal

from dpportal.datasets import services as datasets
from dpportal.datasets.models import Dataset
from dpportal.streams import bundle, execution, services
from dpportal.streams.execution import Update
from dpportal.streams.models import Period, Stream
from dpportal.streams.series import published
from tests.dpportal.building import granted
from tests.dpportal.streams import building

ROWS = {"neighbours": "replace-one", "unit_column": "", "max_rows": 1}
PEOPLE = {"neighbours": "add-remove", "unit_column": "age", "max_rows": 3}


def fresh(dataset: Dataset) -> Dataset:
    return Dataset.objects.get(pk=dataset.pk)


def facts(stream: Stream, folder) -> dict:
    stream = Stream.objects.get(pk=stream.pk)
    series = published(stream)
    assert series is not None
    return json.loads(bundle.make(stream, series, "release.json", folder).read_text())


def test_each_of_two_streams_names_the_promise_of_the_other(client, dataset, administrator, tmp_path):
    datasets.declare_unit(dataset, **PEOPLE)
    person = building.open_stream(fresh(dataset), amount=Decimal("0.1"))
    execution.publish(person.pk, [Update(1, (5,), Period.Source.TYPED)], noise=building.repeated_noise())
    services.publish(person, person.created_by)
    assert facts(person, tmp_path)["protects"]["released_under_other_protections_too"] is False

    datasets.declare_unit(fresh(dataset), **ROWS)
    rows = building.open_stream(granted(fresh(dataset), administrator, "5"), amount=Decimal("5"))
    assert not rows.plan.loss.unit.total_public  # a number that the first stream hides
    worked = "a person with 10 rows up to ε = 50 (10 × 5)"
    assert worked in client.get(person.get_absolute_url()).content.decode()
    written = facts(person, tmp_path)
    assert worked in written["statement"]
    assert written["protects"]["released_under_other_protections_too"] is True
    services.publish(rows, rows.created_by)
    public = client.get(rows.get_absolute_url()).content.decode()
    assert f"this stream can cost {worked}" in public and "have spent ε = 0.1 in all" in public
