"""Where missing and unreadable values have no cell of their own, page and README say in which they count."""

from __future__ import annotations

import pytest
from django.utils.translation import override

from dpportal.datasets.unread_values import MOST_NAMED
from dpportal.releases import services
from dpportal.releases.row_retention import RowRetention
from mechanisms.domain import Categorical, Integer
from tests.dpportal import building
from tests.dpportal.releases.products.building import files, finished
from tests.dpportal.releases.products.microdata.building import dataset_of

pytestmark = pytest.mark.slow
ATTRIBUTES = [
    Integer("age", lower=0, upper=99, width=10, title="Age in years"),
    Integer("rooms", True, lower=1, upper=9, width=1),
    Integer("cars", lower=0, upper=3, width=1, closed=True),
    Categorical("sex", values=("f", "m"), closed=True, misfits_to=1),
    Categorical("town", values=("a", "b")),
]
SAID = "Missing and unreadable values have no cell of their own and count in a declared one: "


@pytest.fixture
def table(curator, administrator):
    """Every second age is written in full-width digits, which no declaration reads."""
    ages = ["35", "３５"] * (building.ROWS // 2)
    others = {
        each.name: ["1" if isinstance(each, Integer) else each.values[0]] * building.ROWS
        for each in ATTRIBUTES[1:]
    }
    return building.granted(
        dataset_of(curator, "Survey", {"age": ages, **others}, ATTRIBUTES), administrator, "99"
    )


def test_the_page_and_the_readme_name_each_such_column_and_its_cell(client, curator, table):
    names = [each.name for each in ATTRIBUTES[:4]]
    release = finished(table, "histogram", names, "50", "laplace-histogram")
    services.publish(release, curator)
    said = f"{SAID}Age in years in “0–9”, sex in “m”."
    assert said in client.get(release.get_absolute_url()).text
    assert f"- {said}" in files(release)["README.md"].decode()
    counts = files(release)["histogram.csv"].decode().splitlines()
    zero = sum(float(line.split(",")[4]) for line in counts if line.startswith("0–9,"))
    assert abs(zero - building.ROWS / 2) < building.ROWS / 10


def test_of_sums_only_the_groups_are_named(client, curator, table):
    release = finished(
        table,
        "means",
        ["age", "sex"],
        "50",
        "bernstein-sums",
        measured=["age"],
        deviation=False,
        steps={"age": "10"},
    )
    assert RowRetention.of(release).unread == (("sex", "m"),)


def test_nothing_is_said_where_every_value_has_a_cell(client, curator, table):
    release = finished(table, "histogram", ["rooms", "town"], "50", "laplace-histogram")
    services.publish(release, curator)
    assert SAID not in client.get(release.get_absolute_url()).text
    assert SAID not in files(release)["README.md"].decode()


def test_many_columns_are_not_all_named():
    unread = tuple((f"c{place}", "0–9") for place in range(MOST_NAMED + 2))
    text = RowRetention("", 1, (), unread).unread_text
    assert text.endswith(f"c{MOST_NAMED - 1} in “0–9”, 2 more columns")
    with override("zh-hans"):
        assert "c0" in RowRetention("", 1, (), unread).unread_text
