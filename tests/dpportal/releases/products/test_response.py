"""Randomised answers, from a draft through the job to bundle and pages."""

from __future__ import annotations

import io
import math
import re
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from django.urls import reverse

from dpportal.datasets import records, services as dataset_services
from dpportal.datasets.models import Dataset
from dpportal.releases import drafts, results, services
from dpportal.releases.models import Release
from dpportal.releases.products import DraftError, planner_of, presenter_of
from mechanisms.domain import Categorical
from mechanisms.verify.bundle import Bundle
from tests.dpportal import building
from tests.dpportal.publications.test_notebook import run
from tests.dpportal.releases.products.building import files, finished, page_of
from tests.dpportal.releases.products.test_verified import downloaded


class TestResponse:
    @pytest.fixture
    def replaceable(self, rich) -> Dataset:
        """A person is replaced and has one row, so the number of answers may be seen."""
        dataset_services.declare_unit(rich, neighbours="replace-one", unit_column="", max_rows=1)
        return rich

    @pytest.mark.slow
    @pytest.mark.parametrize("mechanism", ["randomised-response", "unary-encoding"])
    def test_there_is_an_answer_for_every_person(self, replaceable, mechanism) -> None:
        release = finished(replaceable, "response", ["colour"], "1", mechanism)
        assert len(pd.read_csv(io.BytesIO(files(release)["answers.csv"]))) == building.ROWS

    @pytest.mark.slow
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

    def test_more_rows_than_can_respond_are_refused_before_any_is_read(
        self, replaceable, monkeypatch
    ) -> None:
        monkeypatch.setattr("mechanisms.response.MAX_REPORT_BYTES", building.ROWS - 1)
        draft = Release.objects.create(
            dataset=replaceable, created_by=replaceable.owner, product="response", columns=["colour"],
            mechanism="unary-encoding", amount=Decimal(1), people=300,
        )  # fmt: skip
        with pytest.raises(DraftError, match="answers for each of 300 rows"):
            drafts.plan_of(draft)

    def test_the_wanted_error_is_that_of_a_share_and_what_helps_is_its_own(self, replaceable, client) -> None:
        draft = Release.objects.create(
            dataset=replaceable, created_by=replaceable.owner, product="response", columns=["colour"],
            mechanism="randomised-response", amount=Decimal("0.01"), people=300,
        )  # fmt: skip
        plan = drafts.plan_of(draft)[1]
        assert planner_of(draft).error_of(plan, draft) == pytest.approx(
            100 * plan.half_widths(np.array([100.0]), 300)[0] / 300
        )
        client.force_login(replaceable.owner)
        review = client.get(reverse("releases:review", args=[draft.pk])).text
        promised, widest = math.ceil(plan.half_widths(np.array([100.0]), 300)[0]), math.ceil(plan.widest(300))
        assert f"±\N{NO-BREAK SPACE}{promised:,}." in review and f"more than ± {widest:,}" in review
        assert "take a column of fewer values, or wider bins" in review and "fewer columns" not in review

    @pytest.mark.slow
    def test_the_truth_is_said_of_the_counts_that_there_are(self, replaceable) -> None:
        release = finished(replaceable, "response", ["colour"], "0.01", "randomised-response")
        comparison = records.comparison(release.dataset_id, release.pk)
        assert "The adjusted counts have" in presenter_of(release).verdict(comparison).text

    @pytest.mark.slow
    def test_a_group_is_named_that_is_certainly_the_largest(self, replaceable, client) -> None:
        dataset_services.declare(replaceable, "colour", Categorical("colour", values=("red",)))
        release = finished(replaceable, "response", ["colour"], "20", "randomised-response")
        services.publish(release, replaceable.owner)
        text = page_of(client, release)
        assert re.search(r"The largest group, colour Other, has 200 ± \d+\.", " ".join(text.split()))

    @pytest.mark.slow
    def test_a_small_margin_is_in_the_digits_of_its_ends_and_the_notebook_finds_it(
        self, replaceable, tmp_path
    ) -> None:
        release = finished(replaceable, "response", ["colour"], "9", "randomised-response")
        path = downloaded(release, tmp_path)
        estimates = pd.read_csv(io.BytesIO(Bundle.read(path).content("estimates.csv")))
        below, above = (estimates[f"interval_{end}"] - estimates["estimate"] for end in ("lower", "upper"))
        assert np.abs(below + above).max() < 1e-6 and above.max() < 4
        run(path, tmp_path / "unpacked")

    @pytest.mark.slow
    def test_a_margin_of_the_table_is_rounded_up_and_depends_on_no_estimate(
        self, replaceable, client
    ) -> None:
        release = finished(replaceable, "response", ["age"], "0.05", "unary-encoding")
        services.publish(release, replaceable.owner)
        page = re.findall(r'class="number margin">± ([0-9,]+)<', page_of(client, release))
        estimates = pd.read_csv(io.BytesIO(files(release)["estimates.csv"]))
        reach = estimates["interval_upper"] - estimates["estimate"]
        assert [int(margin.replace(",", "")) for margin in page] == np.ceil(reach - 1e-6).astype(int).tolist()

    @pytest.mark.slow
    def test_the_public_page_shows_estimates_and_no_true_count(self, replaceable, client) -> None:
        release = finished(replaceable, "response", ["colour"], "1", "unary-encoding")
        services.publish(release, replaceable.owner)
        text = page_of(client, release)
        # A third of the people say each colour.
        assert "No group is certainly the largest." in text and "The largest group" not in text
        assert "True count" not in text
        # One kind is shown, the other is a switch, in the chart and in the table.
        figure = results.stored_page(release)["figure"]
        hidden = {trace["meta"]: trace["visible"] for trace in figure["json"]["data"]}
        assert hidden == {"noisy": True, "synthetic": False} and 'id="adjusted-shown"' in text
        # The table calls a number what the chart above it calls it.
        assert text.count("Noisy count") > 1 and "Estimate<" not in text
