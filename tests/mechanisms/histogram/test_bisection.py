from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from scipy.stats import chi2

from mechanisms.accounting import Definition, Loss, Neighbours, PrivacyUnit
from mechanisms.domain import Domain, Integer
from mechanisms.histogram.bisection import BisectedHistogram, candidates, cut_scores, unevenness
from mechanisms.noise import Noise
from mechanisms.protocol import Measurement, Plan, PlanError, Result
from mechanisms.selection import odds

BISECTION = BisectedHistogram()
REPLACE = PrivacyUnit(Neighbours.REPLACE_ONE)
Counts = tuple[int, ...]
Cuts = tuple[int, ...]


def line(cells: int) -> Domain:
    return Domain((Integer("x", lower=1, upper=cells),))


def pure(amount: str, unit: PrivacyUnit = PrivacyUnit()) -> Loss:  # noqa: B008
    return Loss(Definition.PURE, Fraction(amount), unit)


def running(counts: Counts | np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def released(counts: np.ndarray, amount: str, levels: int) -> Result:
    plan = BISECTION.plan(line(counts.size), {"levels": levels}, pure(amount))
    noise = Noise(np.random.default_rng(5).bytes)
    return BISECTION.reconstruct(plan, BISECTION.measure(plan, counts, noise))


def _neighbours(cells: int, most: int) -> list[tuple[Counts, Counts]]:
    """Every table of at most `most` rows a cell, and the tables with one row more."""
    tables = itertools.product(range(most + 1), repeat=cells)
    return [(t, tuple(n + (i == j) for j, n in enumerate(t))) for t in tables for i in range(cells)]


def test_unevenness_is_the_largest_step_from_the_even_line() -> None:
    # Running totals 8, 8, 8, 8 against 2, 4, 6, 8: at most 6. Six cells of 1 and 0: 1/2 of a row, rounded down.
    assert unevenness(running((8, 0, 0, 0))) == 6
    assert unevenness(running((1, 0, 1, 0, 1, 0))) == 0
    assert unevenness(running((9,))) == 0


@pytest.mark.parametrize("cells", [2, 3, 5])
def test_one_row_moves_unevenness_by_exactly_one_at_most(cells: int) -> None:
    moves = {abs(unevenness(running(a)) - unevenness(running(b))) for a, b in _neighbours(cells, 3)}
    assert max(moves) == 1


@pytest.mark.slow
@pytest.mark.parametrize("cells", [2, 3, 5])
def test_one_row_moves_every_score_by_exactly_one_at_most(cells: int) -> None:
    scale = Fraction(3)
    pairs = [(cut_scores(running(a), scale), cut_scores(running(b), scale)) for a, b in _neighbours(cells, 3)]
    assert max(np.abs(a - b).max() for a, b in pairs) == (1 if cells > 2 else 0)


def test_a_small_block_may_be_cut_anywhere() -> None:
    assert candidates(2).tolist() == [1]
    assert candidates(64).tolist() == list(range(1, 64))


@pytest.mark.parametrize("cells", [65, 100, 4095, 2**20])
def test_cuts_of_a_long_block_are_few_inside_and_reach_the_ends_and_the_middle(cells: int) -> None:
    cuts = candidates(cells)
    assert cuts.size < 100
    assert (cuts[0], cuts[-1]) == (1, cells - 1)
    assert cells // 2 in cuts


def test_a_score_is_that_of_the_worse_part() -> None:
    # (8, 0 | 4, 0): running totals 8 and 4 against 4 and 2, so 4 and 2. One part of (8 | 0, 4, 0) is even; the
    # other is off by 4/3 below and by 4/3 above, 1 row when rounded down.
    scores = cut_scores(running((8, 0, 4, 0)), Fraction(1, 100))
    assert scores[1] == -4
    assert scores[0] == -1 - 1  # The handicap is 2 ln 3/100, rounded up.


def test_a_cut_off_the_middle_has_a_handicap() -> None:
    # Empty, 4 cells, 3 candidates: 2 ln 3 · 10 = 21.97 rows, rounded up.
    assert cut_scores(running((0, 0, 0, 0)), Fraction(10)).tolist() == [-22, 0, -22]


@cache
def _chances(counts: Counts, scale: Fraction) -> dict[int, float]:
    """P(cut) of one block, from the scores and the law of permute-and-flip."""
    scores = cut_scores(running(counts), scale)
    law = odds.permute_and_flip(float(1 / scale), scores.max() - scores)
    return dict(zip(candidates(len(counts)).tolist(), law.tolist(), strict=True))


def _partitions(counts: Counts, scale: Fraction) -> dict[Cuts, float]:
    """P(cuts) after two levels, in the order of the measurement."""
    found = {}
    for first, p in _chances(counts, scale).items():
        left, right = counts[:first], counts[first:]
        lefts = _chances(left, scale) if len(left) > 1 else {0: 1.0}
        rights = _chances(right, scale) if len(right) > 1 else {0: 1.0}
        for (a, q), (b, r) in itertools.product(lefts.items(), rights.items()):
            inner = ([a] if a else []) + ([first + b] if b else [])
            found[first, *inner] = p * q * r
    return found


def _worst(scale: Fraction) -> float:
    """Largest |ln P(cuts | x + one row) - ln P(cuts | x)| over two levels, five cells and a range of x."""
    worst = 0.0
    for a, b in _neighbours(5, 2):
        for far in (0, 9, 40):
            p, q = (_partitions((*t[:-1], t[-1] + far), scale) for t in (a, b))
            worst = max(worst, *(abs(math.log(p[cuts] / q[cuts])) for cuts in p))
    return worst


@pytest.mark.slow
def test_no_cuts_tell_one_row_by_more_than_their_share() -> None:
    # ε = 1 for each of two levels: scale 2/ε = 2.
    assert _worst(Fraction(2)) <= 2 * (1 + 1e-9)


@pytest.mark.slow
def test_a_quarter_of_the_noise_would_tell_more() -> None:
    assert _worst(Fraction(1, 2)) > 2


@pytest.mark.slow
def test_cuts_occur_as_often_as_the_law_says() -> None:
    # 4,000 partitions of five cells; chi-square at a false alarm of 1e-6, rare ones pooled.
    counts, runs = (9, 2, 0, 4, 0), 4000
    plan = BISECTION.plan(line(5), {"levels": 2}, pure("20"))
    scale = Fraction(plan.details["stages"][0]["law"]["scale"])
    law = _partitions(counts, scale)
    noise = Noise()
    values = [BISECTION.measure(plan, np.array(counts), noise).values for _ in range(runs)]
    # b - 1 cuts and b counts: 2b - 1 values.
    seen = Counter(tuple(v[: v.size // 2].tolist()) for v in values)
    common = [cuts for cuts in law if runs * law[cuts] > 10]
    expected = [runs * law[cuts] for cuts in common]
    observed = [seen[cuts] for cuts in common]
    statistic = sum((o - e) ** 2 / e for o, e in zip(observed, expected, strict=True))
    rest = runs - sum(expected)
    statistic += (runs - sum(observed) - rest) ** 2 / max(rest, 1)
    assert set(seen) <= set(law)
    assert len(common) > 3
    assert statistic < chi2.isf(1e-6, len(common))


@pytest.mark.parametrize(
    ("unit", "rows"), [(PrivacyUnit(), 1), (PrivacyUnit(max_rows=3), 3), (REPLACE, 2)], ids=str
)
def test_rows_that_one_person_moves_multiply_the_scale(unit: PrivacyUnit, rows: int) -> None:
    plan = BISECTION.plan(line(8), {"levels": 3}, pure("1", unit))
    # 3/20 over three levels: ε' = 1/20, scale 2D/ε' = 40 D.
    assert Fraction(plan.details["stages"][0]["law"]["scale"]) == 40 * rows


@pytest.mark.parametrize("definition", list(Definition))
@pytest.mark.parametrize("levels", [1, 7])
def test_the_stages_spend_the_loss(definition: Definition, levels: int) -> None:
    plan = BISECTION.plan(line(8), {"levels": levels}, Loss(definition, Fraction("0.3")))
    assert sum(Fraction(s["share"]) * s["times"] for s in plan.details["stages"]) == 1


def test_under_zcdp_a_level_takes_the_pure_loss_that_its_share_of_rho_holds() -> None:
    plan = BISECTION.plan(line(8), {"levels": 3}, Loss(Definition.ZCDP, Fraction(10)))
    # ρ/20 = 1/2 holds ε' = 1: scale 2.
    assert plan.details["stages"][0]["law"]["scale"] == "2"


def test_a_plan_survives_json() -> None:
    plan = BISECTION.plan(line(8), {}, pure("0.1"))
    assert Plan.from_json(json.loads(json.dumps(plan.to_json()))) == plan


def test_a_plan_promises_no_interval() -> None:
    plan = BISECTION.plan(line(8), {}, pure("1"))
    assert (plan.standard_error, plan.half_width, plan.coverage) == (None, None, None)
    assert "depends on the data" in plan.explanation


def test_cuts_come_first_and_then_the_blocks_from_left_to_right() -> None:
    # Six cells: cut before cell 1, the rest again before cell 3; the blocks have 1, 2 and 3 cells.
    plan = BISECTION.plan(line(6), {"levels": 2}, pure("1"))
    result = BISECTION.reconstruct(plan, Measurement(np.array([1, 3, 7, 4, -3])))
    assert result.raw.tolist() == [7, 2, 2, -1, -1, -1]
    assert result.counts.tolist()[3:] == [0, 0, 0]
    # With nobody in the last block, s people in the others cost ½(s - 11)² + 2(s - 11)² + 4(s - 8)²: s = 59.5/6.5.
    assert result.counts.sum() == 9
    assert result.partition is not None
    assert result.partition.tolist() == [0, 1, 1, 2, 2, 2]


def test_one_full_cell_is_set_apart_first() -> None:
    # 10,000 rows in the first of 1,000 cells, scale 2/0.15 rows at ε = 1; any other cut trails by at least
    # 4,000 rows beyond the handicap, and occurs with probability below e^-300.
    counts = np.zeros(1000, dtype=np.int64)
    counts[0] = 10_000
    partition = released(counts, "1", 1).partition
    assert partition is not None
    assert partition.tolist() == [0] + [1] * 999


def test_two_plateaus_are_parted_where_they_meet_and_found_without_noise() -> None:
    # At ε = 1000 the choice has scale 2/150 and the counts' noise 1/850; the cut before cell 10 alone is even.
    counts = np.array([100] * 10 + [900] * 22)
    assert np.array_equal(released(counts, "1000", 1).counts, counts)


def test_more_levels_than_needed_find_every_cell_without_noise() -> None:
    # Seven cuts at most part eight cells.
    counts = np.array([3, 141, 59, 26, 535, 89, 79, 323])
    assert np.array_equal(released(counts, "1000", 7).raw, counts)


def test_an_empty_table_is_halved_and_stays_empty_without_noise() -> None:
    result = released(np.zeros(64, dtype=np.int64), "1000", 2)
    assert not result.counts.any()
    assert result.partition is not None
    assert result.partition[[0, 63]].tolist() == [0, 3]


def test_a_single_cell_is_only_counted() -> None:
    plan = BISECTION.plan(line(1), {}, pure("1000"))
    assert BISECTION.measure(plan, np.array([5]), Noise()).values.tolist() == [5]


def test_a_public_total_is_kept() -> None:
    plan = BISECTION.plan(line(20), {"total": 40}, pure("0.1", REPLACE))
    result = BISECTION.reconstruct(plan, BISECTION.measure(plan, np.full(20, 2), Noise()))
    assert result.counts.sum() == 40


@pytest.mark.parametrize("levels", [0, 13, "4"])
def test_a_number_of_levels_out_of_range_is_refused(levels: object) -> None:
    with pytest.raises(PlanError, match="Levels of cuts: give a whole number from 1 to 12"):
        BISECTION.plan(line(8), {"levels": levels}, pure("1"))


def test_too_many_cells_are_refused() -> None:
    with pytest.raises(PlanError, match=r"at most 2,097,152 can be released"):
        BISECTION.plan(line(2**21 + 1), {}, pure("1"))


def test_a_loss_whose_cuts_would_be_absurd_is_refused() -> None:
    with pytest.raises(PlanError, match="too small"):
        BISECTION.plan(line(8), {}, pure("0.00000001"))


def test_counts_of_another_shape_are_refused() -> None:
    plan = BISECTION.plan(line(8), {}, pure("1"))
    with pytest.raises(ValueError, match=r"shape \(8,\)"):
        BISECTION.measure(plan, np.zeros(7, dtype=np.int64), Noise())
