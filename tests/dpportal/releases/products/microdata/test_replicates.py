"""Tables for standard errors in a release: files, the README's code, stored rows, and the wizard."""

from __future__ import annotations

import io
import os
import re
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpportal.accounts.models import User
from dpportal.datasets.models import Dataset
from dpportal.releases import results
from dpportal.releases.models import Release
from dpportal.releases.products.microdata import cost_estimate, stored_rows
from mechanisms import registry
from mechanisms.domain import Boolean, Categorical, Integer
from mechanisms.microdata.replicates import TABLES
from mechanisms.microdata.tree_of_pairs import TreeOfPairs
from tests.dpportal import building
from tests.dpportal.releases.products.building import files, finished, page_of
from tests.dpportal.releases.products.microdata.building import dataset_of
from tests.dpportal.releases.products.test_explorer import page
from tests.mechanisms.microdata.test_replicates import TWO, planned

COLUMNS = ["age", "job", "ill"]
REGRESSION = {
    "python": (
        "rows.mean(numeric_only=True)",
        'pd.Series(np.polyfit(rows["age"], rows["ill"], 1), ["age", "constant"])',
    ),
    "r": (
        "colMeans(rows[sapply(rows, is.numeric)], na.rm = TRUE)",
        "rev(coef(lm(as.logical(ill) ~ age, rows)))",
    ),
}


@pytest.fixture
def small(curator: User, administrator: User) -> Dataset:
    """300 people; the older, the more are ill."""
    random = np.random.default_rng(1)
    ages = random.integers(0, 8, building.ROWS)
    table = {
        "age": ages.astype(str).tolist(),
        "job": [f"j{job}" for job in random.integers(0, 2, building.ROWS)],
        "ill": ["true" if ill else "false" for ill in random.random(building.ROWS) < ages / 8],
    }
    attributes = [Integer("age", lower=0, upper=7), Categorical("job", values=("j0", "j1")), Boolean("ill")]
    return building.granted(dataset_of(curator, "Small", table, attributes), administrator, "100")


def made(dataset: Dataset) -> Release:
    parameters = {"wishes": {}, "rows": None, "replicates": True}
    return finished(dataset, "microdata", COLUMNS, "20", "latent-classes", **parameters)


def code(readme: str, language: str, *, regression: bool) -> str:
    """The README's code after “Standard errors”; with a regression in the place of means."""
    [text] = re.findall(
        rf"```{language}\n(.*?)```", readme.split("## Standard errors")[1].split("\n## ")[0], re.DOTALL
    )
    means, own = REGRESSION[language]
    assert means in text
    return text.replace(means, own) if regression else text


@pytest.mark.slow
def test_the_readme_s_code_gives_the_same_intervals_in_python_and_in_r(
    small, rscript, tmp_path, monkeypatch, client
) -> None:
    release = made(small)
    given = files(release)
    (tmp_path / "replicates.csv").write_bytes(given["replicates.csv"])
    readme, found = given["README.md"].decode(), {}
    monkeypatch.chdir(tmp_path)
    for regression in (False, True):
        left: dict[str, Any] = {"np": np}
        exec(code(readme, "python", regression=regression), left)
        expected = [*left["estimate"], *left["half_width"]]
        if not regression:
            expected = [left["estimate"]["age"], left["half_width"]["age"]]
        printed = run_in_r(rscript, tmp_path, code(readme, "r", regression=regression))
        assert printed == pytest.approx(expected, rel=1e-6)
        found[regression] = left
    assert found[True]["estimate"]["age"] == pytest.approx(1 / 8, abs=2 * found[True]["half_width"]["age"])
    assert 0 < found[True]["half_width"]["age"] < 0.1
    tables = pd.read_parquet(io.BytesIO(given["replicates.parquet"]))
    assert tables.columns.tolist() == ["replicate", *COLUMNS]
    assert tables.groupby("replicate").size().nunique() == 1 and tables["replicate"].nunique() == TABLES + 1
    client.force_login(small.owner)
    text = page_of(client, release)
    assert "Standard errors" in text and "each &lt;- do.call" in text


def run_in_r(rscript: str, folder: Path, text: str) -> list[float]:
    shown = "cat(format(c(estimate, half_width), digits = 15))"
    (folder / "example.R").write_text(f"options(warn = 2)\n{text}\n{shown}\n", encoding="utf-8")
    settings = {**os.environ, "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        [rscript, "--vanilla", "example.R"],
        cwd=folder,
        env=settings,
        check=True,
        capture_output=True,
        text=True,
    )
    return [float(number) for number in done.stdout.split()]


@pytest.mark.slow
def test_stored_tables_come_out_again_where_a_machine_fits_otherwise(small, monkeypatch) -> None:
    release = made(small)
    first = results.reconstruct(release).result
    method = type(registry.microdata("latent-classes"))
    own = method.reconstruct

    def otherwise(self, plan, measurement):
        found = own(self, plan, measurement)
        return replace(found, rows=found.rows[::-1])

    monkeypatch.setattr(method, "reconstruct", otherwise)
    again = results.reconstruct(release).result
    assert (again.rows == first.rows).all() and len(again.replicates) == TABLES + 1
    assert all((a == b).all() for a, b in zip(again.replicates, first.replicates, strict=True))


@pytest.mark.slow
def test_a_reader_s_sum_counts_the_synthetic_rows_alone(small, client) -> None:
    """Of all three columns together nothing was measured."""
    release = made(small)
    client.force_login(small.owner)
    found = page(client, release, "pick-from-0=0&pick-to-0=3&pick-in-1=0&pick-in-2=1").context["explored"]
    age, job, ill = results.reconstruct(release).result.rows.T
    assert found.estimate == pytest.approx(((age <= 3) & (job == 0) & (ill == 1)).sum(), abs=0.5)


def test_where_rows_are_many_the_synthetic_ones_are_told_from_the_others(monkeypatch) -> None:
    monkeypatch.setattr(stored_rows, "most_rows", lambda columns: 4)
    plan = planned(TWO, TreeOfPairs())
    for rows in (3, 4, 5, 300):
        stored = np.zeros((2, rows + (TABLES + 1) * min(rows, 4)))
        assert stored_rows.synthetic(plan, stored).shape == (2, rows)
        own, further = stored_rows.unpack(plan, stored)
        assert len(own) == rows and {len(table) for table in further} == {min(rows, 4)}


def test_the_wizard_asks_and_says_what_it_takes(small, client) -> None:
    draft = Release.objects.create(dataset=small, created_by=small.owner, product="microdata")
    client.force_login(small.owner)
    at = f"/releases/{draft.pk}"
    answer = {"columns": COLUMNS, "people": 300, "rows": "", "replicates": "on"}
    assert client.post(f"{at}/columns/", answer).status_code == 302
    assert (
        "checked" in client.get(f"{at}/columns/").content.decode().split('name="replicates"')[1].split(">")[0]
    )
    text = client.get(f"{at}/method/").content.decode()
    assert "Latent classes" in text and "form a circle" in text
    chosen = client.post(f"{at}/method/", {"mechanism": "latent-classes", "amount": "1"})
    assert chosen.status_code == 302
    assert "Tables for standard errors" in client.get(f"{at}/review/").content.decode()


def test_what_they_take_is_in_the_cost_of_the_job() -> None:
    """21 tables more of 1,000 rows, 2 columns of a few bytes in two formats: some 200 kB, and fits of a moment."""
    plan = planned(TWO, TreeOfPairs())
    own, without = (cost_estimate.job_cost(p, 1000) for p in (plan, replace(plan, replicates=False)))
    assert 21 <= (own.disk - without.disk) / (2 * 2 * 1000) <= 21 * 8
    assert own.memory > without.memory and 0 < own.seconds - without.seconds < 2
