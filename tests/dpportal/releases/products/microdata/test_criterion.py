"""Columns chosen by mutual information: offered where the number of rows is public, from the wizard to the rows."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest

from dpportal.accounts.models import User
from dpportal.datasets import services as dataset_services
from dpportal.datasets.models import Dataset
from dpportal.releases import execution
from dpportal.releases.models import Release
from mechanisms.domain import Boolean
from tests.dpportal import building
from tests.dpportal.releases.products.building import files
from tests.dpportal.releases.products.microdata.building import dataset_of

COLUMNS = [f"c{j}" for j in range(5)]


@pytest.fixture
def answers(curator: User, administrator: User) -> Dataset:
    """Five columns of yes or no, of which c3 is c1; whoever is replaced leaves as many rows."""
    yes = np.random.default_rng(6).random((building.ROWS, 5)) < 0.5
    yes[:, 3] = yes[:, 1]
    table = {name: np.where(yes[:, j], "true", "false").tolist() for j, name in enumerate(COLUMNS)}
    dataset = dataset_of(curator, "Answers", table, [Boolean(name, missing_cell=True) for name in COLUMNS])
    dataset_services.declare_unit(dataset, neighbours="replace-one", unit_column="", max_rows=1)
    return building.granted(dataset, administrator, "100")


def chosen(client, dataset: Dataset) -> Release:
    client.force_login(dataset.owner)
    draft = Release.objects.create(dataset=dataset, created_by=dataset.owner, product="microdata")
    given = {"columns": COLUMNS, "people": 300, "target": "c3", "keep": "2", "criterion": "information"}
    assert client.post(f"/releases/{draft.pk}/columns/", given).status_code == 302
    return draft


@pytest.mark.slow
def test_the_column_with_most_information_is_kept(answers, client) -> None:
    draft = chosen(client, answers)
    at = f"/releases/{draft.pk}"
    assert "mutual information" in client.get(f"{at}/columns/").content.decode()
    assert client.post(f"{at}/method/", {"mechanism": "tree-of-pairs", "amount": "90"}).status_code == 302
    assert "Chosen by" in client.get(f"{at}/review/").content.decode()
    building.confirm(Release.objects.get(pk=draft.pk))
    execution.RELEASES.run(draft.pk)
    release = Release.objects.get(pk=draft.pk)
    rows = pd.read_parquet(io.BytesIO(files(release)["synthetic.parquet"]))
    assert rows.columns.tolist() == ["c1", "c3"] and len(rows) == building.ROWS


def test_where_the_number_of_rows_is_not_public_it_is_not_offered(answers, client) -> None:
    dataset_services.declare_unit(answers, neighbours="add-remove", unit_column="", max_rows=1)
    draft = chosen(client, answers)
    draft.refresh_from_db()
    assert draft.parameters["criterion"] == "distance"
    assert "mutual information" not in client.get(f"/releases/{draft.pk}/columns/").content.decode()
