"""A cost as one person's risk: sentences with numbers that can be worked out by hand, and the page to try them."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pytest

from dpportal.budgets.promises import AccountPromise
from dpportal.budgets.risk import Risk
from dpportal.datasets.protection import Protection
from dpportal.publications import cost
from mechanisms.accounting import Definition, Neighbours

PURE, ZCDP = Definition.PURE, Definition.ZCDP


def test_a_suspicion_moves_by_the_factor_of_the_loss():
    """Odds of 1 : 9 become e : 9, that is 23.2 in 100; two steps make it e² : 9, 45.1 in 100."""
    risk = Risk(0.1, PURE, 1.0)
    assert (risk.before, risk.presence, risk.entries, risk.but_for) == ("10 %", "24 %", "46 %", "")


@pytest.mark.parametrize(
    "typed, said", [("10", "10 %"), ("0.01", "0.01 %"), ("99.95", "99.95 %"), ("99.99", "99.99 %")]
)
def test_a_suspicion_is_said_as_it_was_typed(typed, said):
    """It is never rounded to certainty, which nothing could raise."""
    assert Risk(float(typed) / 100, Definition.PURE, 1.0).before == said


def test_who_is_replaced_is_known_to_be_there():
    risk = Risk(0.1, PURE, 1.0, Neighbours.REPLACE_ONE)
    assert (risk.presence, risk.entries) == ("", "24 %")


def test_who_is_replaced_is_not_accused_of_being_there(client):
    """Everybody knows who is in the data: an attack can only tell what their entries are."""
    page = client.get("/guide/risk/?definition=pure&amount=0.79&neighbours=replace-one").text
    assert (
        "How well anybody can tell what your entries are" in page and "which of two possible entries" in page
    )
    assert "you are in the data" not in page and "data are in it" not in page
    assert "How well anybody can tell that you are in the data" in client.get("/guide/risk/?amount=0.79").text


def test_hits_of_a_pure_loss_are_those_of_randomised_answers():
    """At 1 % false alarms at most e of a hundred, at 50 % 1 - 0.5 / e."""
    assert dict(Risk(0.1, PURE, 1.0).rates) == {"1 %": "3 %", "5 %": "14 %", "10 %": "28 %", "50 %": "82 %"}


def test_a_concentrated_loss_holds_but_for_a_chance():
    risk = Risk(0.1, ZCDP, 0.5)
    assert (risk.but_for == "10⁻⁶" and risk.presence == "nearly 100 %") or risk.presence.endswith("%")
    # Group privacy needs all orders.
    assert risk.entries and not Risk(0.1, ZCDP, 0.5, whole_orders=True).entries
    assert risk.figure["drawing"]["lines"]


def test_a_delta_that_is_spent_stands_beside_the_loss():
    """Two steps at ε = 1 make δ (1 + e) of it; with ρ it comes on top of the δ at which that is read."""
    risk = Risk(0.1, PURE, 1.0, delta=Decimal("1e-7"))
    assert risk.pair == "1, δ = 10⁻⁷" and risk.presence == "24 %"
    grown = float(risk.but_for.split(" ")[0]) * 1e-7
    assert 1e-7 * (1 + math.e) <= grown < 1.01e-7 * (1 + math.e)
    assert Risk(0.1, PURE, 1.0, Neighbours.REPLACE_ONE, delta=Decimal("1e-7")).but_for == "10⁻⁷"
    assert Risk(0.1, ZCDP, 0.1).pair.endswith(", δ = 10⁻⁶")
    assert Risk(0.1, ZCDP, 0.1, delta=Decimal("1e-6")).pair.endswith(", δ = 2 × 10⁻⁶")


@pytest.mark.parametrize("alarms", [0.0, 0.01, 0.3, 0.99, 1.0])
def test_hits_with_a_delta_are_those_of_its_trade_off(alarms):
    """max(0, 1 - δ - e^ε h, e^-ε (1 - δ - h)) of misses (Kairouz, Oh, Viswanath 2015)."""
    epsilon, delta = 0.7, 0.05
    misses = max(0.0, 1 - delta - math.exp(epsilon) * alarms, math.exp(-epsilon) * (1 - delta - alarms))
    [hits] = Risk(0.1, PURE, epsilon, delta=Decimal("0.05")).hits(np.array([alarms]))
    assert hits == pytest.approx(1 - misses, abs=1e-12)


def test_the_page_names_the_delta_of_ones_own_cost(client):
    """Of a ρ that at which it is read, and of a cost that spent some that, as the costs of a dataset link to it."""
    own = client.get("/guide/risk/?definition=zcdp&amount=0.1&delta_exponent=8").text
    assert f"{Risk(0.1, ZCDP, 0.1, delta_exponent=8).epsilon:.3g}, δ = 10⁻⁸" in own
    spent = AccountPromise(Protection(), PURE, Decimal(1), "a row", delta=Decimal("0.0000001"))
    page = client.get(f"/guide/risk/?{spent.as_risk}").text
    assert "1, δ = 10⁻⁷" in page and "But for a chance of" in page


def test_ones_own_cost_stands_among_those_of_others():
    names = [choice.is_own for choice in cost.scale(3.0, "3")]
    assert names == [False, False, True, False, False]
    values = [choice.value for choice in cost.CHOICES]
    assert values == sorted(values) and all(
        f"{v:g}" in c.epsilon for v, c in zip(values, cost.CHOICES, strict=True)
    )
    assert [choice.reach for choice in cost.scale(1000.0, "1000")][-1] == 100


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
