"""The client has values chosen as the page does: planned, asked for, paid for once, waited for."""

from __future__ import annotations

import re
from decimal import Decimal
from html import unescape
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from django.core.wsgi import get_wsgi_application
from django.urls import reverse

from dpportal.api.dpclient import Portal, PortalError
from dpportal.budgets import ledger
from dpportal.budgets.models import Budget
from dpportal.datasets.declared import declared_of
from dpportal.value_choices.execution import CHOICES
from dpportal.value_choices.models import ValueChoice
from tests.dpportal.api.calling import Program

ADDRESS = "http://testserver"
COST = {"amount": "0.5", "delta": "0.0000001"}
EXAMPLES = Path("dpportal/api/README.md")


@pytest.fixture
def wsgi() -> httpx.WSGITransport:
    return httpx.WSGITransport(app=get_wsgi_application())


@pytest.fixture
def known(program, dataset, wsgi):
    """The dataset, as the client has it."""
    with Portal(ADDRESS, program.text, transport=wsgi) as portal:
        yield portal.dataset(str(dataset.pk))


@pytest.fixture
def coloured(dataset, administrator):
    terms = ledger.GrantTerms(delta=Decimal("0.000001"))
    ledger.grant(dataset, Decimal(1), definition="pure", reason="Colours", by=administrator, terms=terms)
    return dataset


def page(client, dataset) -> str:
    client.force_login(dataset.owner)
    answer = client.get(reverse("values:choose", args=[dataset.pk, 0]), COST)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", answer.text)).split())


@pytest.mark.slow
def test_a_choice_is_planned_paid_for_once_and_waited_for(client, coloured, known):
    plan = known.plan_values("colour", **COST)
    shown = page(client, coloured)
    assert (
        all(f"{chance} {people}" in shown for chance, people in plan.people.items())
        and plan.people["50 %"] == 30
    )
    assert (plan.counted_in, plan.amount, plan.unpaid, plan.second_person) == ("ε", "0.50", "", "")
    key = str(uuid4())
    first, again = plan.spend(key=key), plan.spend(key=key)
    assert first.id == again.id and first.kept is None
    CHOICES.run(ValueChoice.objects.get().pk)
    done = first.wait()
    assert (done.kept, done.undeclared, done.cost) == (["blue", "green", "red"], "", "ε 0.50, δ 10⁻⁷")
    assert known.value_choice(done.id).kept == done.kept
    assert "blue" in declared_of(coloured)["colour"].labels() and Budget.of(coloured).spent == Decimal("0.5")


@pytest.mark.slow
def test_what_cannot_be_paid_is_asked_for_in_the_pages_words(client, dataset, known):
    plan = known.plan_values("colour", **COST)
    assert plan.unpaid and plan.unpaid in page(client, dataset)
    with pytest.raises(PortalError) as refused:
        plan.spend()
    assert str(refused.value) == plan.unpaid
    assert plan.ask("Colours, of which no list is public")["asked"]["cost"] == "ε 0.50, δ 10⁻⁷"
    assert dataset.budget_requests.get().delta == Decimal(COST["delta"]) and not ValueChoice.objects.exists()


@pytest.mark.slow
def test_a_choice_that_was_given_up_raises_with_the_portals_sentence(coloured, known):
    choice = known.plan_values("colour", **COST).spend()
    type(coloured).objects.filter(pk=coloured.pk).update(state=coloured.State.ERASED)
    CHOICES.run(ValueChoice.objects.get().pk)
    with pytest.raises(PortalError, match="were deleted before the job began"):
        choice.wait()


def test_a_column_whose_values_cannot_be_chosen_is_refused(dataset, known):
    for column, status in (("age", 409), ("size", 422)):
        with pytest.raises(PortalError) as refused:
            known.plan_values(column, **COST)
        assert refused.value.status == status


@pytest.fixture
def environment(dataset, curator, monkeypatch):
    """What the README's example reads."""
    told = {"PORTAL": ADDRESS, "TOKEN": Program(curator, limit="10").text, "DATASET": str(dataset.pk)}
    for name, value in told.items():
        monkeypatch.setenv(name, value)


@pytest.mark.slow
def test_the_example_is_done_once_however_often_it_is_run(environment, coloured, wsgi):
    """Once it was paid for, the declaration is another one, and nothing is left of the budget."""
    everything = {"amount": str(Budget.of(coloured).left), "delta": COST["delta"]}
    first = run_example(wsgi, everything)
    CHOICES.run(ValueChoice.objects.get().pk)
    again = run_example(wsgi, everything)
    assert (first.id, first.kept) == (again.id, None) and again.kept == ["blue", "green", "red"]
    assert "colour" in declared_of(coloured) and Budget.of(coloured).left == 0
    assert ValueChoice.objects.count() == 1 and not coloured.budget_requests.exists()


@pytest.mark.slow
def test_the_example_asks_for_what_the_budget_lacks(environment, dataset, wsgi):
    with pytest.raises(SystemExit, match="Ask an administrator to grant δ"):
        run_example(wsgi, COST)
    assert dataset.budget_requests.get().delta == Decimal(COST["delta"])


def run_example(wsgi, cost: dict[str, str]) -> Any:
    """The choice that the README's example makes, but for its column and cost, and without the wait for a worker."""
    blocks = re.findall(r"```python\n(.*?)```", EXAMPLES.read_text(), re.S)
    [example] = [text for text in blocks if "plan_values" in text]
    ours = {"town": "colour", "0.2": cost["amount"], "0.000000001": cost["delta"]}
    for said, instead in ours.items():
        example = example.replace(f'"{said}"', f'"{instead}"')
    shortened = example.replace(".wait()", "").replace("from dpclient import Portal, PortalError", "")
    names = {
        "Portal": lambda address, token: Portal(address, token, transport=wsgi),
        "PortalError": PortalError,
    }
    exec(compile(shortened, str(EXAMPLES), "exec"), names)
    return names["choice"]
