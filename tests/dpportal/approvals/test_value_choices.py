"""Choices of values above the threshold wait for a second person as releases do."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from django.urls import reverse

from dpportal.accounts.models import Role
from dpportal.approvals.models import Approval
from dpportal.budgets import ledger
from dpportal.budgets.ledger import BudgetRefusedError
from dpportal.budgets.models import Budget
from dpportal.datasets import services as datasets
from dpportal.datasets.declared import declared_of
from dpportal.datasets.models import Dataset
from dpportal.platform.two_people import TwoPeople
from dpportal.value_choices import services as value_choices
from dpportal.value_choices.execution import CHOICES
from dpportal.value_choices.models import ValueChoice
from tests.dpportal.api.calling import Program
from tests.dpportal.approvals.conftest import answers, desk_of

State = Approval.State
COST, SMALL = "?amount=0.50&delta=0.0000001", "?amount=0.2&delta=0.0000001"


@pytest.fixture
def coloured(dataset, administrator, two_people) -> Dataset:
    """With a δ; ε above 0.2 needs a second person."""
    terms = ledger.GrantTerms(delta=Decimal("0.000001"))
    ledger.grant(dataset, Decimal(1), definition="pure", reason="Colours", by=administrator, terms=terms)
    return dataset


def page(dataset: Dataset) -> str:
    return reverse("values:choose", args=[dataset.pk, 0])


def confirms(dataset: Dataset, cost: str = COST):
    """The page after its curator has confirmed."""
    desk = desk_of(dataset.owner)
    reviewed = re.search(r'name="reviewed" value="(\w+)"', desk.get(page(dataset) + cost).text)
    assert reviewed
    return desk.post(page(dataset) + cost, {"reviewed": reviewed[1], "agreed": "on"}, follow=True)


def test_a_large_choice_is_asked_for_and_made_once_approved(coloured, second):
    assert "Ask for a second person" in desk_of(coloured.owner).get(page(coloured) + COST).text
    shown = confirms(coloured)
    assert "This waits for an administrator to approve what curator asked for" in shown.text
    approval = Approval.objects.get()
    assert approval.summary == "Spend ε 0.50, δ 10⁻⁷ of “Small table” on “Values of colour”."
    assert approval.address == page(coloured) + COST
    assert not ValueChoice.objects.exists() and Budget.of(coloured).reserved == 0
    assert "Approved, and done." in answers(second, approval).text
    choice = ValueChoice.objects.get()
    assert (str(choice.pk), choice.created_by) == (approval.subject, coloured.owner)
    assert choice.charge.reason == "Values of colour (approved by second)"
    CHOICES.run(choice.pk)
    assert declared_of(coloured)["colour"].labels()[:3] == ["blue", "green", "red"]


def test_a_small_one_goes_on_at_once(coloured):
    confirms(coloured, SMALL)
    assert ValueChoice.objects.exists() and not Approval.objects.exists()


def test_no_code_chooses_without(coloured):
    plan = value_choices.plan_of(coloured, Decimal("0.5"), Decimal("0.0000001"))
    reviewed = value_choices.reviewed_as(coloured, "colour", plan)
    with pytest.raises(BudgetRefusedError, match="needs a second person"):
        value_choices.request(coloured, "colour", plan, reviewed=reviewed, by=coloured.owner)
    assert not ValueChoice.objects.exists()


def test_a_later_request_for_the_column_replaces_the_earlier(coloured):
    confirms(coloured)
    confirms(coloured)
    assert Approval.objects.get().state == State.WAITING
    confirms(coloured, "?amount=0.6&delta=0.0000001")
    states = list(Approval.objects.order_by("pk").values_list("state", flat=True))
    assert states == [State.REPLACED, State.WAITING]


def test_a_refusal_is_read_on_the_page_and_may_be_asked_again(coloured, second):
    confirms(coloured)
    answers(second, Approval.objects.get(), "refuse", reason="Half of it would do.")
    assert "Half of it would do." in desk_of(coloured.owner).get(page(coloured) + COST).text
    confirms(coloured)
    answers(second, Approval.objects.latest("pk"))
    assert ValueChoice.objects.count() == 1


@pytest.mark.parametrize("change", ["declaration", "budget", "right", "made"])
def test_what_is_not_possible_any_more_is_not_made(coloured, second, administrator, change, settings):
    confirms(coloured)
    if change == "declaration":
        datasets.declare_unit(coloured, neighbours="replace-one", unit_column="", max_rows=1)
    if change == "budget":
        reduced = Decimal("1.8")
        ledger.reduce(Budget.of(coloured), reduced, reason="Taken back", by=administrator)
    if change == "right":
        coloured.owner.role = Role.ANALYST
        coloured.owner.save()
    if change == "made":
        wish, settings.TWO_PEOPLE = settings.TWO_PEOPLE, TwoPeople()
        confirms(coloured)
        settings.TWO_PEOPLE = wish
    before = ValueChoice.objects.count()
    assert "Nothing was done" in answers(second, Approval.objects.get()).text
    assert Approval.objects.get().state == State.OUTDATED
    assert ValueChoice.objects.count() == before


def test_what_could_not_be_paid_is_not_asked_for(coloured, administrator):
    desk = desk_of(coloured.owner)
    reviewed = re.search(r'name="reviewed" value="(\w+)"', desk.get(page(coloured) + COST).text)
    ledger.reduce(Budget.of(coloured), Decimal("1.8"), reason="Taken back", by=administrator)
    shown = desk.post(page(coloured) + COST, {"reviewed": reviewed[1], "agreed": "on"})
    assert "has ε = 0.20 left" in shown.text and not Approval.objects.exists()


def test_a_program_is_told_to_ask_on_the_page(coloured):
    """What is spent once somebody approved it would be no token's."""
    program, address = Program(coloured.owner), f"/datasets/{coloured.pk}/values"
    wanted = {"column": "colour", "amount": "0.5", "delta": "0.0000001"}
    plan = program.said("post", f"{address}/plan", wanted)
    assert plan["second_person"] == "needed"
    spend = {**wanted, "reviewed": plan["reviewed"], "agreed": True}
    refused = program.said("post", address, spend, 409)
    assert refused["page"] == f"http://testserver{page(coloured)}{COST}"
    for wrong, status in (({"agreed": False}, 422), ({"reviewed": "x"}, 409)):
        told = program.said("post", address, {**spend, **wrong}, status)
        assert "second person" not in told["detail"] and "page" not in told
    assert "needs a second person" in refused["detail"] and not Approval.objects.exists()
    confirms(coloured)
    assert program.said("post", f"{address}/plan", wanted)["second_person"] == "waiting"
    small = {**wanted, "amount": "0.2"}
    assert program.said("post", f"{address}/plan", small)["second_person"] == ""
