"""Private choice, from a draft through the job to bundle and pages."""

from __future__ import annotations

import io
import json
import re

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpportal.accounts.models import User
from dpportal.datasets import records, services as dataset_services
from dpportal.datasets.models import Dataset
from dpportal.platform import storage
from dpportal.releases import services
from dpportal.releases.models import Release
from mechanisms.domain import Boolean, Categorical
from tests.dpportal import building
from tests.dpportal.releases.products.building import ONE_CELL, SURE, files, finished, page_of


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

    @pytest.mark.slow
    def test_the_most_common_value_is_chosen(self, rich) -> None:
        """Ages 0 to 99 in ten cells of 30, ages from 100 on never: every cell but Other holds 30 people."""
        release = self.choose(rich, ["colour"], "most-common-value", picks=3)
        choices = pd.read_csv(io.BytesIO(files(release)["choice.csv"]))["choice"].tolist()
        assert sorted(choices) == ["blue", "green", "red"]

    @pytest.mark.slow
    def test_a_chosen_code_has_its_label_beside_it(self, rich) -> None:
        """A hundred rows are red, none is missing: the second choice is that, an empty field."""
        words = Categorical("colour", True, ("red",), closed=True, words=("Rot",))
        dataset_services.declare(rich, "colour", words)
        release = self.choose(rich, ["colour"], "most-common-value", picks=2)
        choices = pd.read_csv(io.BytesIO(files(release)["choice.csv"]), keep_default_na=False)
        assert choices.values.tolist() == [[1, "red", "Rot"], [2, "", ""]]

    @pytest.mark.slow
    def test_the_median_is_chosen(self, rich) -> None:
        release = self.choose(rich, ["age"], "quantile", level="1/2")
        (choice,) = json.loads(files(release)["release.json"])["choice"]
        assert choice in ("40–49", "50–59")

    @pytest.mark.slow
    def test_the_first_sentence_says_how_far_the_choice_may_be_from_the_true_one(self, rich, client) -> None:
        """At ε = 1 three that trail by 4 win with chance 3 exp(-4)/2 = 2.7 % at most; by 3, it might be 7.5 %."""
        parameters = {"question": "most-common-value", "picks": 1}
        release = finished(rich, "selection", ["colour"], "1", "permute-and-flip", **parameters)
        services.publish(release, rich.owner)
        (chosen,) = json.loads(files(release)["release.json"])["choice"]
        expected = (
            f"{chosen} was chosen as the most common value, of 3 declared values and Other. Noise decides between "
            "close candidates: with 95 % probability or more, this one is fewer than 4 people behind the true best."
        )
        for page in (page_of(client, release), files(release)["report.html"].decode()):
            text = " ".join(re.sub("<[^>]*>", "", page).split())
            assert expected in text

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("level", "asked"), [("1/2", "Median"), ("9/10", "Quantile 0.9: the value that 90 % lie below")]
    )
    def test_readers_are_told_which_quantile_was_chosen(self, rich, client, level, asked) -> None:
        release = self.choose(rich, ["age"], "quantile", level=level)
        services.publish(release, rich.owner)
        bundle = files(release)
        assert f"<h2>{asked} (age)</h2>" in page_of(client, release)
        assert f"- What was asked: {asked} (age).\n" in bundle["README.md"].decode()
        assert asked in bundle["report.html"].decode()
        for text in (page_of(client, release), bundle["report.html"].decode()):
            said = " ".join(text.split())
            assert (
                "have values between this one and the true one. How far that is in age cannot be said:"
                in said
            )
            before, _summary, behind = text.partition("Why one person can move the choice only a little")
            assert "changes every score" not in before and "depth" not in before and behind

    @pytest.mark.slow
    def test_the_date_with_the_fewest_conflicts_is_chosen(self, curator, administrator) -> None:
        dataset = building.granted(conflicts(curator), administrator, "100")
        release = self.choose(dataset, ["monday", "tuesday", "friday"], "fewest-conflicts")
        assert json.loads(files(release)["release.json"])["choice"] == ["tuesday"]

    @pytest.mark.slow
    def test_no_count_is_on_the_public_page_or_in_the_bundle(self, rich, client) -> None:
        """Every cell of age holds 30 people."""
        release = self.choose(rich, ["age"], "most-common-value")
        services.publish(release, rich.owner)
        page = client.get(release.get_absolute_url())
        assert ">30<" not in page.text
        # What is shown first is for people to read.
        assert [f.name for f in page.context["first_artifacts"]][1:3] == ["choice.csv", "choice.xlsx"]
        assert "measurement.npy" not in [f.name for f in page.context["first_artifacts"]]
        explained = {"release.json", "signature.json", "datapackage.json", "README.md"}
        explained |= {"report.html", "report.zh-hans.html"}
        explained |= {"croissant.json", "notebook.py", "notebook.ipynb"}
        assert set(files(release)) == {"choice.csv", "choice.xlsx", "measurement.npy"} | explained
        assert pd.read_csv(io.BytesIO(files(release)["choice.csv"])).columns.tolist() == ["rank", "choice"]

    @pytest.mark.slow
    def test_the_curator_sees_true_scores_and_chances(self, rich, client) -> None:
        release = self.choose(rich, ["colour"], "most-common-value")
        client.force_login(rich.owner)
        text = client.get(f"/releases/{release.pk}/compare/").content.decode()
        assert "True score" in text and "33.3 %" in text

    def test_going_back_keeps_the_quantile(self, rich, client) -> None:
        draft = Release.objects.create(dataset=rich, created_by=rich.owner, product="selection")
        client.force_login(rich.owner)
        page = f"/releases/{draft.pk}/columns/"
        client.post(page, {"question": "quantile", "columns": ["age"], "level": "0.9", "picks": 1})
        draft.refresh_from_db()
        assert (draft.parameters["level"], draft.columns_named) == ("9/10", "age")
        assert client.get(page).context["form"]["level"].value() == "0.9"

    def test_options_are_named_beside_each_other_and_not_crossed(self, curator) -> None:
        best = Release(
            product="selection", columns=["monday", "friday"], parameters={"question": "best-option"}
        )
        assert best.columns_named == "monday / friday"
        assert Release(product="histogram", columns=["age", "sex"]).columns_named == "age × sex"
        assert Release(product="microdata", columns=list("abcde")).columns_named == "5 columns"

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
        assert rich.budgets.get().reserved == 0

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


def conflicts(owner: User) -> Dataset:
    """300 people; Monday is bad for all, Tuesday for nobody, Friday for every third."""
    dataset = building.stored_dataset(owner, "Conflicts")
    days = {
        "monday": ["true"] * building.ROWS,
        "tuesday": ["false"] * building.ROWS,
        "friday": ["true" if row % 3 == 0 else "false" for row in range(building.ROWS)],
    }
    with storage.scratch_folder() as scratch:
        path = scratch / "table.parquet"
        pq.write_table(pa.table(days), path)
        dataset.table = storage.keep_under_random_name(path, records.folder(dataset.pk))
    dataset.columns = [{"name": day, "kind": "boolean", "remark": ""} for day in days]
    dataset.save()
    dataset.domain_versions.all().delete()
    dataset_services.declare_all(dataset, [Boolean(day) for day in days])
    return dataset
