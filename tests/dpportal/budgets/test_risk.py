"""A cost as one person's risk: sentences with numbers that can be worked out by hand, and the page to try them."""

from __future__ import annotations

import pytest

from dpportal.budgets.risk import Risk
from dpportal.publications import cost
from mechanisms.accounting import Definition, Neighbours

PURE, ZCDP = Definition.PURE, Definition.ZCDP


def test_a_suspicion_moves_by_the_factor_of_the_loss():
    """Odds of 1 : 9 become e : 9, that is 23.2 in 100; two steps make it e² : 9, 45.1 in 100."""
    risk = Risk(0.1, PURE, 1.0)
    assert (risk.before, risk.presence, risk.entries, risk.but_for) == ("10 %", "24 %", "46 %", "")


def test_who_is_replaced_is_known_to_be_there():
    risk = Risk(0.1, PURE, 1.0, Neighbours.REPLACE_ONE)
    assert (risk.presence, risk.entries) == ("", "24 %")


def test_hits_of_a_pure_loss_are_those_of_randomised_answers():
    """At 1 % false alarms at most e of a hundred, at 50 % 1 - 0.5 / e."""
    assert dict(Risk(0.1, PURE, 1.0).rates) == {"1 %": "3 %", "5 %": "14 %", "10 %": "28 %", "50 %": "82 %"}


def test_a_concentrated_loss_holds_but_for_a_chance():
    risk = Risk(0.1, ZCDP, 0.5)
    assert (risk.but_for == "10⁻⁶" and risk.presence == "nearly 100 %") or risk.presence.endswith("%")
    # Group privacy needs all orders.
    assert risk.entries and not Risk(0.1, ZCDP, 0.5, whole_orders=True).entries
    assert risk.figure["drawing"]["lines"]


def test_ones_own_cost_stands_among_those_of_others():
    names = [choice.is_own for choice in cost.scale(3.0)]
    assert names == [False, False, True, False, False]
    values = [choice.value for choice in cost.CHOICES]
    assert values == sorted(values) and all(
        f"{v:g}" in c.epsilon for v, c in zip(values, cost.CHOICES, strict=True)
    )
    assert [choice.reach for choice in cost.scale(1000.0)][-1] == 100


@pytest.mark.parametrize("query", ["", "?amount=0.25&prior=1", "?definition=zcdp&amount=0.5&running=on"])
def test_the_page_works_by_its_address_alone(client, query):
    page = client.get(f"/guide/risk/{query}")
    assert page.status_code == 200
    assert "Best attack" in page.text and "Hits, at most" in page.text


def test_what_is_no_number_is_said(client):
    for query in ("?amount=-1", "?amount=much", "?prior=100", "?definition=other", "?delta_exponent=999"):
        page = client.get(f"/guide/risk/{query}")
        assert page.status_code == 200 and "Type a plain number" in page.text
    assert client.get("/guide/risk/figure/?amount=2").text.count("<table") == 1
