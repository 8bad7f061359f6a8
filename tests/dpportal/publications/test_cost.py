"""What a cost means: factors rounded up, and a remark where the promise is weak."""

from __future__ import annotations

import math
import re
from fractions import Fraction

import pytest
from django.urls import reverse

from dpportal.publications.cost import CHOICES, meaning
from dpportal.publications.statement import rounded_up
from mechanisms.accounting import Definition, Loss, Neighbours, PrivacyUnit


def pure(amount: str) -> str:
    return meaning(Loss(Definition.PURE, Fraction(amount)), 1e-6)


@pytest.mark.parametrize("amount", ["0.001", "0.1", "0.5", "1", "3"])
def test_the_factor_is_no_less_than_e_to_the_epsilon(amount):
    factor = float(re.search(r"at most ([\d.]+)", pure(amount))[1])
    assert math.exp(float(amount)) <= factor <= math.exp(float(amount)) + 0.01


@pytest.mark.parametrize("amount, weak", [("5", False), ("5.1", True), ("700", True), ("1000", True)])
def test_above_five_a_promise_is_called_weak(amount, weak):
    assert ("weak promise" in pure(amount)) is weak


def test_a_zcdp_loss_is_read_as_a_pair_with_its_chance():
    """ρ = 1 at δ = 10⁻⁶ is ε <= ρ + 2√(ρ ln 1/δ) = 8.43, and more than ρ."""
    text = meaning(Loss(Definition.ZCDP, Fraction(1)), 1e-6)
    epsilon = float(re.search(r"\(ε = ([\d.]+)", text)[1])
    assert 1 < epsilon <= 8.44
    assert "but for a chance of δ" in text and "weak promise" in text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1e6, "1,000,000"),
        (2.24e6, "2,300,000"),
        (1.01e8, "110,000,000"),
        (3.3e9, "3.3 × 10⁹"),
        (9.99e12, "10.0 × 10¹²"),
    ],
)
def test_a_factor_of_millions_has_two_digits(value, text):
    assert rounded_up(value, 2) == text


@pytest.mark.parametrize(
    ("value", "text"), [(999.991, "1,000.00"), (1000, "1,000"), (1000.1, "1,010"), (162_754.79, "163,000")]
)
def test_a_factor_of_thousands_has_three_digits(value, text):
    assert rounded_up(value, 2) == text


@pytest.mark.slow
def test_the_dial_says_it(client, draft):
    client.force_login(draft.created_by)
    page = client.get(reverse("releases:method", args=[draft.pk])).content.decode()
    assert "at most 1.11 times more or less likely" in page
    for choice in CHOICES:
        assert str(choice.source) in page
    found = client.get(reverse("releases:dial", args=[draft.pk]), {"epsilon": "0.5"}).json()
    assert "at most 1.65 times more or less likely" in found["meaning"]


def test_where_rows_are_replaced_nobody_is_said_to_be_left_out():
    """How many rows there are may be public."""
    unit = PrivacyUnit(Neighbours.REPLACE_ONE)
    for definition in Definition:
        told = meaning(Loss(definition, Fraction(1), unit), 1e-6)
        assert "changing one person's entries" in told and "leaving out" not in told
