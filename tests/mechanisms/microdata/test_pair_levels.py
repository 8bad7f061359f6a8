"""Pairs are called good where their noise is foreseen to misplace few, whatever the data are."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from mechanisms.accounting import Definition, Loss
from mechanisms.calibration import count_law
from mechanisms.domain import Categorical, Domain
from mechanisms.microdata.constraints import Wishes
from mechanisms.microdata.cost_estimate import expected_pair_error, foresee
from mechanisms.microdata.pair_levels import GOOD_PAIRS, NOISY_PAIRS, SOME_PAIRS, PairLevels, pair_errors
from mechanisms.microdata.plan import MeasuredTable
from mechanisms.registry import microdata
from mechanisms.sensitivity import Sensitivity


def table(pair: tuple[int, int], cells: int, amount: str) -> MeasuredTable:
    law = count_law(Loss(Definition.PURE, Fraction(amount)), Sensitivity(1, 1))
    return MeasuredTable(pair, np.zeros((cells, cells), dtype=np.int64), law.variance, law)


def test_a_pair_is_good_where_noise_misplaces_few_of_the_people() -> None:
    """36 cells with noise of 10 people each, of 4,000 (4 %), 1,000 (18 %) and 400 (45 %)."""
    tables = [table((0, 1), 6, "1/10")]
    assert pair_errors(tables, 4_000)[0, 1] == pytest.approx(0.045, rel=0.02)
    assert PairLevels.of(tables, 4_000) == PairLevels(good=1)
    assert PairLevels.of(tables, 1_000) == PairLevels(rough=1)
    assert PairLevels.of(tables, 400) == PairLevels(noisy=1)


def test_each_pair_has_its_own_level_and_the_sentence_is_of_all() -> None:
    tables = [table((0, 1), 2, "1/10"), table((0, 2), 6, "1/10"), table((1, 2), 20, "1/10")]
    assert PairLevels.of(tables, 1_000) == PairLevels(1, 1, 1)
    assert PairLevels(1, 1, 1).sentence == PairLevels(0, 1).sentence == SOME_PAIRS
    assert PairLevels(3).sentence == GOOD_PAIRS and PairLevels(0, 0, 3).sentence == NOISY_PAIRS
    # As precise together as one of a fifth of the noise, about.
    assert PairLevels.of(tables[1:2] * 25, 1_000).good == 1


def test_many_columns_of_few_people_are_foreseen_to_be_noise() -> None:
    """34 columns and 5,000 people at ε = 1, of which 18 % stood in a wrong cell of a pair."""
    domain = Domain(tuple(Categorical(f"q{n}", values=tuple("abcde")) for n in range(34)))
    for name in ("latent-classes", "tree-of-pairs"):
        method = microdata(name)
        plan = method.plan(domain, Wishes(), Loss(Definition.PURE, Fraction(1)))
        of_few, of_many = (expected_pair_error(method, plan, people) for people in (5_000, 1_000_000))
        assert foresee(plan, 5_000).column < 0.15 and of_few is not None and of_few > 0.3
        assert of_many is not None and of_many < 0.1
    method = microdata("independent-columns")
    plan = method.plan(domain, Wishes(), Loss(Definition.PURE, Fraction(1)))
    assert expected_pair_error(method, plan, 5_000) is None
