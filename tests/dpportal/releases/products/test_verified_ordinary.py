"""Fresh bundles of a table as many are: codes with words, days, decimals, and names with numbers in them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest

from dpportal.datasets.models import Dataset
from dpportal.releases.models import Release
from mechanisms.domain import Categorical, Date, Real
from mechanisms.verify.bundle import Bundle
from mechanisms.verify.checks import verify
from mechanisms.verify.finding import State
from tests.dpportal import building
from tests.dpportal.releases.products.building import finished
from tests.dpportal.releases.products.microdata.building import dataset_of
from tests.dpportal.releases.products.queries import building as queries
from tests.dpportal.releases.products.test_verified import downloaded

pytestmark = pytest.mark.slow
SCHOOL = Categorical("Q 12", values=("1", "2", "3"), words=("none", "ICD 10", "65+"), missing_cell=True)
VISIT = Date(
    "visit", lower=dt.date(1990, 11, 15), upper=dt.date(1997, 6, 11), step="quarter", missing_cell=True
)
HOURS = Real("hours per week", lower=-1.5, upper=8.5, bins=7)
NAMES = [SCHOOL.name, VISIT.name, HOURS.name]


@pytest.fixture
def ordinary(curator, administrator) -> Dataset:
    rows = range(building.ROWS)
    table = {
        SCHOOL.name: [str(row % 3 + 1) if row % 11 else "" for row in rows],
        VISIT.name: [(VISIT.lower + dt.timedelta(days=row * 7)).isoformat() for row in rows],
        HOURS.name: [f"{row % 40 / 4 - 1.5:.2f}" for row in rows],
    }
    return building.granted(
        dataset_of(curator, "Survey 2021", table, [SCHOOL, VISIT, HOURS]), administrator, "100"
    )


RELEASES: dict[str, Callable[[Any], Release]] = {
    "rows with further tables": lambda own: finished(
        own, "microdata", NAMES, "2", "latent-classes", wishes={}, rows=None, replicates=True, sums=True
    ),
    "rows along components": lambda own: finished(
        own, "microdata", NAMES, "2", "principal-components", wishes={}, rows=None
    ),
    "means of days and decimals": lambda own: finished(
        own,
        "means",
        NAMES,
        "2",
        "bernstein-sums",
        measured=NAMES[1:],
        deviation=True,
        steps={"hours per week": "0.05"},
    ),
    "a summary": lambda own: finished(
        own, "summary", NAMES, "20", "column-tables", group="Q 12", twice=["visit"]
    ),
    "counts of three columns": lambda own: finished(own, "histogram", NAMES, "2", "laplace-histogram"),
    "more answers than a chart shows": lambda own: queries.finished(
        queries.draft_of(
            own, 'ranges("visit") x ranges("hours per week")', NAMES[1:], "2", "identity-strategy"
        )
    ),
}


@pytest.mark.parametrize("make", RELEASES.values(), ids=RELEASES)
def test_a_fresh_bundle_of_an_ordinary_table_holds_with_nothing_left_unchecked(ordinary, tmp_path, make):
    path = downloaded(make(ordinary), tmp_path)
    found = list(verify(Bundle.read(path)))
    assert [str(each) for each in found if each.state not in (State.HOLDS, State.STATED)] == []
