"""What a grant's page says of an amount: words by the same limits as its warnings, factors as exact as is of use."""

from __future__ import annotations

from decimal import Decimal

import pytest

from dpportal.budgets.odds import Odds
from dpportal.budgets.templatetags.numbers import lasting, short_percent
from mechanisms.accounting import Definition


@pytest.mark.parametrize(
    ("epsilon", "kind", "factor"),
    [
        ("0.36", "Strong protection", "1.44 times"),
        ("3", "Weak protection", "21 times"),
        ("6", "Weak protection", "404 times"),
        ("15", "Hardly any protection", "3,300,000 times"),
    ],
)
def test_an_amount_is_said_in_words_and_in_a_short_factor(epsilon: str, kind: str, factor: str) -> None:
    odds = Odds(Definition.PURE, Decimal(0), Decimal(epsilon), 9)
    assert odds.kind == kind and f"at most {factor}" in odds.meaning


def test_shares_have_two_digits_and_times_are_said_in_words() -> None:
    assert [short_percent(share) for share in (0.0945, 0.177, 0.00123, None)] == [
        "9.4 %",
        "18 %",
        "0.12 %",
        "–",
    ]
    assert [lasting(seconds) for seconds in (0.0157, 1, 12.4, 200)] == [
        "less than a second",
        "1 second",
        "12 seconds",
        "3 minutes",
    ]
