"""Means of columns on page and in the download; sums of columns, from the wizard's box to rows that verify."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest

from dpportal.releases import results
from dpportal.releases.models import Release
from mechanisms.domain import Boolean, Integer
from tests.dpportal import building
from tests.dpportal.releases.products.building import files, finished, page_of
from tests.dpportal.releases.products.microdata.building import dataset_of
from tests.dpportal.releases.products.test_verified import downloaded, failed

pytestmark = pytest.mark.slow
COLUMNS = ["gain", "ill"]


@pytest.fixture
def gains(curator, administrator):
    """Nine of ten people gain nothing, which a bin of 0 to 4,999 hides."""
    random = np.random.default_rng(2)
    gain = np.where(random.random(building.ROWS) < 0.9, 0, random.integers(1, 20_000, building.ROWS))
    table = {"gain": gain.astype(str).tolist(), "ill": ["true" if each > 9_000 else "false" for each in gain]}
    attributes = [Integer("gain", lower=0, upper=99_999, width=5_000), Boolean("ill")]
    dataset = dataset_of(curator, "Gains", table, attributes)
    return building.granted(dataset, administrator, "1000"), gain.mean()


def test_means_are_shown_with_what_noise_and_bins_can_do_to_them(gains, client):
    dataset, _true = gains
    release = finished(dataset, "microdata", COLUMNS, "50", "independent-columns", wishes={})
    [line] = results.stored_page(release)["means"]
    rows = pd.read_parquet(io.BytesIO(files(release)["synthetic.parquet"]))
    assert float(line["rows"].replace(",", "")) == pytest.approx(rows["gain"].mean(), abs=400)
    assert line["bins"] == "4,999" and line["summed"] == ""
    said = f"  - gain: {line['rows']} ({line['counted']}); by the bins alone, off by up to 4,999"
    assert said in files(release)["README.md"].decode()
    client.force_login(dataset.owner)
    page = page_of(client, release)
    assert "Means of single columns" in page and line["counted"] in page and "±" in line["counted"]


def test_rows_agree_with_the_sum_of_a_column(gains, client, tmp_path):
    """At ε = 1,000 noise moves the mean by some 10; counts alone give one of 2,950. Drawing 300 values adds 60."""
    dataset, true = gains
    release = finished(dataset, "microdata", COLUMNS, "1000", "independent-columns", wishes={}, sums=True)
    rows = pd.read_parquet(io.BytesIO(files(release)["synthetic.parquet"]))
    assert rows["gain"].mean() == pytest.approx(true, abs=300)
    [line] = results.stored_page(release)["means"]
    assert float(line["rows"].replace(",", "")) == pytest.approx(true, rel=0.15)
    assert failed(downloaded(release, tmp_path)) == []
    client.force_login(dataset.owner)
    page = page_of(client, release)
    assert "By its exact sum, 95 %" in page and "sums of columns 1/20" in page


def test_the_wizard_offers_sums_and_the_review_names_them(gains, client):
    dataset, _true = gains
    draft = Release.objects.create(
        dataset=dataset, created_by=dataset.owner, title="Test", product="microdata", amount="1"
    )
    client.force_login(dataset.owner)
    assert "Add up columns of numbers" in client.get(f"/releases/{draft.pk}/columns/").content.decode()
    answer = {"columns": COLUMNS, "people": 300, "target": "", "rows": "", "sums": "on"}
    assert client.post(f"/releases/{draft.pk}/columns/", answer).status_code == 302
    client.post(f"/releases/{draft.pk}/method/", {"mechanism": "tree-of-pairs", "amount": "1"})
    review = client.get(f"/releases/{draft.pk}/review/").content.decode()
    assert "added up, for a twentieth of the cost" in review
