"""A method of one file and one line in the registry goes through wizard, job and bundle."""

from __future__ import annotations

import io
import json
from decimal import Decimal
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from django.test import Client

from dpportal.releases import execution
from dpportal.releases.models import Release
from mechanisms import registry
from mechanisms.accounting import Definition, Loss
from mechanisms.calibration import count_law
from mechanisms.domain import Domain
from mechanisms.matrix.answering import MatrixMechanism
from mechanisms.matrix.mechanism import Optimised
from mechanisms.matrix.strategy.product import Kronecker, plain
from mechanisms.matrix.workload.union import Workload
from mechanisms.noise import Noise
from mechanisms.protocol import Measurement, Mechanism, Parameter, Parameters, Plan, Result
from mechanisms.sensitivity import histogram_sensitivity
from tests.dpportal.releases.products.building import files, page_of

NOT_MEASURED = "Not measured yet: nothing is known of it but what it says of itself."


class OneMean(Mechanism):
    """Counts everybody with noise, and deals them out evenly: no error can be promised, and no other fact is stated."""

    name: ClassVar[str] = "one-mean"
    title: ClassVar[str] = "One mean for all cells"
    summary: ClassVar[str] = "For a test."
    definitions: ClassVar[frozenset[Definition]] = frozenset({Definition.PURE})
    parameters: ClassVar[tuple[Parameter, ...]] = ()

    def plan(self, domain: Domain, parameters: Parameters, loss: Loss) -> Plan:
        loss = loss.for_domain(domain)
        moved = histogram_sensitivity(loss.unit)
        law = count_law(loss, moved)
        return Plan(self.name, domain, {}, loss, moved, law, None, None, None, "Counts everybody.")

    def measure(self, plan: Plan, counts: np.ndarray, noise: Noise) -> Measurement:
        return Measurement(counts.sum(keepdims=True) + noise.draw(plan.noise, 1))

    def reconstruct(self, plan: Plan, measurement: Measurement) -> Result:
        mean = max(0, int(measurement.values[0])) // plan.domain.size
        cells = np.full(plan.domain.size, mean, dtype=np.int64)
        return Result(raw=cells.astype(np.float64), counts=cells)


class EachCell(MatrixMechanism):
    """Every cell by itself, under another name."""

    name: ClassVar[str] = "each-cell-again"
    title: ClassVar[str] = "Each cell, again"
    summary: ClassVar[str] = "For a test."

    def strategy(
        self, domain: Domain, workload: Workload, definition: Definition, optimised: Optimised | None
    ) -> Kronecker:
        return plain(workload.shape)


@pytest.fixture
def desk(client: Client, dataset, monkeypatch: pytest.MonkeyPatch) -> Client:
    """The curator's, in a portal whose registry has a line more of each kind."""
    monkeypatch.setattr(registry, "HISTOGRAMS", (*registry.HISTOGRAMS, OneMean()))
    monkeypatch.setattr(registry, "QUERIES", (*registry.QUERIES, EachCell()))
    client.force_login(dataset.owner)
    return client


def walked(desk: Client, dataset, product: str, columns: dict[str, Any], method: str) -> tuple[Release, str]:
    """From a new draft to a finished release, page by page; and the page of the methods."""
    draft = Release.objects.create(dataset=dataset, created_by=dataset.owner, people=300)
    steps = [
        ("product", {"product": product, "title": "Walked"}),
        ("columns", columns),
        ("method", {"mechanism": method, "amount": "0.5", "purpose": "cells"}),
    ]
    methods = ""
    for step, fields in steps:
        shown = desk.get(f"/releases/{draft.pk}/{step}/")
        assert shown.status_code == 200, step
        methods = shown.content.decode()
        answer = desk.post(f"/releases/{draft.pk}/{step}/", fields)
        assert answer.status_code == 302, (step, answer.content.decode())
    review = desk.get(f"/releases/{draft.pk}/review/")
    reviewed = review.context["form"]["reviewed"].value()
    desk.post(f"/releases/{draft.pk}/review/", {"reviewed": reviewed, "agreed": "on", "useless": "on"})
    execution.RELEASES.run(draft.pk)
    draft.refresh_from_db()
    assert draft.is_ready, draft.job.failure
    return draft, methods


def test_a_histogram_method_that_states_no_fact(desk: Client, dataset) -> None:
    columns = {"columns": ["colour", "age"], "people": "300"}
    release, methods = walked(desk, dataset, "histogram", columns, OneMean.name)
    ranking = methods[methods.index('id="advice"') :]
    place = ranking.index(OneMean.title)
    assert place > ranking.index("Noisy histogram, Laplace")
    # Others may wait to be measured, too.
    assert NOT_MEASURED in ranking[place : place + 2_000]
    given = files(release)
    assert json.loads(given["release.json"])["plan"]["mechanism"] == OneMean.name
    table = pd.read_csv(io.BytesIO(given["histogram.csv"]))
    assert table["noisy_count"].nunique() == 1 and table["interval_lower"].isna().all()
    readme = given["README.md"].decode()
    assert "depends on the data, so no margin is given" in readme and "groups of neighbouring" not in readme
    assert OneMean.title in page_of(desk, release)
    for page in ("explore", "compare"):
        assert desk.get(f"/releases/{release.pk}/{page}/").status_code == 200


def test_it_alone_is_recommended_where_nothing_was_measured(desk: Client, draft, monkeypatch) -> None:
    monkeypatch.setattr(registry, "HISTOGRAMS", (OneMean(),))
    page = desk.post(f"/releases/{draft.pk}/method/offers/", {"amount": "0.1"}).content.decode()
    assert f'name="use" value="{OneMean.name}"' in page and NOT_MEASURED in page


def test_a_strategy_for_queries_that_states_no_fact(desk: Client, dataset) -> None:
    columns = {"kind": "ranges", "column": "age", "people": "300"}
    release, methods = walked(desk, dataset, "queries", columns, EachCell.name)
    assert EachCell.title in methods
    given = files(release)
    assert len(pd.read_csv(io.BytesIO(given["answers.csv"]))) == 10 * 11 // 2
    assert release.amount == Decimal("0.5")
    assert EachCell.title in page_of(desk, release)
    for page in ("explore", "compare"):
        assert desk.get(f"/releases/{release.pk}/{page}/").status_code == 200
