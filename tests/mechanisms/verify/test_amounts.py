"""Bundles written before amounts had two decimals are checked as before."""

from __future__ import annotations

import pytest

from mechanisms.verify.json_values import is_same


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("ε = 0.5", "ε = 0.50"),
        ("ε = 1", "ε = 1.00"),
        ("so noise gives ρ = 0.1.", "so noise gives ρ = 0.10."),
        ("ε = 0.6, δ = 10⁻⁷, of which ε = 0.5", "ε = 0.60, δ = 10⁻⁷, of which ε = 0.50"),
    ],
)
def test_an_amount_is_the_same_with_zeros_at_its_end(before: str, now: str) -> None:
    assert is_same({"loss": before}, {"loss": now}) and is_same(now, before)


@pytest.mark.parametrize("other", ["ε = 0.05", "ε = 0.51", "ε = 5", "ε = 0.5 and more", "ρ = 0.5"])
def test_another_amount_is_not(other: str) -> None:
    assert not is_same(other, "ε = 0.50")
