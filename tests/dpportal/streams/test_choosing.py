"""Choosing a stream's cost and strategy: the dial, and what is recommended."""

from __future__ import annotations

from tests.dpportal.streams import building


def test_the_dial_finds_the_cost_of_an_interval_at_the_end(curious, dataset) -> None:
    draft = building.draft_stream(dataset)
    address = f"/streams/{draft.pk}/strategy/dial/"
    found = curious.get(address, {"half_width": "40", "mechanism": "fda"}).json()
    assert 38 <= found["half_width"] <= 40
    at_half = curious.get(address, {"epsilon": str(float(found["amount"]) / 2), "mechanism": "fda"}).json()
    assert 70 <= at_half["half_width"] <= 85
    assert "changes the chance" in found["meaning"]
    for wrong in ({"half_width": "0"}, {"half_width": "wide"}, {"epsilon": "-1"}):
        answer = curious.get(address, wrong)
        assert answer.status_code == 400 and answer.json()["error"]


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
