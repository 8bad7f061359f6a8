"""What is left of a budget is written one way wherever it stands: rounded down, by two decimals."""

from __future__ import annotations

from decimal import Decimal
from types import SimpleNamespace

import pytest
from django.template.loader import render_to_string

BUDGET = SimpleNamespace(
    symbol="ε",
    left=Decimal("2.852"),
    total=Decimal(3),
    spent=Decimal("0.148"),
    reserved=Decimal(0),
    is_granted=True,
    delta_total=Decimal(0),
    dataset=SimpleNamespace(name="survey"),
)


@pytest.mark.parametrize(
    ("template", "context"),
    [
        ("budgets/_exceeds.html", {"exceeds": True, "amount": Decimal("4.3")}),
        ("_budget_bar.html", {}),
        (
            "_verdict.html",
            {
                "verdict": SimpleNamespace(is_useful=False, is_useless=True, tone="bad", text="Noise."),
                "better_amount": Decimal("4.3"),
                "smaller": "choose fewer columns",
                "smaller_url": "/columns/",
                "smaller_action": "Choose",
            },
        ),
    ],
)
def test_what_is_left_has_the_same_digits_everywhere(template, context) -> None:
    """“2.852 is left” stood beside “Left now ε 2.85”."""
    page = render_to_string(template, {"budget": BUDGET, **context})
    assert "2.85 " in page and "2.852" not in page
