from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

from mechanisms.accounting import Neighbours, PrivacyUnit
from mechanisms.domain import Boolean, Categorical, Integer
from mechanisms.protocol import PlanError
from mechanisms.selection import (
    BestOption,
    FewestConflicts,
    MostCommonValue,
    Quantile,
    Score,
    ScoreBound,
    score_from_json,
)

ADD_REMOVE, REPLACE_ONE = (PrivacyUnit(n) for n in Neighbours)
THREE = ("a", "b", "c")
AGES = Integer("age", lower=0, upper=4)
MEDIAN = Quantile.of(AGES, Fraction(1, 2))
CUTS = Quantile(("≤0|1", "≤1|2"), ((1, 1), (2, 2)), 3, 3, Fraction(1, 4))


def test_the_score_of_a_value_is_its_count() -> None:
    assert MostCommonValue(THREE).scores(np.array([5, 7, 0])).tolist() == [5, 7, 0]


def test_conflicts_count_against_a_date() -> None:
    assert FewestConflicts(THREE).scores(np.array([5, 7, 0])).tolist() == [-5, -7, 0]


def test_the_cells_of_a_column_are_the_candidates() -> None:
    colour = Categorical("colour", values=("red", "blue"))
    assert MostCommonValue.of(colour).candidates == ("red", "blue", "Other")


def test_the_bin_that_holds_the_median_scores_how_deep_it_lies() -> None:
    # Rows 0 0 1 3 3 3 4: the median row is 3. Bin 1 has 2 below, 1 inside and 4 above: 4 - (2 + 1) = 1 short.
    # Bin 3 has 3 below, 3 inside and 1 above: 4 - 3 = 1 from its start, 6 - 1 = 5 from its end.
    assert MEDIAN.scores(np.array([2, 1, 0, 3, 1])).tolist() == [-3, -1, -1, 1, -5]


@pytest.mark.parametrize("level", ["1/10", "1/2", "3/4"])
def test_a_score_is_not_negative_exactly_where_the_quantile_is(level: str) -> None:
    random = np.random.default_rng(4)
    for _ in range(200):
        counts = random.integers(0, 4, 5)
        rows, (a, b) = np.repeat(np.arange(5), counts), Fraction(level).as_integer_ratio()
        # Holds it: at most a of b rows are below, at most b - a of b above.
        holds = [
            b * (rows < c).sum() <= a * rows.size and b * (rows > c).sum() <= (b - a) * rows.size
            for c in range(5)
        ]
        assert (Quantile.of(AGES, Fraction(level)).scores(counts) >= 0).tolist() == holds


def test_a_heavy_bin_that_holds_the_median_is_not_beaten() -> None:
    assert MEDIAN.scores(np.array([9, 1, 90, 0, 0])).argmax() == 2


def test_a_cut_scores_by_the_rows_on_either_side() -> None:
    # Level 1/4: -|3·below - above|, with 1 | 7 and 3 | 5.
    assert CUTS.scores(np.array([1, 2, 5])).tolist() == [-4, -4]


def test_the_candidates_of_closed_columns_are_their_values() -> None:
    yes_no, age = Boolean("x", closed=True), Integer("x", lower=0, upper=2, closed=True, missing_cell=True)
    assert MostCommonValue.of(yes_no).candidates == ("false", "true")
    assert MostCommonValue.of(age).candidates == ("0", "1", "2", "Missing")
    quantile = Quantile.of(age, Fraction(1, 2))
    assert (quantile.candidates, quantile.cells) == (("0", "1", "2"), 4)


def test_rows_with_missing_values_do_not_move_a_quantile() -> None:
    score = Quantile.of(Integer("age", missing_cell=True, lower=0, upper=1), Fraction(1, 2))
    assert score.scores(np.array([2, 1, 50])).tolist() == [1, -1]


SKEWED = Quantile.of(Integer("x", lower=0, upper=3), Fraction(1, 4))


@pytest.mark.parametrize("score", [BestOption(THREE), FewestConflicts(THREE)], ids=lambda s: s.kind)
def test_a_person_may_count_for_every_option_at_once(score: Score) -> None:
    # All three totals move by 1 together: sensitivity 1, not 3, and monotone.
    moved = score.scores(np.array([4, 3, 2])) - score.scores(np.array([3, 2, 1]))
    assert np.abs(moved).max() == score.bound(ADD_REMOVE).sensitivity == 1


def test_a_person_with_three_rows_moves_a_score_three_times_as_far() -> None:
    assert MostCommonValue(THREE).bound(PrivacyUnit(max_rows=3)) == ScoreBound(Fraction(3), True)


@pytest.mark.parametrize(
    "score", [MostCommonValue(THREE), FewestConflicts(THREE), SKEWED, CUTS], ids=lambda s: s.kind
)
def test_a_score_survives_json(score: Score) -> None:
    assert score_from_json(json.loads(json.dumps(score.to_json()))) == score


@pytest.mark.parametrize("candidates", [(), ("only",)])
def test_fewer_than_two_candidates_are_refused(candidates: tuple[str, ...]) -> None:
    with pytest.raises(PlanError, match="needs 2 to 10,000 candidates"):
        MostCommonValue(candidates)


def test_a_candidate_declared_twice_is_refused() -> None:
    with pytest.raises(PlanError, match="declared twice"):
        BestOption(("a", "a"))


@pytest.mark.parametrize("level", ["0", "1", "3/2", "1/1001"])
def test_a_quantile_outside_zero_to_one_or_too_fine_is_refused(level: str) -> None:
    with pytest.raises(PlanError, match="between 0 and 1"):
        Quantile.of(AGES, Fraction(level))


def test_a_quantile_of_categories_is_refused() -> None:
    with pytest.raises(PlanError, match="has no order"):
        Quantile.of(Categorical("colour", values=("red",)), Fraction(1, 2))


def test_a_candidate_outside_the_bounds_is_refused() -> None:
    with pytest.raises(PlanError, match="outside the column's declared limits"):
        Quantile(("a", "b"), ((0, 1), (1, 3)), 2, 2)


@pytest.mark.parametrize("counts", [np.array([1, 2]), np.array([[1, 2, 3]])], ids=["short", "matrix"])
def test_counts_of_another_shape_are_refused(counts: np.ndarray) -> None:
    with pytest.raises(ValueError, match="must have shape"):
        MostCommonValue(THREE).scores(counts)


def test_counts_that_are_not_integers_are_refused() -> None:
    with pytest.raises(ValueError, match="must be integers, got float64"):
        MostCommonValue(THREE).scores(np.array([1.0, np.nan, 2.0]))
