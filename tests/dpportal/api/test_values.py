"""A program has values chosen privately as the page does: planned, paid for once, followed."""

from __future__ import annotations

from decimal import Decimal
from uuid import uuid4

import pytest

from dpportal.budgets import ledger
from dpportal.budgets.models import Budget
from dpportal.value_choices.execution import CHOICES
from dpportal.value_choices.models import ValueChoice
from tests.dpportal import building
from tests.dpportal.api.calling import Program

WANTED = {"column": "colour", "amount": "0.5", "delta": "0.0000001"}


@pytest.fixture
def owned(curator):
    """The small table before a budget was granted."""
    return building.stored_dataset(curator)


@pytest.fixture
def coloured(dataset, administrator):
    terms = ledger.GrantTerms(delta=Decimal("0.000001"))
    ledger.grant(dataset, Decimal(1), definition="pure", reason="Colours", by=administrator, terms=terms)
    return dataset


def test_values_are_planned_paid_for_once_and_declared(coloured, program):
    address = f"/datasets/{coloured.pk}/values"
    plan = program.said("post", f"{address}/plan", WANTED)
    assert (plan["counted_in"], plan["amount"], plan["delta"], plan["unpaid"]) == (
        "ε",
        "0.50",
        "0.0000001",
        "",
    )
    assert {"chance": "50 %", "people": 30} in plan["needed"]
    assert "200 letters" in plan["rules"][0]
    spend, key = {**WANTED, "reviewed": plan["reviewed"], "agreed": True}, str(uuid4())
    program.said("post", address, {**spend, "agreed": False}, 422)
    first = program.said("post", address, spend, 202, Idempotency_Key=key)
    again = program.said("post", address, spend, 200, Idempotency_Key=key)
    assert first["id"] == again["id"] and first["kept"] is None
    CHOICES.run(ValueChoice.objects.get().pk)
    done = program.said("get", f"{address}/{first['id']}")
    assert done["kept"] == ["blue", "green", "red"] and done["cost"] == "ε 0.50, δ 10⁻⁷"
    [shown] = program.said("get", f"/datasets/{coloured.pk}/budgets")["budgets"]
    assert (shown["spent"], shown["delta_granted"], shown["delta_left"]) == ("0.50", "0.000001", "0.0000009")


def test_a_budget_is_asked_for_with_its_delta(dataset, program):
    address = f"/datasets/{dataset.pk}/budgets/ask"
    for wrong, status in (({"column": "size"}, 422), ({"column": "age"}, 409), ({"delta": "1"}, 422)):
        program.said("post", address, {"reason": "Colours", "values": {**WANTED, **wrong}}, status)
    asked = program.said("post", address, {"reason": "Colours", "values": WANTED}, 202)["asked"]
    assert (asked["state"], asked["cost"]) == ("waiting", "ε 0.50, δ 10⁻⁷")
    request = dataset.budget_requests.get()
    assert request.delta == Decimal(WANTED["delta"]) and "/values/0/?amount=0.50" in request.address


def test_a_choice_without_a_budget_is_refused_in_the_plans_words(owned, program):
    address = f"/datasets/{owned.pk}/values"
    plan = program.said("post", f"{address}/plan", WANTED)
    spend = {**WANTED, "reviewed": plan["reviewed"], "agreed": True}
    refused = program.said("post", address, spend, 409)
    assert refused["detail"] == plan["unpaid"] and "no privacy budget yet" in plan["unpaid"]


def test_a_token_spends_no_more_than_its_limit(coloured, curator):
    program = Program(curator, limit="0.4")
    address = f"/datasets/{coloured.pk}/values"
    plan = program.said("post", f"{address}/plan", WANTED)
    program.said("post", address, {**WANTED, "reviewed": plan["reviewed"], "agreed": True}, 403)
    assert Budget.of(coloured).reserved == 0 and not ValueChoice.objects.exists()


@pytest.mark.parametrize(
    ("changed", "status"),
    [({"column": "size"}, 422), ({"delta": "1"}, 422), ({"amount": "0,5"}, 422), ({"column": "age"}, 409)],
)
def test_what_the_page_refuses_a_program_is_refused(coloured, program, changed, status):
    program.said("post", f"/datasets/{coloured.pk}/values/plan", {**WANTED, **changed}, status)
