"""The synthetic table of many columns, from the wizard through the job to bundle and pages."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dpportal.accounts.models import User
from dpportal.datasets import records, services as dataset_services
from dpportal.datasets.models import Dataset
from dpportal.platform import storage
from dpportal.releases import execution, results, services
from dpportal.releases.models import Release
from dpportal.releases.products import confirmed_plan, presenter_of
from mechanisms import registry
from mechanisms.accounting import Definition
from mechanisms.domain import Attribute, Boolean, Categorical, Date, Integer, Real
from mechanisms.microdata.adversarial.method import Adversarial
from mechanisms.registry import MICRODATA
from tests.dpportal import building
from tests.dpportal.markup import outline
from tests.dpportal.publications.forging import forged
from tests.dpportal.releases.products.building import files, finished, page_of
from tests.dpportal.releases.products.microdata.building import dataset_of
from tests.dpportal.releases.products.test_verified import downloaded, failed

COLUMNS = ["age", "job", "ill", "since", "weight"]


def five_columns(owner: User) -> Dataset:
    """300 people; whoever is 50 or older is ill, and nobody else; a job for each decade."""
    random = np.random.default_rng(1)
    ages = random.integers(0, 100, building.ROWS)
    table = {
        "age": ages.astype(str).tolist(),
        "job": [f"j{age // 25}" for age in ages],
        "ill": ["true" if age >= 50 else "false" for age in ages],
        "since": [f"2024-{1 + int(m):02d}-15" for m in random.integers(0, 12, building.ROWS)],
        "weight": [f"{w:.2f}" for w in random.uniform(40, 99, building.ROWS)],
    }
    attributes: list[Attribute] = [
        Integer("age", lower=0, upper=99, width=5),
        Categorical("job", values=("j0", "j1", "j2", "j3")),
        Boolean("ill", missing_cell=True),
        Date("since"),
        Real("weight", lower=40.0, upper=100.0, bins=6),
    ]
    return dataset_of(owner, "Five columns", table, attributes)


@pytest.fixture
def wide(curator: User, administrator: User) -> Dataset:
    return building.granted(five_columns(curator), administrator, "100")


ANSWER = {"columns": COLUMNS, "people": 300, "target": "ill", "rows": "", "weights": "age, 2\nage, since, 5"}
WISHES = {"target": "ill", "weights": {"age": 2}, "required": [["age", "job"]], "zeros": []}


def made(dataset: Dataset, method: str = "latent-classes", amount: str = "50", **parameters) -> Release:
    wishes = WISHES if method == "latent-classes" else {}
    return finished(
        dataset, "microdata", COLUMNS, amount, method, **{"wishes": wishes, "rows": None, **parameters}
    )


@pytest.mark.slow
@pytest.mark.parametrize("method", [m.name for m in MICRODATA if Definition.PURE in m.definitions])
def test_a_release_gives_rows_of_the_declared_kinds(wide, method) -> None:
    release = made(wide, method)
    given = files(release)
    rows = pd.read_parquet(io.BytesIO(given["synthetic.parquet"]))
    assert rows.columns.tolist() == COLUMNS
    assert len(rows) == pytest.approx(300, abs=20)
    assert rows["age"].between(0, 99).all() and rows["weight"].between(40, 100).all()
    assert len(pd.read_csv(io.BytesIO(given["synthetic.csv"]))) == len(rows)
    assert {"columns.csv", "pairs.csv", "release.json", "README.md"} <= set(given)
    assert wide.budgets.get().spent == 50


@pytest.mark.skipif(bool(Adversarial().missing), reason=Adversarial().missing or "all is there")
def test_a_network_makes_rows_for_a_budget_in_rho(curator, administrator, client, monkeypatch) -> None:
    monkeypatch.setattr("mechanisms.microdata.adversarial.method.STEPS", 12)
    dataset = building.granted(five_columns(curator), administrator, "10", "zcdp")
    release = made(dataset, "dp-gan", "10")
    given = files(release)
    assert pd.read_parquet(io.BytesIO(given["synthetic.parquet"])).columns.tolist() == COLUMNS
    client.force_login(curator)
    text = page_of(client, release)
    assert "by a network" in text and "training 7/10" in text
    assert dataset.budgets.get().spent == 10


def test_without_its_packages_the_method_page_says_how_to_add_the_network(
    curator, administrator, client, monkeypatch
) -> None:
    monkeypatch.setattr("mechanisms.microdata.adversarial.method.NEEDS", ("a_package_that_nobody_has",))
    dataset = building.granted(five_columns(curator), administrator, "10", "zcdp")
    draft = Release.objects.create(
        dataset=dataset,
        created_by=curator,
        product="microdata",
        columns=COLUMNS,
        parameters={"wishes": {}, "rows": None, "keep": None},
        people=300,
        amount="1",
    )
    client.force_login(curator)
    text = client.get(f"/releases/{draft.pk}/method/").content.decode()
    assert "neural network" in text and "requirements-gan.txt adds them" in text


@pytest.mark.slow
def test_dependence_that_was_measured_is_in_the_rows(wide) -> None:
    release = made(wide)
    rows = pd.read_parquet(io.BytesIO(files(release)["synthetic.parquet"]))
    agree = (rows["ill"].fillna(False) == (rows["age"] >= 50)).mean()
    assert agree > 0.9
    facts = json.loads(files(release)["release.json"])
    assert ["age", "job"] in facts["measured_pairs"] and facts["synthetic_rows"] == len(rows)


@pytest.mark.slow
def test_the_counts_that_meet_noise_are_those_of_the_rows(wide) -> None:
    """At ε = 10^5 in all, a column's noisy counts are the true ones."""
    building.granted(wide, User.objects.get(username="administrator"), "300", knowing=True)
    release = made(wide, "independent-columns", "300")
    columns = pd.read_csv(io.BytesIO(files(release)["columns.csv"])).query("column == 'ill'")
    true = records.stored_counts(release.true_counts)
    plan = confirmed_plan(release)
    start = plan.domain.shape[0] + plan.domain.shape[1]
    assert np.abs(columns["noisy_count"].to_numpy() - true[start : start + 3]).max() <= 3


SYNTHETIC = {"synthetic.csv", "synthetic.parquet"}


@pytest.mark.slow
def test_the_same_measurement_gives_the_same_bytes(wide) -> None:
    release = made(wide)
    before = {a.name: a.sha256 for a in release.artifacts.all() if a.name in SYNTHETIC}
    one, other = results.reconstruct(release), results.reconstruct(release)
    assert one.result.rows.tobytes() == other.result.rows.tobytes()
    with storage.scratch_folder() as folder:
        again = {t.path.name: storage.sha256(t.path) for t in presenter_of(release).tables(one, folder)}
    assert before == {name: again[name] for name in before} and len(before) == 2


@pytest.mark.slow
def test_rows_made_anew_are_those_of_before_on_a_machine_that_fits_otherwise(wide, monkeypatch) -> None:
    """Another kind of processor rounds the fit's products otherwise: here the rows come out in another order."""
    release = made(wide)
    before = results.reconstruct(release).result.rows
    method = registry.microdata(release.plan_json["mechanism"])
    own = type(method).reconstruct

    def otherwise(self, plan, measurement):
        found = own(self, plan, measurement)
        return replace(found, rows=found.rows[::-1])

    monkeypatch.setattr(type(method), "reconstruct", otherwise)
    again = results.reconstruct(release)
    assert (again.result.rows == before).all()
    with storage.scratch_folder() as folder:
        files_again = {
            t.path.name: storage.sha256(t.path) for t in presenter_of(release).tables(again, folder)
        }
    assert {a.name: a.sha256 for a in release.artifacts.filter(name__in=SYNTHETIC)} == {
        name: files_again[name] for name in SYNTHETIC
    }
    release.state = Release.State.MEASURED
    assert (results.reconstruct(release).result.rows == before[::-1]).all(), (
        "kept rows of what is not made yet"
    )


@pytest.mark.slow
def test_what_cannot_occur_is_in_no_row(wide, tmp_path) -> None:
    zeros = [["ill", "true", "job", "j2"]]
    release = made(wide, wishes={**WISHES, "zeros": zeros}, rows=150)
    rows = pd.read_parquet(io.BytesIO(files(release)["synthetic.parquet"]))
    assert len(rows) == 150
    assert not (rows["ill"].fillna(False) & (rows["job"] == "j2")).any()
    path = downloaded(release, tmp_path)
    assert not failed(path)
    lines = files(release)["synthetic.csv"].decode().splitlines()
    job, ill = (lines[0].split(",").index(name) for name in ("job", "ill"))
    cells = lines[1].split(",")
    cells[job], cells[ill] = "j2", "true"
    text = "\n".join([lines[0], ",".join(cells), *lines[2:], ""])
    assert any(
        "cannot occur together" in each for each in failed(forged(path, {"synthetic.csv": text.encode()}))
    )


@pytest.mark.slow
@pytest.mark.parametrize("method", ["latent-classes", "tree-of-pairs", "clusters", "private-partition"])
def test_only_the_columns_that_tell_of_the_target_are_kept(wide, client, method) -> None:
    """Age and job decide who is ill; date and weight are chance."""
    release = made(wide, method, wishes={"target": "ill"}, keep=3)
    rows = pd.read_parquet(io.BytesIO(files(release)["synthetic.parquet"]))
    assert rows.columns.tolist() == ["age", "job", "ill"]
    columns = pd.read_csv(io.BytesIO(files(release)["columns.csv"]))
    assert set(columns["column"]) == set(COLUMNS)
    assert len(pd.read_csv(io.BytesIO(files(release)["pairs.csv"]))) == 3
    client.force_login(wide.owner)
    assert "chosen privately: age, job, ill" in page_of(client, release)
    text = client.get(f"/releases/{release.pk}/compare/").content.decode()
    assert "since" not in text.split("Share in a wrong cell, on average")[1]


@pytest.mark.slow
def test_the_public_page_and_the_bundle_hold_nothing_of_the_truth(wide, client) -> None:
    release = made(wide)
    services.publish(release, wide.owner)
    text = page_of(client, release)
    assert "Pairs of columns" in text and "only modelled" in text
    assert "Resample" not in text and "True" not in text.split("<main")[1]
    assert not {name for name in files(release) if "compar" in name or "true" in name}


@pytest.mark.slow
def test_the_curator_sees_floor_and_ceiling(wide, client) -> None:
    release = made(wide)
    client.force_login(wide.owner)
    text = client.get(f"/releases/{release.pk}/compare/").content.decode()
    for words in (
        "Independent columns",
        "Resample",
        "All pairs, the worst first",
        "Correlations, true",
        "3 columns",
    ):
        assert words in text
    assert outline(text) == ["means", "pairs", "all-pairs", "worst", "learning", "nearest", "else"]
    comparison = records.comparison(wide.pk, release.pk)
    assert comparison is not None
    pairs = comparison["means"][1]
    assert pairs["synthetic"] < pairs["independent"] / 2
    lines = client.get(f"/releases/{release.pk}/compare.csv").content.decode().splitlines()
    assert len(lines) == 1 + 10


def test_principal_components_are_shown_and_in_the_rows(wide, client, administrator) -> None:
    """At a cost at which noise hides nothing of so small a table."""
    building.granted(wide, administrator, "900")
    release = made(wide, "principal-components", "1000")
    rows = pd.read_parquet(io.BytesIO(files(release)["synthetic.parquet"]))
    assert np.corrcoef(rows["age"], rows["ill"].fillna(False).astype(float))[0, 1] > 0.4
    services.publish(release, wide.owner)
    text = page_of(client, release)
    assert "of the variance" in text and "along the directions below" in text
    client.force_login(wide.owner)
    assert "of the variance" in client.get(f"/releases/{release.pk}/compare/").content.decode()


@pytest.mark.slow
def test_no_whole_row_stays_behind(wide) -> None:
    """Principal components read whole rows; what is kept for the comparison is tables, as of any method."""
    methods = ("principal-components", "tree-of-pairs")
    kept = [records.stored_counts(made(wide, method).true_counts) for method in methods]
    assert kept[0].tolist() == kept[1].tolist()


@pytest.mark.slow
def test_a_worker_that_dies_after_the_measurement_repeats_nothing(wide) -> None:
    release = made(wide)
    spent, digest = wide.budgets.get().spent, release.measurement_sha256
    execution.RELEASES.run(release.pk)
    release.refresh_from_db()
    assert (wide.budgets.get().spent, release.measurement_sha256) == (spent, digest)


class TestWizard:
    def draft(self, dataset: Dataset) -> Release:
        return Release.objects.create(dataset=dataset, created_by=dataset.owner, product="microdata")

    def test_one_button_takes_no_column_beside_the_finer_one_that_it_is_made_of(self, wide, client) -> None:
        group = Integer("age group", lower=0, upper=99, width=20, source="age")
        dataset_services.declare(wide, group.name, group)
        draft = self.draft(wide)
        client.force_login(wide.owner)
        text = client.get(f"/releases/{draft.pk}/columns/").content.decode()
        assert "Take all 5 columns" in text and text.count("data-once>") == 5
        assert text.count('name="columns"') == 6

    def test_it_leads_from_columns_to_review(self, wide, client) -> None:
        draft = self.draft(wide)
        client.force_login(wide.owner)
        assert "Take all 5 columns" in client.get(f"/releases/{draft.pk}/columns/").content.decode()
        wishes = {"required_pairs": "age, job", "zeros": "ill, true, job, j0"}
        assert client.post(f"/releases/{draft.pk}/columns/", {**ANSWER, **wishes}).status_code == 302
        text = client.get(f"/releases/{draft.pk}/method/").content.decode()
        assert text.index("Latent classes") < text.index("Tree of pairs") < text.index("Independent columns")
        assert (
            client.post(
                f"/releases/{draft.pk}/method/", {"mechanism": "tree-of-pairs", "amount": "1"}
            ).status_code
            == 302
        )
        text = client.get(f"/releases/{draft.pk}/review/").content.decode()
        assert "Cannot occur together" in text and "as many as the noisy count says" in text
        draft.refresh_from_db()
        assert draft.parameters["wishes"]["required"] == [["age", "job"]]
        shown = client.get(f"/releases/{draft.pk}/columns/").content.decode()
        assert "ill,true,job,j0" in shown and "age,2" in shown

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("method", "further", "columns"),
        [
            ("principal-components", {}, COLUMNS),
            ("tree-of-pairs", {"keep": "3"}, ["age", "job", "ill"]),
        ],
    )
    def test_it_leads_to_rows_through_reduced_dimension(
        self, wide, administrator, client, method, further, columns
    ) -> None:
        """Through principal components, and through a private choice of columns: every page, then the downloads."""
        draft = self.draft(wide)
        client.force_login(wide.owner)
        at = f"/releases/{draft.pk}"
        answer = {key: value for key, value in ANSWER.items() if key != "weights"}
        assert client.post(f"{at}/columns/", {**answer, **further}).status_code == 302
        assert client.post(f"{at}/method/", {"mechanism": method, "amount": "50"}).status_code == 302
        review = client.get(f"{at}/review/")
        reviewed = review.context["form"].initial["reviewed"]
        assert (
            client.post(f"{at}/review/", {"reviewed": reviewed, "agreed": "on", "useless": "on"}).status_code
            == 302
        )
        execution.RELEASES.run(draft.pk)
        assert client.post(f"{at}/publish/", {"all_the_same": "on"}).status_code in (200, 302)
        client.logout()
        release = Release.objects.get(pk=draft.pk)
        assert release.published_at is not None and "report.html" in page_of(client, release)
        rows = pd.read_parquet(io.BytesIO(files(release)["synthetic.parquet"]))
        assert rows.columns.tolist() == columns and len(rows) == pytest.approx(300, abs=20)
        assert wide.budgets.get().spent == 50

    def test_a_cost_that_hides_everything_is_told(self, wide, client) -> None:
        draft = self.draft(wide)
        client.force_login(wide.owner)
        client.post(f"/releases/{draft.pk}/columns/", ANSWER)
        draft.refresh_from_db()
        draft.amount = "0.001"
        draft.save()
        assert (
            "too small for any useful table" in client.get(f"/releases/{draft.pk}/method/").content.decode()
        )

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"columns": ["age"]}, "Choose between 2 and 250 columns, not 1"),
            ({"columns": ["age", "job"]}, "ill is not among the chosen columns"),
            ({"weights": "age, heavy"}, "whole numbers from 1 to 10"),
            ({"weights": "age, " + "9" * 5000}, "whole numbers from 1 to 10"),
            ({"weights": "age, ٣"}, "whole numbers from 1 to 10"),
            ({"weights": "age, 0"}, "whole numbers from 1 to 10"),
            ({"weights": "age, 3\nage, 5"}, "age has two weights"),
            ({"weights": "age, job, 3\njob, age, 3"}, "job × age has two weights"),
            ({"weights": "age"}, "each line needs 2 or 3 parts"),
            ({"keep": "3", "target": ""}, "Choose the target"),
            ({"zeros": "ill, perhaps, job, j0"}, "no declared value"),
            (
                {
                    "zeros": "\n".join(
                        f"ill, {i}, job, {j}"
                        for i in ("true", "false", "Missing")
                        for j in ("j0", "j1", "j2", "j3", "Other")
                    )
                },
                "no row possible",
            ),
        ],
    )
    def test_what_cannot_be_is_refused_and_nothing_spent(self, wide, client, change, message) -> None:
        draft = self.draft(wide)
        client.force_login(wide.owner)
        response = client.post(f"/releases/{draft.pk}/columns/", {**ANSWER, **change})
        assert message in response.content.decode()
        assert wide.budgets.get().reserved == 0


@pytest.mark.slow
def test_of_so_few_people_that_no_pair_is_measured_the_page_says_why(wide, client, tmp_path):
    """Every round counts the columns again; the bundle holds, without tables of pairs."""
    release = made(wide, amount="0.01", wishes={})
    assert "measured.csv" not in files(release) and "groups.csv" not in files(release)
    assert json.loads(files(release)["release.json"])["measured_pairs"] == []
    services.publish(release, release.dataset.owner)
    text = page_of(client, release)
    assert "every column was counted several times" in text
    assert not failed(downloaded(release, tmp_path))
