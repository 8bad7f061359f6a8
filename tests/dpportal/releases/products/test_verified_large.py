"""Fresh bundles of sums with more than ten digits, and of columns whose names have numbers, hold wholly."""

from __future__ import annotations

import numpy as np
import pytest

from dpportal.datasets.models import Dataset
from mechanisms.domain import Categorical, Integer
from mechanisms.verify.bundle import Bundle
from mechanisms.verify.checks import verify
from mechanisms.verify.finding import State
from tests.dpportal import building
from tests.dpportal.releases.products.building import finished
from tests.dpportal.releases.products.microdata.building import dataset_of
from tests.dpportal.releases.products.test_verified import downloaded

pytestmark = pytest.mark.slow

REVENUE = Integer("revenue", lower=0, upper=2 * 10**9, width=10**8, title="Revenue in 2019 (€)")
SIZE = Categorical("size", values=("small", "large"))


def means(dataset, amount):
    groups = ["revenue", "size"]
    return finished(dataset, "means", groups, amount, "bernstein-sums", measured=["revenue"], deviation=True)


def summarised(dataset, amount):
    return finished(dataset, "summary", ["revenue", "size"], amount, "column-tables", group="size", twice=[])


def chosen(dataset, amount):
    asked = {"question": "quantile", "picks": 1, "level": "1/2"}
    return finished(dataset, "selection", ["revenue"], amount, "permute-and-flip", **asked)


@pytest.fixture
def firms(curator, administrator) -> Dataset:
    random = np.random.default_rng(5)
    table = {
        "revenue": [str(value) for value in random.integers(0, REVENUE.upper, 300)],
        "size": random.choice(["small", "large"], 300).tolist(),
    }
    return building.granted(dataset_of(curator, "Firms", table, [REVENUE, SIZE]), administrator, "1000")


@pytest.mark.parametrize("amount", ["0.3", "2"])
@pytest.mark.parametrize("make", [means, summarised, chosen])
def test_nothing_of_it_is_unchecked(firms, tmp_path, make, amount):
    found = verify(Bundle.read(downloaded(make(firms, amount), tmp_path)))
    assert [str(each) for each in found if each.state in (State.FAILED, State.NOT_CHECKED)] == []
