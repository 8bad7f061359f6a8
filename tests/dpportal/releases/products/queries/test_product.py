"""Answers to many queries: the job, the bundle, and the pages."""

from __future__ import annotations

import io
import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from dpportal.accounts.models import User
from dpportal.datasets.models import Dataset
from dpportal.jobs import search_cache
from dpportal.jobs.search_cache import SEARCHES
from dpportal.releases import drafts, services
from dpportal.releases.models import Release
from dpportal.releases.products.queries import matrices, strategies
from dpportal.releases.products.queries.matrices import UploadedMatrix
from tests.dpportal import building
from tests.dpportal.releases.products.building import files, page_of
from tests.dpportal.releases.products.queries.building import answers, arrays, draft_of, finished

# At ε = 200 the noise of a sum is 0 but for once in e^100, whatever the strategy here.
CERTAIN = "200"
RANGES = 'ranges("age")'
CELLS = 4 * 10


@pytest.fixture
def rich(curator: User, administrator: User) -> Dataset:
    return building.granted(building.stored_dataset(curator), administrator, "10000")


@pytest.fixture
def concentrated(curator: User, administrator: User) -> Dataset:
    return building.granted(building.stored_dataset(curator, "zCDP"), administrator, "10000", "zcdp")


@pytest.fixture
def matrix() -> str:
    """Two named queries over the 40 cells of colour and age: all red, and half of the first cell."""
    rows = np.zeros((2, CELLS))
    rows[0, :10], rows[1, 0] = 1, 0.5
    return matrices.store(UploadedMatrix(scipy.sparse.csr_array(rows), ("all red", "half")))


class TestJob:
    @pytest.mark.slow
    def test_all_ranges_are_answered(self, rich) -> None:
        table = answers(finished(draft_of(rich, RANGES, ["age"], CERTAIN)))
        widths = [stop - start for start in range(10) for stop in range(start + 1, 11)]
        np.testing.assert_allclose(table["answer"], [30 * width for width in widths], atol=1e-6)
        assert table["query"][1] == "age 0–19"

    @pytest.mark.slow
    def test_tables_are_answered_from_marginals_alone(self, concentrated) -> None:
        draft = draft_of(concentrated, "marginals(<=2)", ["colour", "age"], CERTAIN, "residual-planner")
        table = answers(finished(draft)).set_index("query")["answer"]
        assert len(table) == 4 + 10 + CELLS
        assert abs(table["colour = red"] - 100) < 1
        assert abs(table["colour = Other"]) < 1
        assert table[[f"colour = {c}, age 10–19" for c in ("red", "green", "blue")]].sum() == pytest.approx(
            30, abs=1
        )

    @pytest.mark.slow
    def test_uploaded_queries_keep_their_names(self, rich, matrix) -> None:
        table = answers(finished(draft_of(rich, f'uploaded("{matrix}")', ["colour", "age"], CERTAIN)))
        assert table["query"].tolist() == ["all red", "half"]
        np.testing.assert_allclose(table["answer"], [100, 5], atol=1e-6)

    @pytest.mark.slow
    def test_an_uploaded_strategy_is_measured(self, rich) -> None:
        """Rows of different scale: cell i is measured 1 + i times as strongly."""
        rows = scipy.sparse.csr_array(np.diag(np.arange(1.0, 11)))
        strategy = matrices.store(UploadedMatrix(rows))
        draft = draft_of(rich, 'identity("age")', ["age"], "1", "uploaded-strategy", strategy=strategy)
        release = finished(draft)
        errors = answers(release)["standard_error"]
        np.testing.assert_allclose(errors * np.arange(1, 11), errors[0], rtol=1e-6)
        stored = arrays(files(release)["strategy.npz"])
        np.testing.assert_array_equal(stored["data"], np.arange(1, 11))

    @pytest.mark.slow
    def test_the_most_likely_cells_can_be_asked_for(self, rich) -> None:
        draft = draft_of(rich, RANGES, ["age"], "1", "hierarchy-strategy", reconstruction="l1")
        plan = json.loads(files(finished(draft))["release.json"])["plan"]
        assert plan["details"]["reconstruction"] == "l1"

    @pytest.mark.slow
    def test_the_budget_is_spent_once(self, rich) -> None:
        finished(draft_of(rich, RANGES, ["age"], "1.5"))
        budget = rich.budgets.get()
        assert (budget.spent, budget.reserved) == (1.5, 0)


class TestBundle:
    @pytest.fixture
    def release(self, rich) -> Release:
        return finished(draft_of(rich, f'{RANGES} + 2 * identity("age")', ["age"], "1", "hierarchy-strategy"))

    @pytest.mark.slow
    def test_the_files_are_all_there(self, release) -> None:
        assert set(files(release)) == {
            "answers.csv", "cells.csv", "synthetic.csv", "synthetic.parquet", "strategy.npz", "release.json",
            "datapackage.json", "README.md", "answers.xlsx", "cells.xlsx", "synthetic.xlsx", "report.html",
            "codebook.csv", "codebook.xlsx", "measurement.npy", "signature.json", "croissant.json",
            "notebook.py", "notebook.ipynb", "report.zh-hans.html",
        }  # fmt: skip

    @pytest.mark.slow
    def test_the_intervals_are_around_the_answers(self, release) -> None:
        table = answers(release)
        middle = (table["interval_lower"] + table["interval_upper"]) / 2
        np.testing.assert_allclose(middle, table["answer"], atol=1e-6)
        half = table["interval_upper"] - table["answer"]
        assert (half > 1.9 * table["standard_error"]).all()

    @pytest.mark.slow
    def test_the_answers_agree_with_each_other_and_with_the_cells(self, release) -> None:
        table, cells = answers(release), pd.read_csv(io.BytesIO(files(release)["cells.csv"]))
        by_query = table.groupby("query")["answer"]
        assert (by_query.max() - by_query.min()).max() < 1e-6
        assert by_query.first()["age 0–19"] == pytest.approx(cells["estimate"][:2].sum(), abs=1e-3)
        assert (cells["cell"] >= 0).all() and (cells["count"] >= 0).all()

    @pytest.mark.slow
    def test_the_standard_errors_are_those_of_the_strategy_in_the_bundle(self, release) -> None:
        """σ² diag(W (AᵀA)⁻¹ Wᵀ) from the stored matrix by dense algebra; ε = 1, Laplace of the L1 column norm."""
        stored = arrays(files(release)["strategy.npz"])
        sparse = scipy.sparse.csr_array(
            (stored["data"], stored["indices"], stored["indptr"]), shape=stored["shape"]
        )
        strategy = sparse.toarray().astype(float)
        ranges = [
            [start <= i < stop for i in range(10)] for start in range(10) for stop in range(start + 1, 11)
        ]
        scale = np.abs(strategy).sum(axis=0).max()
        variance = 2 * np.exp(-1 / scale) / (1 - np.exp(-1 / scale)) ** 2
        workload = np.array(ranges, dtype=float)
        exact = np.diag(workload @ np.linalg.inv(strategy.T @ strategy) @ workload.T) * variance
        np.testing.assert_allclose(answers(release)["standard_error"][:55], np.sqrt(exact), rtol=1e-6)

    @pytest.mark.slow
    def test_the_synthetic_table_has_a_row_for_every_counted_person(self, release) -> None:
        packed = files(release)
        cells, rows = (pd.read_csv(io.BytesIO(packed[name])) for name in ("cells.csv", "synthetic.csv"))
        about = json.loads(packed["release.json"])
        assert len(rows) == cells["count"].sum() == about["synthetic_rows"]
        assert about["queries"] == 65

    @pytest.mark.slow
    def test_release_json_holds_the_text_form(self, release) -> None:
        plan = json.loads(files(release)["release.json"])["plan"]
        assert plan["workload"] == 'ranges("age") + 2 * identity("age")'

    @pytest.mark.slow
    def test_the_uploaded_matrix_is_in_the_bundle_under_its_digest(self, rich, matrix) -> None:
        release = finished(draft_of(rich, f'uploaded("{matrix}")', ["colour", "age"]))
        digests = json.loads(files(release)["release.json"])["files"]
        assert digests[f"matrix-{matrix}.npz"]["sha256"] == matrix
        loaded = scipy.sparse.load_npz(io.BytesIO(files(release)[f"matrix-{matrix}.npz"]))
        assert loaded.shape == (2, CELLS)

    @pytest.mark.slow
    def test_every_file_can_be_downloaded_by_itself(self, release, client) -> None:
        client.force_login(release.dataset.owner)
        packed = files(release)
        for name, content in packed.items():
            response = client.get(f"/releases/{release.pk}/download/{name}")
            assert b"".join(response.streaming_content) == content, name

    @pytest.mark.slow
    def test_without_cells_there_is_no_synthetic_table(self, concentrated) -> None:
        """Where the tables do not make the cells listable, answers and strategy are all there is."""
        draft = draft_of(concentrated, "marginals(<=1)", ["colour", "age"], "1", "residual-planner")
        names = set(files(finished(draft)))
        assert {"answers.csv", "strategy.npz"} <= names
        assert ("cells.csv" in names) == ("synthetic.csv" in names)


class TestPages:
    @pytest.fixture
    def release(self, rich) -> Release:
        return finished(draft_of(rich, RANGES, ["age"], "1"))

    @pytest.mark.slow
    def test_the_public_page_shows_answers_and_no_true_one(self, release, client) -> None:
        services.publish(release, release.dataset.owner)
        text = page_of(client, release)
        assert "age 0–19" in text and "Margin (95 %)" in text
        assert "true_answer" not in text and "No error" not in text

    @pytest.mark.slow
    def test_the_compare_page_has_true_answers_and_expectations(self, release, client) -> None:
        client.force_login(release.dataset.owner)
        text = client.get(f"/releases/{release.pk}/compare/").content.decode()
        assert "Error by length of the range" in text and "people; expected" in text
        lines = client.get(f"/releases/{release.pk}/compare.csv").content.decode().splitlines()
        assert lines[0].endswith("true_answer,error")
        assert lines[2].startswith("2,age 0–19,") and ",60," in lines[2]

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("text", "columns", "title"),
        [
            ("marginals(<=2)", ["colour", "age"], "Error by table"),
            ('ranges("age") x identity("colour")', ["colour", "age"], "Error by length of the range"),
        ],
    )
    def test_the_errors_are_shown_by_what_was_asked(self, rich, client, text, columns, title) -> None:
        release = finished(draft_of(rich, text, columns, "1"))
        client.force_login(rich.owner)
        assert title in client.get(f"/releases/{release.pk}/compare/").content.decode()

    @pytest.mark.slow
    def test_a_sum_of_neighbours_has_the_error_of_the_range_that_they_make(self, release, client) -> None:
        """Query 1 is age 0–9, 11 is age 10–19, and 2 is both: answers are consistent, so both ways agree."""
        client.force_login(release.dataset.owner)
        response = client.get(f"/releases/{release.pk}/", {"sum": "1 + 11"})
        both = answers(release).set_index("number").loc[2]
        combination = response.context["combination"]
        assert combination["estimate"] == pytest.approx(both["answer"], abs=1e-6)
        assert combination["standard_error"] == pytest.approx(both["standard_error"], rel=1e-6)
        assert "age 10–19" in response.content.decode()

    @pytest.mark.slow
    def test_the_difference_of_an_answer_from_itself_is_nothing(self, release, client) -> None:
        client.force_login(release.dataset.owner)
        combination = client.get(f"/releases/{release.pk}/", {"sum": "3-3"}).context["combination"]
        assert combination["estimate"] == combination["standard_error"] == 0

    @pytest.mark.slow
    def test_a_sum_over_marginal_tables_is_that_of_the_larger_one(self, concentrated, client) -> None:
        """colour = red is the first answer; its ten ages are 15 to 24 in the table of both."""
        draft = draft_of(concentrated, "marginals(<=2)", ["colour", "age"], "0.5", "residual-planner")
        release = finished(draft)
        table = answers(release).set_index("query")
        cells = table.loc[[name for name in table.index if name.startswith("colour = red, ")], "number"]
        client.force_login(concentrated.owner)
        response = client.get(f"/releases/{release.pk}/", {"sum": " + ".join(map(str, cells))})
        combination, red = response.context["combination"], table.loc["colour = red"]
        assert combination["estimate"] == pytest.approx(red["answer"], abs=1e-5)
        assert combination["standard_error"] == pytest.approx(red["standard_error"], rel=1e-6)

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("0", "There is no answer 0"),
            ("56", "There is no answer 56; they are numbered from 1 to 55"),
            ("1 * 2", "Write numbers of answers"),
            ("1 2", "Write numbers of answers"),
            ("+", "Write numbers of answers"),
            ("1" * 3000, "Write numbers of answers"),
            ("<script>", "Write numbers of answers"),
        ],
    )
    def test_a_sum_that_cannot_be_is_said_so(self, release, client, text, message) -> None:
        client.force_login(release.dataset.owner)
        response = client.get(f"/releases/{release.pk}/", {"sum": text})
        assert message in response.content.decode() and "<script>+" not in response.content.decode()


class TestChoice:
    def test_the_automatic_choice_takes_the_smallest_error(self, rich) -> None:
        draft = draft_of(rich, RANGES, ["age"])
        _version, plan = drafts.plan_of(draft)
        offers = drafts.offers(draft, draft.amount)
        assert plan.total_error == min(offer.plan.total_error for offer in offers if offer.plan)

    def test_the_curators_choice_is_kept(self, rich) -> None:
        _version, plan = drafts.plan_of(draft_of(rich, RANGES, ["age"], mechanism="identity-strategy"))
        assert plan.mechanism == "identity-strategy"

    def test_the_method_page_compares_them(self, rich, client) -> None:
        draft = draft_of(rich, RANGES, ["age"])
        client.force_login(rich.owner)
        text = client.get(f"/releases/{draft.pk}/method/").content.decode()
        assert "Automatic choice" in text and "smallest error" in text
        assert text.index("smallest error") < text.index("Counts every cell once")

    @pytest.mark.slow
    def test_ratios_are_to_the_highest_bound_that_is_known(self, rich, client) -> None:
        """Whatever a method knows itself: the same bound below all, so ratios order as errors do."""
        draft = draft_of(rich, "marginals(<=2)", ["colour", "age"])
        for search in services.ask_strategies(draft):
            strategies.STRATEGIES.run(search.key)
        client.force_login(rich.owner)
        offers = client.get(f"/releases/{draft.pk}/method/").context["offers"]
        made = [(offer["plan"], offer["ratio"]) for offer in offers if "plan" in offer]
        bound = max(plan.lower_bound or 0 for plan, _ratio in made)
        assert len(made) >= 4 and bound > 0
        assert [ratio for _plan, ratio in made] == [
            (plan.total_error / bound) ** 0.5 for plan, _ratio in made
        ]

    @pytest.mark.slow
    def test_what_takes_long_is_worked_out_by_a_worker(self, rich, client, monkeypatch) -> None:
        monkeypatch.setattr("mechanisms.matrix.answering._QUICK", 9)
        draft = draft_of(rich, RANGES, ["age"], "0.5")
        client.force_login(rich.owner)
        address = f"/releases/{draft.pk}/method/"
        page = client.get(address)
        assert "being worked out" in page.content.decode()
        assert [
            offer for offer in page.context["offers"] if offer["mechanism"].name == "hierarchy-strategy"
        ] == []
        refused = client.post(address, {"mechanism": "hierarchy-strategy", "amount": "0.5"}).content.decode()
        assert "Its figures are being worked out" in refused
        for working in SEARCHES.jobs():
            search_cache.SEARCHES.run(working.pk)
        table = client.post(f"{address}offers/", {"mechanism": "automatic", "amount": "0.5"}).content.decode()
        assert "Nested ranges (hierarchy)" in table and "Some methods are being" not in table
        assert 'value="automatic" checked' in table

    def test_choosing_leads_to_the_review(self, rich, client) -> None:
        draft = draft_of(rich, RANGES, ["age"], mechanism="")
        client.force_login(rich.owner)
        answer = {"mechanism": "automatic", "amount": "0.5", "parameter-reconstruction": "nnls"}
        response = client.post(f"/releases/{draft.pk}/method/", answer, follow=True)
        page = " ".join(response.content.decode().split())
        assert "no method with this noise gets below ±" in page and response.redirect_chain[-1][0].endswith(
            "/review/"
        )

    def test_likely_cells_under_gaussian_noise_are_refused(self, concentrated, client) -> None:
        draft = draft_of(concentrated, RANGES, ["age"], mechanism="")
        client.force_login(concentrated.owner)
        answer = {"mechanism": "automatic", "amount": "0.5", "parameter-reconstruction": "l1"}
        assert "Laplace noise only" in client.post(f"/releases/{draft.pk}/method/", answer).content.decode()
