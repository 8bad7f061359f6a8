"""Every histogram method, from a draft through the job to the bundle."""

from __future__ import annotations

import io

import pandas as pd
import pytest

from dpportal.datasets import services as dataset_services
from dpportal.releases.products import PRODUCTS
from mechanisms.accounting import Definition
from tests.dpportal import building
from tests.dpportal.releases.products.building import ONE_CELL, SURE, files, finished

PURE_METHODS = [m for m in PRODUCTS["histogram"].planner.methods if Definition.PURE in m.definitions]


@pytest.mark.slow
class TestConstantColumn:
    @pytest.mark.parametrize("method", PURE_METHODS, ids=lambda m: m.name)
    def test_every_histogram_method_counts_everybody_in_the_only_cell(self, rich, method) -> None:
        """At ε = 50 even a twentieth of it gives noise beyond 20 people less than once in 10^20."""
        dataset_services.declare_all(rich, [ONE_CELL])
        release = finished(rich, "histogram", ["age"], SURE, method.name)
        people = pd.read_csv(io.BytesIO(files(release)["synthetic.csv"]))
        assert abs(len(people) - building.ROWS) <= 20


@pytest.mark.slow
class TestReadme:
    @pytest.mark.parametrize("method", PURE_METHODS, ids=lambda m: m.name)
    def test_an_interval_is_given_where_the_plan_has_one(self, rich, method) -> None:
        release = finished(rich, "histogram", ["age"], "1", method.name)
        text = files(release)["README.md"].decode()
        foreseen = release.plan_json["half_width"] is not None
        chosen = method.chooses_method
        assert ("is unbiased" in text, "no margin is given" in text) == (
            foreseen,
            not foreseen and not chosen,
        )
        assert ("with probability 95 % or more" in text) == chosen
        assert "None" not in text
