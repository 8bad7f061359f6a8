"""The quality report: the curator's part for the curator alone, the public part without the truth."""

from __future__ import annotations

import hashlib
import io
import re

import pandas as pd
import pytest
from django.core.files.storage import default_storage

from dpportal.accounts.models import User
from dpportal.datasets.models import Dataset
from dpportal.platform import storage
from dpportal.platform.records_guard import reading
from dpportal.releases import services
from dpportal.releases.models import Release
from tests.dpportal import building
from tests.dpportal.releases.products.building import files, finished, page_of
from tests.dpportal.releases.products.microdata.test_product import COLUMNS, five_columns

CURATORS_WORDS = ("Resample", "Nearest real rows", "Learning from synthetic rows", "Cramér", "Confidential")


@pytest.fixture
def release(curator: User, administrator: User) -> Release:
    wide: Dataset = building.granted(five_columns(curator), administrator, "100")
    wishes = {"target": "ill", "weights": {}, "required": [], "zeros": []}
    return finished(wide, "microdata", COLUMNS, "50", "tree-of-pairs", wishes=wishes, rows=None)


@pytest.mark.slow
def test_the_curator_has_the_report_and_its_look_is_recorded(release, client) -> None:
    client.force_login(release.dataset.owner)
    answer = client.get(f"/releases/{release.pk}/quality.html")
    text = answer.content.decode()
    assert "attachment" in answer["Content-Disposition"]
    for words in CURATORS_WORDS:
        assert words in text
    assert text.count('<svg class="still"') == 5
    # Nothing that a browser would fetch.
    assert not re.search(r"(src|href)=|url\((?!.?data:|#)|@import|<script", text)


@pytest.mark.slow
def test_nobody_else_has_it(release, client, administrator) -> None:
    services.publish(release, release.dataset.owner)
    client.force_login(administrator)
    assert client.get(f"/releases/{release.pk}/quality.html").status_code in (403, 404)
    client.logout()
    assert client.get(f"/releases/{release.pk}/quality.html").status_code in (302, 403, 404)


@pytest.mark.slow
def test_everyone_has_what_needs_no_truth(release, client) -> None:
    services.publish(release, release.dataset.owner)
    text, given = page_of(client, release), files(release)
    assert "Expected errors by method" in text and "used here" in text and "Pairs of columns" in text
    assert not any("quality" in name for name in given)
    for words in CURATORS_WORDS:
        assert words not in text
        assert not [name for name, content in given.items() if words.encode() in content]


@pytest.mark.slow
def test_everyone_s_report_is_a_file_by_itself(release) -> None:
    """It says what the public page does, which knows nothing of the truth."""
    given = files(release)
    text = given["report.html"].decode()
    for words in ("Pairs of columns", "Expected errors by method", "Ten of the rows", "Single columns"):
        assert words in text
    assert text.count('<svg class="still"') == 1
    assert not re.search(r"(src|href)=|url\((?!.?data:|#)|@import|<script", text)
    assert hashlib.sha256(given["report.html"]).hexdigest() in given["release.json"].decode()
    counts = pd.read_csv(io.BytesIO(given["columns.csv"]), keep_default_na=False)
    shown = re.findall(r">job<.{1,40}>j2<.*?</tr>", text, re.S)[0]
    assert str(counts.query("column == 'job' and value == 'j2'")["noisy_count"].item()) in shown


@pytest.mark.slow
def test_every_file_on_the_public_page_is_downloaded_by_itself(release, client) -> None:
    services.publish(release, release.dataset.owner)
    names = list(release.artifacts.values_list("name", flat=True))
    assert "report.html" in names
    for name in names:
        answer = client.get(f"/releases/{release.pk}/download/{name}")
        assert answer.status_code == 200
        assert answer["Content-Disposition"].startswith("attachment")
        assert b"".join(answer.streaming_content)


@pytest.mark.slow
def test_it_is_the_same_whatever_the_truth(release) -> None:
    """Made again after the true counts are gone, byte for byte."""
    before = release.artifacts.get(name="report.html").sha256
    with reading(), storage.local_path(release.true_counts) as path:
        assert path.exists()
    default_storage.delete(release.true_counts)
    again = building.written_again(release)
    assert [a.sha256 for a in again if a.name == "report.html"] == [before]


@pytest.mark.slow
def test_the_measured_tables_add_up_to_the_columns_within_their_intervals(release) -> None:
    """Four trees' tables at ε = 50 are nearly exact: each has about 300 people."""
    given = files(release)
    measured = pd.read_csv(io.BytesIO(given["measured.csv"]), keep_default_na=False)
    groups = pd.read_csv(io.BytesIO(given["groups.csv"]), keep_default_na=False)
    assert measured["measurement"].nunique() == 4
    totals = measured.groupby("measurement")["noisy_count"].sum()
    assert totals.between(270, 330).all()
    assert (measured["interval_lower"] <= measured["noisy_count"]).all()
    for column, found in measured.groupby("first"):
        assert set(found["first_group"]) <= set(groups.loc[groups["column"] == column, "group"])
