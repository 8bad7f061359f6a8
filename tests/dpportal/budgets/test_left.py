"""What is left is never said to be more than it is, and what was spent never less."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.template import Context, Template

from dpportal.budgets.promises import AccountPromise
from dpportal.budgets.templatetags.numbers import left
from mechanisms.accounting import Definition


@pytest.mark.parametrize(
    ("exact", "shown"),
    [
        ("8.904", "8.90"),
        ("8.4896", "8.48"),
        ("10", "10.00"),
        ("0.9", "0.90"),
        ("0.0569", "0.056"),
        ("0.000123", "0.00012"),
        ("0", "0.00"),
        ("123.456", "123.45"),
    ],
)
def test_what_is_left_is_rounded_down(exact, shown):
    assert left(Decimal(exact)) == shown


@pytest.mark.parametrize(
    ("exact", "shown"),
    [
        ("3.336", "ε = 3.34"),
        ("2.55", "ε = 2.55"),
        ("1.011", "ε = 1.02"),
        ("0.30", "ε = 0.30"),
        ("0.0301", "ε = 0.031"),
    ],
)
def test_readers_see_what_was_spent_rounded_up(exact, shown):
    promise = AccountPromise(None, Definition.PURE, Decimal(exact), "each person", names_column=False)
    assert str(promise.rounded_loss) == shown


def test_costs_of_a_public_page_are_rounded(dataset):
    template = Template('{% include "publications/_costs.html" %}')
    budget = dataset.budgets.get()
    cost = AccountPromise.of(budget, Decimal("3.336"), Decimal(0))
    assert (
        "ε = 3.34" in (text := template.render(Context({"costs": [cost]})))
        and "3.336" not in text.split("guide")[0]
    )
