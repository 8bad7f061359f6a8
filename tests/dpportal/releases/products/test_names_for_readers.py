"""Columns that have a name for readers: pages, charts and sentences show it, files keep the column's own name."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
from dataclasses import replace

import pytest

from dpportal.datasets import services
from dpportal.releases import services as services_of_releases
from mechanisms.domain import Categorical, Date, Integer
from tests.dpportal import building
from tests.dpportal.releases.products.building import files, finished, page_of
from tests.dpportal.releases.products.microdata.building import dataset_of
from tests.dpportal.releases.products.test_verified import MADE, downloaded, failed

pytestmark = pytest.mark.slow
OURS = {"colour": "Favourite colour", "age": "Age in years"}


@pytest.fixture
def titled(rich):
    declared = [line.declared() for line in rich.current_domain().attributes.all()]
    services.declare_all(rich, [replace(each, title=OURS[each.name]) for each in declared])
    return rich


def test_a_release_is_called_so(titled):
    release = finished(titled, "histogram", ["colour", "age"], "9", "laplace-histogram")
    assert release.proposed_title == "People by Favourite colour and Age in years"
    assert release.columns_shown == "Favourite colour × Age in years"


@pytest.mark.parametrize(
    ("product", "mechanism", "more"),
    [
        ("histogram", "laplace-histogram", {}),
        ("means", "bernstein-sums", {"measured": ["age"], "deviation": False, "steps": {"age": "10"}}),
        ("summary", "column-tables", {"group": "colour", "twice": []}),
        ("microdata", "tree-of-pairs", {"wishes": {}, "rows": None}),
    ],
)
def test_the_public_page_shows_it_wherever_a_column_is_named(client, titled, product, mechanism, more):
    release = finished(titled, product, ["colour", "age"], "9", mechanism, **more)
    client.force_login(titled.owner)
    page = page_of(client, release)
    assert "Age in years" in page
    for own in ("colour", "age"):
        assert f">{own}<" not in page, page[page.index(f">{own}<") - 300 :][:400]
        assert f">{own} " not in page.replace(f">{own} and", "")


def test_search_engines_get_the_names_of_files_with_the_others_beside_them(client, curator, administrator):
    """A column with a blank has another name in files; one with a title has three."""
    attributes = [
        Categorical("Q 12", values=("a", "b"), title="Question 12"),
        Categorical("sex", values=("a", "b")),
        Integer("age", lower=0, upper=99, width=50),
        Date("born", lower=dt.date(1990, 1, 1), upper=dt.date(1999, 12, 31), step="year"),
    ]
    table = {each.name: ["a", "b"] * (building.ROWS // 2) for each in attributes}
    dataset = building.granted(dataset_of(curator, "Survey", table, attributes), administrator, "9")
    release = finished(dataset, "histogram", [each.name for each in attributes], "9", "laplace-histogram")
    services_of_releases.publish(release, curator)
    told = client.get(release.get_absolute_url(), headers={"accept": "application/ld+json"}).json()
    assert told["variableMeasured"] == [
        {"@type": "PropertyValue", "name": "Q_12", "alternateName": ["Question 12", "Q 12"]},
        {"@type": "PropertyValue", "name": "sex"},
        {"@type": "PropertyValue", "name": "age", "minValue": 0, "maxValue": 99},
        {"@type": "PropertyValue", "name": "born", "minValue": "1990-01-01", "maxValue": "1999-12-31"},
    ]
    described = client.get(f"{release.get_absolute_url()}croissant.json").json()
    [counts] = [each for each in described["recordSet"] if each["name"] == "histogram"]
    assert [field["name"] for field in counts["field"]][:2] == ["Q_12", "sex"]


def test_the_codebook_of_a_bundle_has_it_and_other_files_the_columns_own_name(titled):
    content = files(finished(titled, "histogram", ["colour", "age"], "9", "laplace-histogram"))
    book = list(csv.DictReader(io.StringIO(content["codebook.csv"].decode())))
    assert {(line["name"], line["title"]) for line in book} == {*OURS.items()}
    assert content["histogram.csv"].decode().startswith("colour,age,noisy_count")
    resources = json.loads(content["datapackage.json"])["resources"]
    fields = next(r for r in resources if r["path"] == "histogram.csv")["schema"]["fields"]
    assert [field.get("title") for field in fields[:2]] == [*OURS.values()]
    assert b"Age in years" in content["main.svg"] if "main.svg" in content else True


@pytest.mark.parametrize("name", MADE)
def test_a_bundle_with_names_for_readers_holds(titled, tmp_path, name):
    assert failed(downloaded(MADE[name](titled), tmp_path)) == []
