"""A column of days of birth begins with cells of a year, other dates with months."""

from __future__ import annotations

import pytest

from dpportal.datasets.shown_declarations import initial_of


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("Geburtsdatum", "year"),
        ("birth_date", "year"),
        ("Date of birth", "year"),
        ("DOB", "year"),
        ("出生日期", "year"),
        ("exam date", "month"),
        ("discharge date", "month"),
    ],
)
def test_days_of_birth_are_grouped_by_years_unless_somebody_says_otherwise(name: str, step: str) -> None:
    assert initial_of(None, name)["step"] == step
    assert initial_of(None, name)["kind"] == "date"
