"""Honest bundles hold whatever their columns are called."""

from __future__ import annotations

import pytest

from dpportal.datasets import services as dataset_services
from dpportal.datasets.models import Dataset
from dpportal.releases import services
from mechanisms import registry
from mechanisms.domain import Categorical, Integer
from mechanisms.verify.bundle import Bundle
from mechanisms.verify.checks import verify
from mechanisms.verify.finding import State
from tests.dpportal import building
from tests.dpportal.releases.products.building import finished
from tests.dpportal.releases.products.microdata.building import dataset_of
from tests.dpportal.releases.products.queries import building as queries
from tests.dpportal.releases.products.test_verified import downloaded

pytestmark = [pytest.mark.slow, pytest.mark.django_db]


def table(curator, administrator, name: str) -> Dataset:
    """A column of numbers that is called so, and one of groups."""
    values = {name: [str(20 + n % 60) for n in range(300)], "group": ["ab"[n % 2] for n in range(300)]}
    domain = [Integer(name, lower=0, upper=99, width=10), Categorical("group", values=("a", "b"))]
    return building.granted(dataset_of(curator, "Survey", values, domain), administrator, "20")


def other_than_held(release, tmp_path) -> list[str]:
    found = verify(Bundle.read(downloaded(release, tmp_path)))
    return [str(each) for each in found if each.state not in (State.HOLDS, State.STATED)]


@pytest.mark.parametrize("name", ["hours_per_week", "noisy_count", "age"])
def test_means_without_groups(curator, administrator, tmp_path, name):
    dataset = table(curator, administrator, name)
    release = finished(
        dataset, "means", [name], "9", "bernstein-sums", measured=[name], deviation=False, steps={}
    )
    assert other_than_held(release, tmp_path) == []


@pytest.mark.parametrize("name", ["Children's age", "a<b>", "a--b", "=x()", "Revenue €", "km²"])
def test_a_summary_by_groups(curator, administrator, tmp_path, name):
    dataset = table(curator, administrator, name)
    release = finished(dataset, "summary", [name, "group"], "9", "column-tables", group="group", twice=[])
    assert other_than_held(release, tmp_path) == []


def categories(curator, administrator, name: str, value: str) -> Dataset:
    """A column of two categories, of which one is called so."""
    values = {name: [(value, "other one")[n % 2] for n in range(300)]}
    dataset = dataset_of(curator, "Survey", values, [Categorical(name, values=(value, "other one"))])
    dataset_services.declare_unit(dataset, neighbours="replace-one", unit_column="", max_rows=1)
    return building.granted(dataset, administrator, "20")


@pytest.mark.parametrize("name", ["2019", "2024-01-02", "month 13 of 25"])
def test_a_private_choice(curator, administrator, tmp_path, name):
    dataset, method = categories(curator, administrator, name, "a"), registry.SELECTIONS[0].name
    about = {"question": "most-common-value", "picks": 1, "level": "1/2"}
    release = finished(dataset, "selection", [name], "2", method, **about)
    assert other_than_held(release, tmp_path) == []


@pytest.mark.parametrize(("name", "value"), [("@x", "=cmd()"), ("long " * 30, "2024-01-02"), ("a", "x  2")])
def test_randomised_answers(curator, administrator, tmp_path, name, value):
    dataset = categories(curator, administrator, name, value)
    release = finished(dataset, "response", [name], "2", registry.RESPONSES[0].name)
    assert other_than_held(release, tmp_path) == []


@pytest.mark.parametrize("name", ["2019", "count"])
def test_answers_of_a_workload(curator, administrator, tmp_path, name):
    dataset = table(curator, administrator, name)
    method = "weighted-marginals"
    release = queries.finished(queries.draft_of(dataset, "marginals(<=2)", [name, "group"], "2", method))
    assert other_than_held(release, tmp_path) == []


def test_a_chart_of_two_groups_whose_column_is_called_by_a_number(curator, administrator, tmp_path):
    """Their bars grow to both sides, and over them stands what their column is called."""
    values = {"2019": ["ab"[n % 2] for n in range(300)], "age": [str(20 + n % 60) for n in range(300)]}
    domain = [Categorical("2019", values=("a", "b")), Integer("age", lower=0, upper=99, width=10)]
    dataset = building.granted(dataset_of(curator, "Survey", values, domain), administrator, "20")
    release = finished(dataset, "histogram", ["2019", "age"], "9", "laplace-histogram")
    assert other_than_held(release, tmp_path) == []


@pytest.mark.parametrize("name", ["Total", "Mean", "2019", "All", "-1"])
def test_means_by_groups(curator, administrator, tmp_path, name):
    values = {name: ["ab"[n % 2] for n in range(300)], "age": [str(20 + n % 60) for n in range(300)]}
    domain = [Categorical(name, values=("a", "b")), Integer("age", lower=0, upper=99, width=10)]
    dataset = building.granted(dataset_of(curator, "Survey", values, domain), administrator, "20")
    how = {"measured": ["age"], "deviation": False, "steps": {}}
    release = finished(dataset, "means", [name, "age"], "9", "bernstein-sums", **how)
    assert other_than_held(release, tmp_path) == []


def test_long_names_of_which_a_line_has_the_first(curator, administrator, tmp_path, client):
    names = [
        f"How satisfied are you with the {what} of the library near you"
        for what in ("hours", "books", "staff")
    ]
    values = {name: ["ab"[n % 2] for n in range(300)] for name in names}
    domain = [Categorical(name, values=("a", "b")) for name in names]
    dataset = building.granted(dataset_of(curator, "Survey", values, domain), administrator, "20")
    release = finished(dataset, "histogram", names, "9", "laplace-histogram", within_bins="smooth")
    short = f"{names[0]} and 2 more columns"
    assert short in Bundle.read(downloaded(release, tmp_path)).content("report.html").decode()
    assert other_than_held(release, tmp_path) == []
    services.publish(release, curator)
    page = client.get(release.get_absolute_url()).text
    assert f'<span title="{", ".join(names)}">{short}</span>' in page
