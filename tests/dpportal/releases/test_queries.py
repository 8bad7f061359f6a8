"""Answers to many queries: from the question through the job to bundle and pages."""

from __future__ import annotations

import io
import json
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from django.core.files.uploadedfile import SimpleUploadedFile

from dpportal.accounts.models import User
from dpportal.datasets.models import Dataset
from dpportal.releases import drafts, execution, services, strategies
from dpportal.releases.models import Optimisation, Release
from mechanisms import registry
from tests.dpportal import building
from tests.dpportal.releases.test_products import files, page_of

# At ε = 200 the noise of a sum is 0 but for once in e^100, whatever the strategy here.
CERTAIN = "200"
AGES = '"age"'


@pytest.fixture
def rich(curator: User, administrator: User) -> Dataset:
    return building.granted(building.stored_dataset(curator), administrator, "10000")


@pytest.fixture
def concentrated(curator: User, administrator: User) -> Dataset:
    return building.granted(building.stored_dataset(curator, "zCDP"), administrator, "10000", "zcdp")


def draft_of(
    dataset: Dataset, text: str, columns: list[str], amount: str = "1", mechanism: str = "automatic"
) -> Release:
    return Release.objects.create(
        dataset=dataset,
        created_by=dataset.owner,
        title="Test",
        product="queries",
        columns=columns,
        mechanism=mechanism,
        parameters={"workload": text},
        amount=Decimal(amount),
    )


def finished(
    dataset: Dataset, text: str, columns: list[str], amount: str, mechanism: str = "automatic"
) -> Release:
    release = draft_of(dataset, text, columns, amount, mechanism)
    for search in services.ask_strategies(release):
        strategies.work_out(search.key)
    building.confirm(release)
    execution.execute(release.pk)
    release.refresh_from_db()
    assert release.is_ready, release.job.failure
    return release


def answers(release: Release) -> pd.DataFrame:
    return pd.read_csv(io.BytesIO(files(release)["answers.csv"]))


class TestJob:
    def test_all_ranges_of_ages_are_answered(self, rich) -> None:
        """Ages 0 to 99, three people each, in ten cells of 30 people."""
        table = answers(finished(rich, 'ranges("age")', ["age"], CERTAIN))
        assert len(table) == 10 * 11 // 2
        widths = [stop - start for start in range(10) for stop in range(start + 1, 11)]
        np.testing.assert_allclose(table["answer"], [30 * width for width in widths], atol=0.5)
        assert table["query"][1] == "age 0–19"

    def test_tables_of_two_columns_are_answered_under_zcdp(self, concentrated) -> None:
        """100 rows of each colour; ages spread evenly over the colours; the cell Other is empty."""
        release = finished(concentrated, "marginals(<=2)", ["colour", "age"], CERTAIN, "residual-planner")
        table = answers(release).set_index("query")["answer"]
        assert len(table) == 4 + 10 + 40
        assert abs(table["colour = red"] - 100) < 1 and abs(table["age 10–19"] - 30) < 1
        assert table[[f"colour = {c}, age 0–9" for c in ("red", "green", "blue")]].sum() == pytest.approx(
            30, abs=1
        )
