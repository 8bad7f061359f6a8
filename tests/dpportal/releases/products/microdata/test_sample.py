"""What readers see first of a synthetic table: ten of its rows, columns and pairs to look at, and few lists."""

from __future__ import annotations

import io

import pandas as pd
import pytest

from dpportal.catalogue import thumbnails
from dpportal.releases import results, services
from dpportal.releases.products.microdata.sample import MOST_BARS, ROWS
from tests.dpportal import building
from tests.dpportal.releases.products.building import files, page_of
from tests.dpportal.releases.products.microdata.test_product import COLUMNS, five_columns, made

pytestmark = pytest.mark.slow


@pytest.fixture
def release(curator, administrator, client):
    made_release = made(building.granted(five_columns(curator), administrator, "100"))
    services.publish(made_release, curator)
    return made_release


def test_the_rows_are_the_first_of_the_file(release) -> None:
    shown = results.stored_page(release)
    file = pd.read_csv(io.BytesIO(files(release)["synthetic.csv"]), dtype=str, keep_default_na=False)
    assert shown["sample"] == file.head(ROWS).to_numpy().tolist()
    assert [column["name"] for column in shown["columns"]] == COLUMNS == list(file.columns)
    assert all(len(column["counts"]) <= MOST_BARS for column in shown["columns"])


def test_columns_and_pairs_are_one_table_each_and_looked_at_one_at_a_time(release, client) -> None:
    page = page_of(client, release)
    assert page.index('class="finding"') < page.index('class="sample"') < page.index('id="downloads"')
    assert "Good for" in page and "Not for" in page and page.count("<details") < 12
    assert page.count('class="head-bars"') == len(COLUMNS) and "People by age" in page
    address = release.get_absolute_url()
    job = client.get(address, {"column": "1"}).text
    assert "People by job" in job and "People by age" not in job
    pair = results.stored_page(release)["tables"][0]
    assert f'aria-label="{" × ".join(pair["columns"])}"' not in page
    chosen = client.get(address, {"pair": "0"}).text
    assert f'aria-label="{" × ".join(pair["columns"])}"' in chosen and f"± {pair['margin']:,}" in chosen
    assert client.get(address, {"column": "99", "pair": "²"}).status_code == 200


def test_the_total_is_told_with_its_margin_and_the_landing_card_is_a_table(release, client) -> None:
    """Noise of a column at ε = 50 is a few people."""
    finding = results.stored_page(release)["finding"]
    assert finding["people"] == pytest.approx(300, abs=finding["margin"] + 5) and finding["margin"] < 20
    marks = thumbnails._picture({"release": str(release.pk)})["marks"]
    assert len(marks) == 5 and all(mark["path"] for mark in marks)
