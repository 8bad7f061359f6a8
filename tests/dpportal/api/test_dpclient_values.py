"""The client has values chosen as the page does: planned, asked for, paid for once, waited for."""

from __future__ import annotations

import re
from decimal import Decimal
from html import unescape
from pathlib import Path
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


@pytest.mark.slow
def test_the_example_does_what_it_says(coloured, curator, wsgi, monkeypatch, capsys):
    """As it stands in the README, but for the column, and without the wait for a worker."""
    blocks = re.findall(r"```python\n(.*?)```", EXAMPLES.read_text(), re.S)
    [example] = [text for text in blocks if "plan_values" in text]
    program = Program(curator)
    for name, value in {"PORTAL": ADDRESS, "TOKEN": program.text, "DATASET": str(coloured.pk)}.items():
        monkeypatch.setenv(name, value)
    shortened = (
        example.replace('"town"', '"colour"')
        .replace(".wait()", "")
        .replace("from dpclient import Portal", "")
    )
    names = {"Portal": lambda address, token: Portal(address, token, transport=wsgi)}
    exec(compile(shortened, str(EXAMPLES), "exec"), names)
    assert "ε 0.20, δ 10⁻⁹ None" in capsys.readouterr().out
    assert ValueChoice.objects.get().column == "colour"
