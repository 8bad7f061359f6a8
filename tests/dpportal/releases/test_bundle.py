"""What a download holds: the same bytes each time, and tables that agree with what explains them."""

from __future__ import annotations

import io
import json
import math
import re
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest
from django.core.files.storage import default_storage

from dpportal.datasets import services as dataset_services
from dpportal.releases.execution import RELEASES
from dpportal.releases.models import Release
from mechanisms.domain import Boolean, Categorical
from tests.dpportal import building


def finish(release: Release) -> Release:
    RELEASES.run(release.pk)
    return Release.objects.get(pk=release.pk)


@pytest.fixture
def finished(requested) -> Release:
    return finish(requested)


def content(release: Release, name: str) -> bytes:
    with default_storage.open(release.artifacts.get(name=name).stored) as file:
        return file.read()


def table(release: Release, name: str) -> pd.DataFrame:
    return pd.read_csv(io.BytesIO(content(release, name)))


def valid(release: Release, folder) -> bool:
    for artifact in release.artifacts.all():
        (folder / artifact.name).write_bytes(content(release, artifact.name))
    import frictionless

    return frictionless.validate(str(folder / "datapackage.json")).valid


@pytest.mark.slow
def test_writing_the_bundle_again_gives_the_same_bytes(finished):
    before = {artifact.name: artifact.sha256 for artifact in finished.artifacts.all()}
    again = building.written_again(finished)
    assert {artifact.name: artifact.sha256 for artifact in again} == before


@pytest.mark.slow
def test_counts_come_first_among_the_downloads(finished):
    names = [artifact.name for artifact in finished.artifacts.all()]
    assert names[0].endswith(".zip") and names[1:3] == ["histogram.csv", "histogram.xlsx"]
    assert "synthetic.csv" in names[3:]


@pytest.mark.slow
def test_the_histogram_has_a_line_for_each_cell_in_order(finished):
    histogram = table(finished, "histogram.csv")
    assert histogram["colour"].unique().tolist() == ["red", "green", "blue", "Other"]
    assert histogram["age"].tolist()[:2] == ["0–9", "10–19"]
    assert len(histogram) == 4 * 10


@pytest.mark.slow
def test_the_synthetic_table_has_the_rows_that_were_counted(finished):
    assert len(table(finished, "synthetic.csv")) == table(finished, "histogram.csv")["count"].sum()


@pytest.mark.slow
def test_release_json_names_what_was_filled_from_the_data(dataset, curator):
    colours = Categorical("colour", values=("red", "green", "blue"))
    dataset_services.declare(dataset, "colour", colours, filled=True)
    release = finish(building.requested_release(dataset))
    told = json.loads(content(release, "release.json"))
    assert told["domain"]["filled_from_data"] == ["colour"]
    assert told["plan"]["loss"]["amount"] == "1/10"


@pytest.mark.slow
def test_the_package_of_plain_columns_is_valid(finished, tmp_path):
    assert valid(finished, tmp_path)


@pytest.mark.slow
def test_the_package_of_columns_with_missing_values_is_valid(dataset, tmp_path):
    """Neither colour nor age can be read as declared, so about 300 rows have nothing but missing values."""
    dataset_services.declare_all(dataset, [Boolean("colour", True), Boolean("age", True)])
    release = finish(building.requested_release(dataset, "0.1"))
    assert valid(release, tmp_path)
    assert table(release, "synthetic.csv").isna().all(axis=1).sum() > 100


@pytest.mark.slow
def test_a_boolean_is_a_boolean_in_parquet(dataset):
    dataset_services.declare(dataset, "colour", Boolean("colour", True))
    release = finish(building.requested_release(dataset, "0.05"))
    schema = pq.read_schema(io.BytesIO(content(release, "synthetic.parquet")))
    assert str(schema.field("colour").type) == "bool"


@pytest.mark.slow
def test_the_readmes_python_runs_and_its_interval_is_that_of_a_sum(finished, tmp_path, monkeypatch):
    """Ten cells with Laplace noise of ε = 0.1 each; 95 % is promised as the explorer promises it (`half_widths`)."""
    (tmp_path / "histogram.csv").write_bytes(content(finished, "histogram.csv"))
    monkeypatch.chdir(tmp_path)
    [code] = re.findall(r"```python\n(.*?)```", content(finished, "README.md").decode(), re.DOTALL)
    found: dict[str, Any] = {}
    exec(code, found)
    counts = table(finished, "histogram.csv")["noisy_count"]
    assert found["total"] == counts.head(10).sum()
    assert (
        list(found["one_cell"][1:])
        == table(finished, "histogram.csv").loc[0, ["interval_lower", "interval_upper"]].tolist()
    )
    decay = math.exp(-0.1)
    assert found["half_width"] == pytest.approx(
        2.12 * (10 * 2 * decay / (1 - decay) ** 2) ** 0.5 + 0.57, rel=1e-4
    )


@pytest.mark.slow
def test_the_readme_says_what_is_promised(finished):
    assert "differentially private with ε = 0.10" in content(finished, "README.md").decode()


@pytest.mark.slow
def test_downloads_have_codes_and_their_labels(dataset, tmp_path):
    colours = Categorical("colour", True, ("red", "green", "blue"), words=("Rot", "Grün", "Blau"))
    dataset_services.declare(dataset, "colour", colours)
    # A hundred rows of each colour, far above the noise: each is among the synthetic rows.
    release = finish(building.requested_release(dataset, "0.9"))
    assert valid(release, tmp_path)
    histogram, rows = table(release, "histogram.csv"), table(release, "synthetic.csv")
    assert histogram["colour"].fillna("").unique().tolist() == ["red", "green", "blue", "Other", ""]
    assert histogram["colour_label"].fillna("").unique().tolist() == ["Rot", "Grün", "Blau", "Other", ""]
    assert list(rows.columns) == ["colour", "colour_label", "age"]
    named = dict(zip(rows["colour"].dropna(), rows["colour_label"].dropna(), strict=True))
    assert {"red": "Rot", "green": "Grün", "blue": "Blau"}.items() <= named.items()


@pytest.mark.slow
def test_values_with_one_label_are_counted_together(dataset):
    warm = Categorical("colour", values=("red", "green", "blue"), words=("warm", "cold", "cold"))
    dataset_services.declare(dataset, "colour", warm)
    release = finish(building.requested_release(dataset, "0.9"))
    histogram = table(release, "histogram.csv")
    assert histogram["colour"].unique().tolist() == ["warm", "cold", "Other"]
    assert "colour_label" not in histogram
    # Noise of scale 1/0.9 in ten cells: 200 and 100 rows are far apart.
    counted = histogram.groupby("colour")["noisy_count"].sum()
    assert 150 < counted["cold"] < 250
    assert 50 < counted["warm"] < 150
