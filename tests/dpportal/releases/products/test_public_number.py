"""Where everybody has one row, groups add up to the number of rows: in files, on pages, for readers and verifiers."""

from __future__ import annotations

import io
import json

import pandas as pd
import pytest
from django.urls import reverse

from dpportal.datasets import services as dataset_services
from dpportal.datasets.models import Dataset
from dpportal.releases import services
from dpportal.releases.models import Release
from mechanisms.verify.bundle import Bundle
from mechanisms.verify.checks import verify
from mechanisms.verify.finding import State
from tests.dpportal.releases.products.building import files, finished, page_of
from tests.dpportal.releases.products.test_verified import downloaded, loaded, resigned, run

ROWS = 300


@pytest.fixture
def replaced(rich) -> Dataset:
    dataset_services.declare_unit(rich, neighbours="replace-one", unit_column="", max_rows=1)
    return rich


def means(dataset: Dataset, amount: str = "0.2") -> Release:
    return finished(
        dataset,
        "means",
        ["colour", "age"],
        amount,
        "bernstein-sums",
        measured=["age"],
        deviation=True,
        steps={},
    )


def summarised(dataset: Dataset, amount: str = "0.2") -> Release:
    return finished(dataset, "summary", ["colour", "age"], amount, "column-tables", group="colour", twice=[])


def table(release: Release, name: str) -> pd.DataFrame:
    return pd.read_csv(io.BytesIO(files(release)[name]))


@pytest.mark.slow
def test_groups_of_totals_add_up_to_it(replaced, client) -> None:
    release = means(replaced)
    groups, [in_all] = table(release, "totals.csv"), table(release, "in_all.csv").to_dict("records")
    assert in_all["number"] + in_all["without_value"] == ROWS
    assert groups["number"].sum() == in_all["number"]
    assert groups["without_value"].sum() == in_all["without_value"]
    assert (
        groups["number_upper"].max() <= ROWS and "add up to more" not in files(release)["README.md"].decode()
    )
    services.publish(release, replaced.owner)
    text = page_of(client, release)
    assert "add up to it" in text and "add up to more" not in text
    query = {"pick-asked": "1", "pick-in-0": ["0", "1"]}
    shown = client.get(reverse("releases:explore", args=[release.pk]), query).context
    assert shown["explored"].estimate == groups["number"][:2].sum()


@pytest.mark.slow
def test_groups_of_a_summary_add_up_to_it(replaced, client) -> None:
    release = summarised(replaced)
    lines = table(release, "summary.csv")
    number = lines[(lines["statistic"] == "number") & lines["column"].isna()]
    own, everybody = (number[number["whose"] == whose] for whose in ("group", "everybody"))
    assert own["estimate"].sum() == ROWS
    assert everybody[["estimate", "interval_lower", "interval_upper"]].to_numpy().tolist() == [[ROWS] * 3]
    people = lines[lines["unit"] == "people"]["estimate"]
    assert (people == people.round()).all()
    services.publish(release, replaced.owner)
    text = page_of(client, release)
    assert "How many people there are in all is public" in text and "± 0" not in text


@pytest.mark.slow
@pytest.mark.parametrize("make", [means, summarised])
@pytest.mark.parametrize("amount", ["0.2", "40"])
def test_its_bundle_holds_and_says_so(replaced, tmp_path, make, amount) -> None:
    path = downloaded(make(replaced, amount), tmp_path)
    bundle = Bundle.read(path)
    assert bundle.release["plan"]["total"] == ROWS
    assert not [finding for finding in verify(bundle) if finding.state is State.FAILED]
    assert all(loaded(path, tmp_path / "unpacked").values())
    run(path, tmp_path / "unpacked")


@pytest.mark.slow
@pytest.mark.parametrize("make", [means, summarised])
def test_another_number_and_one_that_is_private_fail(replaced, tmp_path, make) -> None:
    path = downloaded(make(replaced), tmp_path)
    for changed in (301, -1):
        forged = resigned(path, lambda facts, n=changed: facts["plan"].update(total=n))
        assert [f for f in verify(Bundle.read(forged)) if f.state is State.FAILED and f.what != "signature"]
    private = resigned(path, lambda facts: facts["plan"]["loss"].update(neighbours="add-remove"))
    assert [f for f in verify(Bundle.read(private)) if f.state is State.FAILED and f.what == "plan"]


@pytest.mark.parametrize("make", [means, summarised])
def test_a_private_number_is_not_in_the_plan(rich, make) -> None:
    plan = json.loads(files(make(rich))["release.json"])["plan"]
    assert "total" not in plan
