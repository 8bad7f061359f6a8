"""Numbers as pages write them."""

from __future__ import annotations

import pytest

from dpportal.releases.products.shared.numbers import number_text


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [(-0.3, 0, "0"), (-0.04, 1, "0.0"), (-0.06, 1, "-0.1"), (1234567.891, 2, "1,234,567.89")],
)
def test_nothing_has_no_sign(value, decimals, text):
    assert number_text(value, decimals) == text
