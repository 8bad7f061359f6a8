"""Columns that follow from another, from the wizard to rows, bundle and page."""

from __future__ import annotations

import io
import json
import re

import pandas as pd
import pytest

from dpportal.accounts.models import User
from dpportal.datasets.models import Dataset
from dpportal.releases.models import Release
from tests.dpportal import building
from tests.dpportal.publications.forging import forged
from tests.dpportal.releases.products.building import files, page_of
from tests.dpportal.releases.products.microdata.test_product import ANSWER, five_columns, made
from tests.dpportal.releases.products.test_verified import downloaded, failed


@pytest.fixture
def wide(curator: User, administrator: User) -> Dataset:
    """Whoever has the third or fourth job is ill, and nobody else."""
    return building.granted(five_columns(curator), administrator, "100")


@pytest.mark.slow
def test_what_follows_from_another_column_does_so_in_every_row(wide, client) -> None:
    release = made(wide, wishes={"follows": [["job", "ill"]]})
    rows = pd.read_parquet(io.BytesIO(files(release)["synthetic.parquet"]))
    ill = rows[rows["job"].isin(["j0", "j1", "j2", "j3"])].groupby("job")["ill"]
    assert ill.nunique().max() == 1
    assert ill.first().astype(bool).tolist() == [False, False, True, True]
    assert "ill was declared to follow from job" in files(release)["README.md"].decode()
    client.force_login(wide.owner)
    assert "job → ill" in page_of(client, release)


@pytest.mark.slow
def test_a_public_register_is_kept_and_said_to_be_one(wide, client, tmp_path) -> None:
    """It may even be wrong: here whoever has the first job is ill."""
    jobs = [("j0", "true"), ("j1", "false"), ("j2", "true"), ("j3", "true")]
    known = [["job", job, "ill", ill] for job, ill in jobs]
    release = made(wide, wishes={"follows": [["job", "ill"]], "known": known}, amount="1")
    given = files(release)
    rows = pd.read_parquet(io.BytesIO(given["synthetic.parquet"]))
    assert len(rows) and rows["job"].notna().any()
    for job, ill in jobs:
        assert (rows.loc[rows["job"] == job, "ill"].astype(str).str.lower() == ill).all()
    assert "which was declared, too" in " ".join(given["README.md"].decode().split())
    assert json.loads(given["release.json"])["plan"]["wishes"]["known"] == known
    path = downloaded(release, tmp_path)
    assert not failed(path)
    rows = pd.read_csv(io.BytesIO(given["synthetic.csv"]), dtype=str, keep_default_na=False)
    first = rows.index[rows["job"] == "j0"][0]
    rows.loc[first, "ill"] = "false"
    other = forged(path, {"synthetic.csv": rows.to_csv(index=False).encode()})
    assert any("ill does not follow from job" in each for each in failed(other))
    client.force_login(wide.owner)
    assert "for every value declared which" in page_of(client, release)
    compared = " ".join(client.get(f"/releases/{release.pk}/compare/").content.decode().split())
    [true, synthetic] = re.search(r"<td>job → ill</td>(.*?)</tr>", compared).group(1).split("</td>")[:2]
    assert "100.0 %" in true and "100.0 %" not in synthetic


def columns_answered(client, dataset: Dataset, follows: str, known: str = "") -> tuple[str, str]:
    """The draft's address, and the page after the wizard's second step."""
    client.force_login(dataset.owner)
    draft = Release.objects.create(dataset=dataset, created_by=dataset.owner, product="microdata")
    address = f"/releases/{draft.pk}"
    response = client.post(f"{address}/columns/", {**ANSWER, "follows": follows, "known": known}, follow=True)
    return address, response.content.decode()


@pytest.mark.slow
def test_latent_classes_alone_keep_it(wide, client) -> None:
    address, methods = columns_answered(client, wide, "job, ill")
    assert "Choose latent classes" in methods
    choice = {"mechanism": "latent-classes", "amount": "1"}
    assert client.post(f"{address}/method/", choice).status_code == 302
    assert "ill from job" in client.get(f"{address}/review/").content.decode()
    assert "job,ill" in client.get(f"{address}/columns/").content.decode()


@pytest.mark.slow
def test_a_register_is_read_from_lines_and_says_by_itself_what_follows(wide, client) -> None:
    address, _methods = columns_answered(client, wide, "", "job, j0, ill, false\njob, j1, ill, false")
    choice = {"mechanism": "latent-classes", "amount": "1"}
    assert client.post(f"{address}/method/", choice).status_code == 302
    review = " ".join(client.get(f"{address}/review/").content.decode().split())
    assert "ill from job" in review and "for 2 values declared which, for the others estimated" in review
    assert "job,j0,ill,false\njob,j1,ill,false" in client.get(f"{address}/columns/").content.decode()


def test_a_register_of_values_that_nobody_declared_is_refused(wide, client) -> None:
    _address, page = columns_answered(client, wide, "", "job, pilot, ill, true")
    assert "no declared value of that name: pilot" in page and wide.budgets.get().reserved == 0


def test_only_categories_can_be_followed(wide, client) -> None:
    _address, page = columns_answered(client, wide, "age, ill")
    assert "no declared categories" in page and wide.budgets.get().reserved == 0
