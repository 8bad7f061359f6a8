"""Choosing a stream's cost and strategy: the dial, and what is recommended."""

from __future__ import annotations

import numpy as np
import pytest

from dpportal.jobs import search_cache
from dpportal.jobs.search_cache import SEARCHES
from dpportal.streams import drafts, execution, strategy_page
from dpportal.streams.execution import Update
from dpportal.streams.models import Period
from mechanisms import registry
from tests.dpportal.streams import building


@pytest.mark.slow
def test_the_dial_finds_the_cost_of_a_typical_margin(curious, dataset) -> None:
    draft = building.draft_stream(dataset)
    address = f"/streams/{draft.pk}/strategy/dial/"
    found = curious.get(address, {"half_width": "40", "mechanism": "fda"}).json()
    assert 38 <= found["half_width"] <= 40
    at_half = curious.get(address, {"epsilon": str(float(found["amount"]) / 2), "mechanism": "fda"}).json()
    assert 70 <= at_half["half_width"] <= 85
    assert "makes any result at most" in found["meaning"]
    for wrong in ({"half_width": "0"}, {"half_width": "wide"}, {"epsilon": "-1"}):
        answer = curious.get(address, wrong)
        assert answer.status_code == 200 and answer.json()["error"]


@pytest.mark.slow
def test_using_a_recommended_strategy_leads_to_the_review(curious, dataset) -> None:
    draft = building.draft_stream(dataset, mechanism="", amount=None)
    page = curious.get(f"/streams/{draft.pk}/strategy/")
    names = [choice["offer"].mechanism.name for choice in page.context["recommended"]]
    assert 1 <= len(names) <= 2 and names[0] == page.context["suggested"].mechanism.name
    answer = curious.post(
        f"/streams/{draft.pk}/strategy/", {"amount": "0.5", "mechanism": "fda", "use": names[-1]}
    )
    assert answer.url == f"/streams/{draft.pk}/review/"
    draft.refresh_from_db()
    assert draft.mechanism == names[-1]
    title = registry.stream(draft.mechanism).title
    assert f"<dt>Method</dt><dd>{title}</dd>" in curious.get(answer.url).content.decode()


def test_no_method_has_a_better_number_on_the_dial_than_the_recommended_one(curious, dataset) -> None:
    """Of the last of 120 running counts another's margin is less, as a block of periods ends with it."""
    draft = building.draft_stream(dataset, horizon=120, mechanism="")
    shown = strategy_page.strategies(draft, drafts.offers(draft, draft.amount), "", draft.amount)
    margins = [choice["margin"] for choice in shown["recommended"]]
    ends = [choice["half_width"] for choice in shown["recommended"]]
    assert margins == sorted(margins) and len(margins) == 2 and ends[1] < ends[0]
    address = f"/streams/{draft.pk}/strategy/dial/"
    first, second = (
        curious.get(
            address, {"epsilon": str(draft.amount), "mechanism": choice["offer"].mechanism.name}
        ).json()
        for choice in shown["recommended"]
    )
    assert first["half_width"] < second["half_width"]
    assert shown["chosen_error"] == first["half_width"]


@pytest.mark.parametrize(
    ("expected", "said"), [(100_000, "useful"), (100, "coarse"), (40, "doubtful"), (10, "useless")]
)
def test_a_curator_is_told_whether_noise_leaves_anything(curious, dataset, expected, said) -> None:
    """± 38 or so of the last running count at ε = 0.5, whatever is expected."""
    draft = building.draft_stream(dataset, expected=expected)
    for page in ("strategy", "review"):
        verdict = curious.get(f"/streams/{draft.pk}/{page}/").context["verdict"]
        assert verdict.level == said, verdict
        assert (verdict.calmer == 1) == (said == "useful")


@pytest.mark.parametrize(
    ("expected", "first"), [(100_000, None), (600, 2), (170, 6)], ids=["all", "not the first", "late"]
)
def test_a_verdict_says_from_which_period_on_a_count_can_be_read(curious, dataset, expected, first) -> None:
    """By the plan's own margins, of a third of an evenly growing count at most."""
    draft = building.draft_stream(dataset, expected=expected)
    _version, plan = drafts.plan_of(draft)
    widths = registry.stream(plan.mechanism).half_widths(plan, np.arange(1, 13))
    readable = widths <= expected * np.arange(1, 13) / 12 / 3
    said = "from the first period on" if first is None else f"from period {first} on; before, noise hides it"
    assert readable[(first or 1) - 1 :].all() and (first is None or not readable[first - 2])
    for page in ("strategy", "review"):
        assert f"it can be read {said}." in curious.get(f"/streams/{draft.pk}/{page}/").text


def test_a_verdict_says_where_what_is_new_in_a_period_is_noise(curious, dataset) -> None:
    draft = building.draft_stream(dataset, expected=400)
    page = curious.get(f"/streams/{draft.pk}/strategy/").text
    assert "What is new in a single period cannot be read: about 33, ±" in page.replace("\u00a0", " ")
    draft = building.draft_stream(dataset, expected=100_000)
    assert "What is new" not in curious.get(f"/streams/{draft.pk}/strategy/").text


@pytest.mark.slow
def test_the_cost_that_would_do_is_a_link(curious, dataset) -> None:
    draft = building.draft_stream(dataset, expected=160)
    page = curious.get(f"/streams/{draft.pk}/strategy/")
    better = page.context["better_amount"]
    assert f"?amount={better.normalize():f}" in page.text
    there = curious.get(
        f"/streams/{draft.pk}/strategy/", {"amount": str(better), "mechanism": draft.mechanism}
    )
    assert there.context["verdict"].level == "useful"
    assert curious.get(f"/streams/{draft.pk}/strategy/", {"amount": "nan"}).status_code == 200


@pytest.mark.slow
def test_without_an_estimate_its_use_is_in_doubt_and_no_cost_is_said(curious, dataset) -> None:
    draft = building.draft_stream(dataset)
    for page in ("strategy", "review"):
        shown = curious.get(f"/streams/{draft.pk}/{page}/")
        assert shown.context["better_amount"] is None
        assert "Expected: doubtful." in shown.text and "Change the periods" in shown.text
    timing = {"step": "month", "first_day": "2020-03-15", "horizon": "24", "expected": "-1"}
    assert curious.post(f"/streams/{draft.pk}/timing/", timing).status_code == 422


@pytest.mark.slow
def test_the_comparison_says_what_was_found(curious, stream) -> None:
    execution.publish(stream.pk, [Update(1, (100_000,), Period.Source.TYPED)])
    assert curious.get(f"/streams/{stream.pk}/compare/").context["verdict"].level == "useful"


@pytest.mark.slow
def test_a_better_strategy_that_was_worked_out_meanwhile_is_proposed_unless_another_was_chosen(
    curious, dataset
) -> None:
    draft = building.draft_stream(dataset, mechanism="", amount=None, horizon=150)
    address = f"/streams/{draft.pk}/strategy/"
    page = curious.get(address)
    proposed = page.context["chosen"]
    assert "being worked out" in page.text and proposed != "p-identity"
    for working in SEARCHES.jobs():
        search_cache.SEARCHES.run(working.pk)
    typed, live = {"amount": "0.5", "mechanism": proposed}, {"HX-Request": "true"}
    found = curious.post(address, {**typed, "proposed_method": proposed}, headers=live)
    assert found.context["chosen"] == "p-identity"
    assert 'name="proposed_method" value="p-identity"' in found.text
    other = "fda" if proposed != "fda" else "x"
    by_hand = curious.post(address, {**typed, "proposed_method": other}, headers=live)
    assert by_hand.context["chosen"] == proposed
