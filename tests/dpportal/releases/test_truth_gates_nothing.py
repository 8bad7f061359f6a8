"""Whether there is a release is decided before its rows are read: nothing true refuses or delays it."""

from __future__ import annotations

import pytest

from dpportal.datasets import records, services as dataset_services
from dpportal.datasets.models import Dataset
from dpportal.releases import execution
from dpportal.releases.products.histogram.presenter import HistogramPresenter
from mechanisms.domain import Categorical
from tests.dpportal import building
from tests.dpportal.releases.products.building import finished

NOBODY = Categorical("colour", True, ("pink", "grey"), closed=True)


@pytest.fixture
def rich(curator, administrator) -> Dataset:
    return building.granted(building.stored_dataset(curator), administrator, "100")


@pytest.mark.slow
def test_a_comparison_that_cannot_be_made_of_the_truth_keeps_no_release_back(
    rich, client, monkeypatch, caplog
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("of 100 red ones")

    monkeypatch.setattr(HistogramPresenter, "compare", fail)
    release = building.requested_release(rich)
    execution.RELEASES.run(release.pk)
    release.refresh_from_db()
    assert (release.is_ready, release.job.state) == (True, "done")
    assert records.comparison(rich.pk, release.pk) is None
    assert "ZeroDivisionError" in caplog.text and "red" not in caplog.text
    client.force_login(rich.owner)
    assert "comparison could not be made" in client.get(f"/releases/{release.pk}/compare/", follow=True).text


@pytest.mark.slow
@pytest.mark.parametrize(
    "product, mechanism, columns, parameters",
    [
        ("histogram", "laplace-histogram", ["colour", "age"], {}),
        ("selection", "permute-and-flip", ["colour"], {"question": "most-common-value", "picks": 1}),
        ("selection", "exponential-mechanism", ["age"], {"question": "quantile", "picks": 1}),
        ("means", "bernstein-sums", ["colour", "age"], {"measured": ["age"], "deviation": True, "steps": {}}),
        ("summary", "column-tables", ["colour", "age"], {"group": "colour", "twice": []}),
        ("microdata", "independent-columns", ["colour", "age"], {}),
    ],
)
def test_a_table_of_which_no_row_counts_is_released_and_compared(
    rich, product: str, mechanism: str, columns: list[str], parameters: dict
) -> None:
    dataset_services.declare(rich, "colour", NOBODY)
    release = finished(rich, product, columns, "1", mechanism, **parameters)
    assert records.comparison(rich.pk, release.pk) is not None
