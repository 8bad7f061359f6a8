"""How a number is rounded for a text, and what a factor of a loss is rounded up to."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from mechanisms.accounting import Definition, Loss
from mechanisms.verify.loss_factor import factor_shown
from mechanisms.verify.shown_numbers import (
    NUMBER,
    Rounding,
    are_shown,
    days_of,
    is_shown,
    significant,
    step_of,
    value_of,
)


@pytest.mark.parametrize(
    ("epsilon", "said"),
    [("1", "2.72"), ("5", "148.42"), ("9", "8,110"), ("15", "3,300,000"), ("50", "5.2 × 10²¹")],
)
def test_a_factor_is_the_one_that_the_statement_has(epsilon, said):
    """The statement rounds up: two decimals, three digits of thousands, two of millions."""
    [shown] = factor_shown(Loss(Definition.PURE, Fraction(epsilon)))
    assert NUMBER.findall(f"a factor of {said} from") == [said]
    assert is_shown(said, shown, Rounding.NEAREST)
    assert not is_shown(f"7{said[1:]}", shown, Rounding.NEAREST)


def test_a_power_of_ten_is_part_of_its_number():
    assert (value_of("5.2 × 10²¹"), step_of("5.2 × 10²¹")) == (pytest.approx(5.2e21), pytest.approx(1e20))


def test_beyond_all_floats_nothing_is_compared():
    assert factor_shown(Loss(Definition.PURE, Fraction(1000))) == []


def test_what_is_a_little_above_a_whole_margin_is_rounded_up_to_the_next():
    assert is_shown("85", 84.0000039, Rounding.UP) and not is_shown("85", 84.0, Rounding.UP)
    assert is_shown("84", 84.0, Rounding.UP) and is_shown("83", 83.9999961, Rounding.DOWN)


def test_a_date_is_the_day_of_a_number_of_days():
    assert days_of("2020-09-01") == 18506
    assert days_of("2020-02-30") is None and days_of("18506") is None
    assert is_shown("2020-09-01", 18506.9, Rounding.NEAREST)
    assert not is_shown("2020-09-02", 18506.9, Rounding.UP)


def test_of_more_than_three_digits_a_page_may_show_three():
    margins = np.array([3115.8, 1_234_567.0, 874.4, np.nan])
    shown = significant(margins)
    assert shown[:3] == pytest.approx([3120, 1_230_000, 874.4]) and np.isnan(shown[3])
    assert are_shown("3,120", shown).any() and not are_shown("3,120", margins).any()
    assert not any(are_shown(other, shown).any() for other in ("3,110", "3,130", "1,240,000"))
