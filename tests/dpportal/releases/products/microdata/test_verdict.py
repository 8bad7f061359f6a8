"""The verdict on synthetic rows, before and after they are made."""

from __future__ import annotations

from decimal import Decimal

import pytest

from dpportal.accounts.models import User
from dpportal.datasets import records
from dpportal.datasets.models import Dataset
from dpportal.releases import drafts
from dpportal.releases.models import Release
from dpportal.releases.products import confirmed_plan, planner_of, presenter_of
from dpportal.releases.wizard.dial import usual_amount, worth_of
from mechanisms.accounting import Definition
from tests.dpportal import building
from tests.dpportal.releases.products.microdata.test_product import COLUMNS, five_columns, made


@pytest.fixture
def wide(curator: User, administrator: User) -> Dataset:
    return building.granted(five_columns(curator), administrator, "100")


def test_rows_without_dependence_are_doubtful_whatever_they_cost(wide) -> None:
    draft = Release(dataset=wide, created_by=wide.owner, product="microdata", people=100_000)
    draft.columns, draft.mechanism, draft.amount = COLUMNS, "independent-columns", Decimal("50")
    draft.parameters = {"wishes": {}}
    _version, plan = drafts.plan_of(draft)
    verdict = planner_of(draft).verdict(plan, draft)
    assert verdict is not None and verdict.level == "doubtful"
    assert verdict.amount(draft.amount, Definition.PURE) is None
    assert verdict.text.endswith("no dependence between columns, whatever they cost.")


def test_a_draft_begins_at_a_tenth_of_what_is_left_since_single_columns_are_useful_before_their_pairs(
    wide,
) -> None:
    draft = Release(dataset=wide, created_by=wide.owner, product="microdata", people=100_000)
    draft.columns, draft.mechanism, draft.parameters = COLUMNS, "tree-of-pairs", {"wishes": {}}
    assert usual_amount(draft) == 10
    draft.amount = Decimal(10)
    _version, plan = drafts.plan_of(draft)
    assert planner_of(draft).verdict(plan, draft).level == "useful"
    assert worth_of(draft, plan, draft.amount) == ""


@pytest.mark.slow
@pytest.mark.parametrize("amount, expected", [("50", "useful"), ("0.01", "useless")])
def test_a_verdict_before_and_after(client, wide, amount, expected) -> None:
    release = made(wide, amount=amount)
    before = planner_of(release).verdict(confirmed_plan(release), release)
    comparison = records.comparison(wide.pk, release.pk)
    assert before is not None and comparison is not None
    assert (after := presenter_of(release).verdict(comparison)) is not None
    assert (before.level, after.is_useful) == (expected, expected == "useful")
    (pairs,) = (mean["synthetic"] for mean in comparison["means"] if mean["columns"] == 2)
    assert f"{100 * pairs:.0f} %" in after.text
    client.force_login(wide.owner)
    page = client.get(f"/releases/{release.pk}/publish/").content.decode()
    assert ("publish it all the same" in page) is (expected == "useless")
