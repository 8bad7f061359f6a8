"""What a synthetic table says of itself: true of its method, of the files there are, of the measured pairs."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from decimal import Decimal

import pandas as pd
import pytest
from django.template.loader import render_to_string

from dpportal.accounts.models import User
from dpportal.datasets import services as dataset_services
from dpportal.datasets.models import Dataset
from dpportal.releases import drafts, services
from dpportal.releases.models import Release
from dpportal.releases.products import planner_of
from mechanisms import registry
from tests.dpportal import building
from tests.dpportal.releases.products.building import files, finished, page_of
from tests.dpportal.releases.products.microdata.test_product import ANSWER, COLUMNS, five_columns

# What a curator types who knows the exact number of rows, in no other figure of a release.
EXACTLY = 8_765_433


@pytest.fixture
def wide(curator: User, administrator: User) -> Dataset:
    return building.granted(five_columns(curator), administrator, "100")


def released(
    dataset: Dataset, method: str, columns: list[str] = COLUMNS, amount: str = "50", **parameters
) -> Release:
    parameters = {"wishes": {}, "rows": None, **parameters}
    return finished(dataset, "microdata", columns, amount, method, people=EXACTLY, **parameters)


def test_the_review_names_columns_as_readers_see_them(wide) -> None:
    """It named the target, pairs and dependencies as the file does, where other products say their titles."""
    rows = wide.current_domain().attributes.all()
    dataset_services.declare_all(wide, [replace(row.declared(), title=f"own {row.column}") for row in rows])
    wishes = {
        "target": "job", "required": [["age", "ill"]], "follows": [["job", "ill"]], "weights": {"age": 3},
    }  # fmt: skip
    draft = Release.objects.create(
        dataset=wide, created_by=wide.owner, product="microdata", title="Rows", mechanism="latent-classes",
        columns=["age", "job", "ill"], amount=Decimal(1), people=300,
        parameters={"wishes": wishes, "rows": None},
    )  # fmt: skip
    _version, plan = drafts.plan_of(draft)
    context = {"plan": plan, "release": draft, **planner_of(draft).offer(plan, draft)}
    page = render_to_string("releases/microdata/_review.html", context)
    text = " ".join(re.sub("<[^>]*>", " ", page).split())
    assert "3 own age, own job, own ill" in text
    for words in ("Target column own job", "own age × own ill", "own ill from own job", "own age: 3"):
        assert words in text


def test_every_method_says_what_can_be_relied_on() -> None:
    assert all("relied_on" in vars(type(method)) for method in registry.MICRODATA)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "claim"),
    [
        ("tree-of-pairs", "of the measured pairs are near to the truth"),
        ("principal-components", "No pair was counted by itself"),
        ("private-partition", "counted in blocks of all columns at once"),
        ("independent-columns", "no column tells anything of another"),
    ],
)
def test_readme_and_page_say_what_holds_for_the_method(wide, client, method, claim) -> None:
    release = released(wide, method, ["age", "job", "ill"])
    services.publish(release, wide.owner)
    given = files(release)
    readme, page = given["README.md"].decode(), page_of(client, release)
    for text in (readme, page, given["report.html"].decode()):
        assert claim in text
        assert ("measured pairs are near" in text) is (method == "tree-of-pairs")
    named = set(re.findall(r"`(\w+\.(?:csv|parquet|json|html))`", readme))
    assert named - {"codebook.csv"} <= set(given)
    assert ("measured.csv" in given) is (method == "tree-of-pairs")


@pytest.mark.slow
def test_the_curators_number_of_people_is_in_nothing_public(wide, client) -> None:
    """Its digits are in no file, and no figure is for so many: errors are for the noisy total."""
    release = released(wide, "tree-of-pairs", ["age", "job", "ill"])
    services.publish(release, wide.owner)
    given = {**files(release), "page": page_of(client, release).encode()}
    for name, content in given.items():
        for written in (f"{EXACTLY}", f"{EXACTLY:,}", f"{EXACTLY / 1e6:.2f}"):
            assert written.encode() not in content, name
    assert "people" not in json.loads(given["release.json"])["plan"]


@pytest.mark.slow
def test_where_columns_are_kept_the_page_tells_of_their_pairs_alone(wide, client) -> None:
    """The mean of a pair's error by pairs.csv: cells times mean noise, its standard error over √2, over twice 300."""
    wishes = {"target": "ill", "required": [["age", "job"]]}
    release = released(wide, "tree-of-pairs", amount="5", wishes=wishes, keep=3)
    client.force_login(wide.owner)
    assert client.get(release.get_absolute_url()).status_code == 200
    shown = client.get(release.get_absolute_url()).context["shown"]
    pairs = pd.read_csv(io.BytesIO(files(release)["pairs.csv"])).query("measured")
    (used,) = (line for line in shown["expected"] if line["used"])
    assert used["pairs"] == shown["measured"] == len(pairs) == 2
    by_file = (pairs["groups"] * pairs["standard_error"]).mean() / 2**0.5 / (2 * 300)
    assert shown["pair_error"] == pytest.approx(by_file, rel=0.2)
    # Any method could have made it.
    assert {line["title"] for line in shown["expected"]} >= {"Clusters", "Private partition"}


@pytest.mark.slow
def test_what_was_declared_not_to_occur_is_no_finding_of_the_rows(wide, client) -> None:
    zeros = [["ill", "true", "job", "j2"], ["ill", "true", "age", "0-4"]]
    release = released(wide, "clusters", wishes={"target": "ill", "zeros": zeros}, keep=3)
    services.publish(release, wide.owner)
    page, given = page_of(client, release), files(release)
    for text in (page, given["report.html"].decode()):
        assert "Known beforehand" in text and "<li>ill = true, job = j2</li>" in text
    assert "pairs of values were declared from public knowledge" in given["README.md"].decode()
    client.force_login(wide.owner)
    without = page_of(client, released(wide, "tree-of-pairs"))
    assert "Known beforehand" not in without


class TestWizard:
    def draft(self, dataset: Dataset, client, **answer) -> Release:
        client.force_login(dataset.owner)
        draft = Release.objects.create(dataset=dataset, created_by=dataset.owner, product="microdata")
        assert client.post(f"/releases/{draft.pk}/columns/", {**ANSWER, **answer}).status_code == 302
        return draft

    def chosen(self, client, draft: Release, method: str, amount: str = "1"):
        return client.post(f"/releases/{draft.pk}/method/", {"mechanism": method, "amount": amount})

    @pytest.mark.slow
    def test_the_review_shows_all_wishes(self, wide, client) -> None:
        draft = self.draft(wide, client, required_pairs="job, since")
        assert self.chosen(client, draft, "tree-of-pairs").status_code == 302
        text = client.get(f"/releases/{draft.pk}/review/").content.decode()
        assert "age: 2; age × since: 5" in text and "job × since" in text
        assert "does not use" not in text

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("method", "unused"),
        [
            ("independent-columns", "the target column, weights of columns, weights of pairs"),
            ("private-partition", "weights of pairs"),
        ],
    )
    def test_what_a_method_does_not_use_is_said_before_it_is_chosen_and_after(
        self, wide, client, method, unused
    ) -> None:
        draft = self.draft(wide, client)
        sentence = f"This method does not use {unused}."
        assert sentence in client.get(f"/releases/{draft.pk}/method/").content.decode()
        assert self.chosen(client, draft, method).status_code == 302
        assert sentence in client.get(f"/releases/{draft.pk}/review/").content.decode()

    @pytest.mark.slow
    def test_a_cost_above_what_is_left_is_asked_for(self, wide, client) -> None:
        draft = self.draft(wide, client)
        assert self.chosen(client, draft, "tree-of-pairs", "101").status_code == 302
        review = client.get(f"/releases/{draft.pk}/review/").content.decode()
        assert "Ask for this" in review and "Spend ε" not in review
        # To the last millionth it is enough.
        assert self.chosen(client, draft, "tree-of-pairs", "100").status_code == 302
        draft.refresh_from_db()
        assert draft.amount == Decimal(100)

    @pytest.mark.slow
    def test_a_target_that_chose_the_columns_was_used(self, wide, client) -> None:
        draft = self.draft(wide, client, keep=3, weights="age, 2")
        assert self.chosen(client, draft, "clusters").status_code == 302
        text = client.get(f"/releases/{draft.pk}/review/").content.decode()
        assert (
            "uses the target column only to choose columns. This method does not use weights of columns."
            in text
        )

    @pytest.mark.slow
    def test_many_values_that_cannot_occur_are_counted_and_the_first_named(self, wide, client) -> None:
        zeros = "\n".join(f"job, j{job}, since, 2000-{month:02d}" for month in range(1, 13) for job in (0, 1))
        draft = self.draft(wide, client, keep=3, zeros=zeros)
        assert self.chosen(client, draft, "clusters").status_code == 302
        text = client.get(f"/releases/{draft.pk}/review/").content.decode()
        assert "<dd>24 <small>job = j0, since = 2000-01;" in text
        assert text.count("since = 2000") == 20 and "Where one of the two columns is not kept" in text
