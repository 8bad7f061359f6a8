"""Honest bundles hold whatever their columns are called."""

from __future__ import annotations

import pytest

from dpportal.datasets.models import Dataset
from dpportal.releases import services
from mechanisms.domain import Categorical, Integer
from mechanisms.verify.bundle import Bundle
from mechanisms.verify.checks import verify
from mechanisms.verify.finding import State
from tests.dpportal import building
from tests.dpportal.releases.products.building import finished
from tests.dpportal.releases.products.microdata.building import dataset_of
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
