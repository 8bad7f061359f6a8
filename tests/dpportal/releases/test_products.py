"""Private choice and randomised answers, from a draft through the job to bundle and pages."""

from __future__ import annotations

import io
import json
import zipfile
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.core.files.storage import default_storage
from django.template.loader import get_template

from dpportal import storage
from dpportal.accounts.models import User
from dpportal.datasets import services as dataset_services
from dpportal.datasets.models import Dataset
from dpportal.datasets.rawdata import records
from dpportal.releases import drafts, execution, services
from dpportal.releases.models import Release
from dpportal.releases.products import PRODUCTS, DraftError
from mechanisms.accounting import Definition
from mechanisms.domain import Boolean, Integer
from tests.dpportal import building

SURE = "50"  # at ε = 50 the best of clearly separated candidates is chosen but once in e^50

# A column in which everybody has the same value, declared as it is.
ONE_CELL = Integer("age", lower=5, upper=5)
PURE_METHODS = [m for m in PRODUCTS["histogram"].mechanisms if Definition.PURE in m.definitions]


@pytest.fixture
def rich(curator: User, administrator: User) -> Dataset:
    return building.granted(building.stored_dataset(curator), administrator, "100")


def finished(
    dataset: Dataset, product: str, columns: list[str], amount: str, mechanism: str, **parameters
) -> Release:
    release = Release.objects.create(
        dataset=dataset,
        created_by=dataset.owner,
        title="Test",
        product=product,
        columns=columns,
        mechanism=mechanism,
        parameters=parameters,
        amount=Decimal(amount),
        people=300,
    )
    building.confirm(release)
    execution.execute(release.pk)
    release.refresh_from_db()
    assert release.is_ready, release.job.failure
    return release


def files(release: Release) -> dict[str, bytes]:
    """The zip's files by name."""
    archive = release.artifacts.get(name__endswith=".zip")
    with default_storage.open(archive.stored) as file, zipfile.ZipFile(io.BytesIO(file.read())) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


def page_of(client, release: Release) -> str:
    response = client.get(f"/releases/{release.pk}/")
    assert response.status_code == 200
    return response.content.decode()


class TestSelection:
    def choose(self, dataset: Dataset, columns: list[str], question: str, **parameters) -> Release:
        return finished(
            dataset,
            "selection",
            columns,
            SURE,
            "permute-and-flip",
            question=question,
            **{"picks": 1, **parameters},
        )

    def test_the_most_common_value_is_chosen(self, rich) -> None:
        """Ages 0 to 99 in ten cells of 30, ages from 100 on never: every cell but Other holds 30 people."""
        release = self.choose(rich, ["colour"], "most-common-value", picks=3)
        choices = pd.read_csv(io.BytesIO(files(release)["choice.csv"]))["choice"].tolist()
        assert sorted(choices) == ["blue", "green", "red"]

    def test_the_median_is_chosen(self, rich) -> None:
        release = self.choose(rich, ["age"], "quantile", level="1/2")
        (choice,) = json.loads(files(release)["release.json"])["choice"]
        assert choice in ("40–49", "50–59")

    def test_the_date_with_the_fewest_conflicts_is_chosen(self, curator, administrator) -> None:
        dataset = building.granted(conflicts(curator), administrator, "100")
        release = self.choose(dataset, ["monday", "tuesday", "friday"], "fewest-conflicts")
        assert json.loads(files(release)["release.json"])["choice"] == ["tuesday"]

    def test_no_count_is_on_the_public_page_or_in_the_bundle(self, rich, client) -> None:
        """Every cell of age holds 30 people."""
        release = self.choose(rich, ["age"], "most-common-value")
        services.publish(release, rich.owner)
        assert ">30<" not in page_of(client, release)
        assert set(files(release)) == {"choice.csv", "release.json", "datapackage.json", "README.md"}
        assert pd.read_csv(io.BytesIO(files(release)["choice.csv"])).columns.tolist() == ["rank", "choice"]

    def test_the_curator_sees_true_scores_and_chances(self, rich, client) -> None:
        release = self.choose(rich, ["colour"], "most-common-value")
        client.force_login(rich.owner)
        text = client.get(f"/releases/{release.pk}/compare/").content.decode()
        assert "True score" in text and "33.3 %" in text

    def test_more_picks_than_candidates_are_refused_beside_the_field(self, rich, client) -> None:
        draft = Release.objects.create(dataset=rich, created_by=rich.owner, product="selection")
        client.force_login(rich.owner)
        answer = {"question": "most-common-value", "columns": ["colour"], "level": "0.5", "picks": 9}
        response = client.post(f"/releases/{draft.pk}/columns/", answer)
        assert "There are only 4 candidates" in response.content.decode()

    @pytest.mark.parametrize(
        ("question", "columns", "message"),
        [
            ("most-common-value", ["colour", "age"], "exactly one column"),
            ("quantile", ["colour"], "has no order"),
            ("best-option", ["colour", "age"], "declared as yes or no"),
            ("best-option", [], "Choose at least one column"),
        ],
    )
    def test_columns_that_cannot_answer_are_refused(self, rich, client, question, columns, message) -> None:
        draft = Release.objects.create(dataset=rich, created_by=rich.owner, product="selection")
        client.force_login(rich.owner)
        answer = {"question": question, "columns": columns, "level": "0.5", "picks": 1}
        response = client.post(f"/releases/{draft.pk}/columns/", answer)
        assert message in response.content.decode()
        assert rich.budget.reserved == 0

    @pytest.mark.parametrize("question", ["best-option", "fewest-conflicts"])
    def test_a_single_option_is_no_choice(self, curator, administrator, client, question) -> None:
        dataset = building.granted(conflicts(curator), administrator, "100")
        draft = Release.objects.create(dataset=dataset, created_by=curator, product="selection")
        client.force_login(curator)
        answer = {"question": question, "columns": ["friday"], "level": "0.5", "picks": 1}
        response = client.post(f"/releases/{draft.pk}/columns/", answer)
        assert "needs 2 to 10,000 candidates; this one has 1." in response.content.decode()

    def test_a_column_of_a_single_cell_is_no_choice(self, rich, client) -> None:
        dataset_services.declare_all(rich, [ONE_CELL])
        draft = Release.objects.create(dataset=rich, created_by=rich.owner, product="selection")
        client.force_login(rich.owner)
        answer = {"question": "most-common-value", "columns": ["age"], "level": "0.5", "picks": 1}
        response = client.post(f"/releases/{draft.pk}/columns/", answer)
        assert "this one has 1." in response.content.decode()

    def test_one_button_takes_all_yes_or_no_columns(self, curator, administrator, client) -> None:
        dataset = building.granted(conflicts(curator), administrator, "100")
        draft = Release.objects.create(dataset=dataset, created_by=curator, product="selection")
        client.force_login(curator)
        text = client.get(f"/releases/{draft.pk}/columns/").content.decode()
        assert "Take all 3 yes-or-no columns" in text and text.count("data-yes-or-no>") == 3


class TestConstantColumn:
    @pytest.mark.parametrize("method", PURE_METHODS, ids=lambda m: m.name)
    def test_every_histogram_method_counts_everybody_in_the_only_cell(self, rich, method) -> None:
        """At ε = 50 even a twentieth of it gives noise beyond 20 people less than once in 10^20."""
        dataset_services.declare_all(rich, [ONE_CELL])
        release = finished(rich, "histogram", ["age"], SURE, method.name)
        people = pd.read_csv(io.BytesIO(files(release)["synthetic.csv"]))
        assert abs(len(people) - building.ROWS) <= 20


class TestReadme:
    @pytest.mark.parametrize("method", PURE_METHODS, ids=lambda m: m.name)
    def test_an_interval_is_given_where_the_plan_has_one(self, rich, method) -> None:
        release = finished(rich, "histogram", ["age"], "1", method.name)
        text = files(release)["README.md"].decode()
        foreseen = release.plan_json["half_width"] is not None
        assert ("is unbiased" in text, "no interval is given" in text) == (foreseen, not foreseen)
        assert "None" not in text


class TestResponse:
    @pytest.fixture
    def replaceable(self, rich) -> Dataset:
        """A person is replaced and has one row, so the number of answers may be seen."""
        dataset_services.declare_unit(rich, neighbours="replace-one", unit_column="", max_rows=1)
        return rich

    @pytest.mark.parametrize("mechanism", ["randomised-response", "unary-encoding"])
    def test_there_is_an_answer_for_every_person(self, replaceable, mechanism) -> None:
        release = finished(replaceable, "response", ["colour"], "1", mechanism)
        assert len(pd.read_csv(io.BytesIO(files(release)["answers.csv"]))) == building.ROWS

    def test_estimates_come_close_when_hardly_anything_is_randomised(self, replaceable) -> None:
        """At ε = 20 an answer is changed with probability below 1e-8; 300 answers: false alarm below 1e-5."""
        release = finished(replaceable, "response", ["colour"], "20", "randomised-response")
        estimates = pd.read_csv(io.BytesIO(files(release)["estimates.csv"])).set_index("colour")
        assert estimates["estimate"].round().to_dict() == {"red": 100, "green": 100, "blue": 100, "Other": 0}
        assert estimates["count"].sum() == building.ROWS

    def test_it_is_refused_where_the_number_of_people_is_private(self, rich) -> None:
        draft = Release.objects.create(
            dataset=rich, created_by=rich.owner, product="response", columns=["colour"],
            mechanism="randomised-response", amount=Decimal(1), people=300,
        )  # fmt: skip
        with pytest.raises(DraftError, match="a person is replaced"):
            drafts.plan_of(draft)

    def test_the_public_page_shows_estimates_and_no_true_count(self, replaceable, client) -> None:
        release = finished(replaceable, "response", ["colour"], "1", "unary-encoding")
        services.publish(release, replaceable.owner)
        text = page_of(client, release)
        assert "Estimated counts" in text and "True count" not in text


@pytest.mark.parametrize("name", PRODUCTS)
def test_every_product_has_its_templates(name: str) -> None:
    product = PRODUCTS[name]
    names = [
        getattr(product, f"{part}_template")
        for part in ("choose", "offers", "review", "page", "compare", "readme")
    ]
    assert all(get_template(template) for template in names)


def conflicts(owner: User) -> Dataset:
    """300 people; Monday is bad for all, Tuesday for nobody, Friday for every third."""
    dataset = building.stored_dataset(owner, "Conflicts")
    days = {
        "monday": np.ones(building.ROWS, dtype=bool),
        "tuesday": np.zeros(building.ROWS, dtype=bool),
        "friday": np.arange(building.ROWS) % 3 == 0,
    }
    with storage.scratch_folder() as scratch:
        path = scratch / "table.parquet"
        pq.write_table(pa.table(days), path)
        dataset.table, _digest = storage.keep_by_digest(path, records.folder(dataset.pk))
    dataset.columns = [{"name": day, "kind": "boolean", "remark": ""} for day in days]
    dataset.save()
    dataset.domain_versions.all().delete()
    dataset_services.declare_all(dataset, [Boolean(day) for day in days])
    return dataset
