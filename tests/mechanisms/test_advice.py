"""The ranking of methods on made-up tables."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from mechanisms import advice, registry
from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Domain, Integer
from mechanisms.histogram.noisy import GaussianHistogram, LaplaceHistogram

EPSILON_ONE = Loss(Definition.PURE, Fraction(1))


def line(cells: int) -> Domain:
    return Domain((Integer("x", upper=cells - 1),))


@pytest.mark.parametrize("shape", advice.SHAPES)
def test_a_made_up_table_has_the_stated_number_of_people(shape: str) -> None:
    table = advice.made_up(shape, line(100), 1234)
    assert (table.sum(), table.min() >= 0, table.shape) == (1234, True, (100,))


def test_people_spread_evenly_fill_every_cell_alike() -> None:
    """1,000 people a cell: a standard deviation of 32; ten of them are never seen."""
    table = advice.made_up("uniform", line(50), 50_000)
    assert np.abs(table - 1000).max() < 320


def test_a_sparse_table_has_its_people_in_a_twentieth_of_the_cells() -> None:
    assert 0 < np.count_nonzero(advice.made_up("sparse", line(200), 10_000)) <= 10


@pytest.mark.parametrize(("shape", "exponent"), [("power law", 1.0), ("steep power law", 1.5)])
def test_a_power_law_falls_along_the_line(shape: str, exponent: float) -> None:
    """Tenths of 4,000 cells, as expected up to unevenness: each share is off by a factor below 1.5."""
    table = advice.made_up(shape, line(4000), 10**7)
    weights = np.arange(1, 4001) ** -exponent
    tenths, expected = (w.reshape(10, -1).sum(axis=1)[1:] for w in (table, weights))
    ratio = (tenths / tenths.sum()) / (expected / expected.sum())
    assert 1 / 1.5 < ratio.min() <= ratio.max() < 1.5


def test_a_hump_has_two_thirds_of_its_people_within_a_standard_deviation() -> None:
    """A normal curve has 68.3 %; cut off at 2.7 standard deviations on the left, 68.5 %."""
    table = advice.made_up("hump", line(4000), 10**6)
    assert table[1000:2200].sum() / 10**6 == pytest.approx(0.685, abs=0.05)


def test_nearly_all_are_in_the_first_cell() -> None:
    """Nine tenths of 100,000 people, with a standard deviation of 95."""
    table = advice.made_up("first cell", line(50), 100_000)
    assert table[0] == pytest.approx(90_000, abs=950)


@pytest.mark.parametrize("shape", advice.SHAPES)
def test_a_single_cell_holds_everybody(shape: str) -> None:
    assert advice.made_up(shape, line(1), 10).tolist() == [10]


def test_a_large_domain_is_tried_on_a_model_of_its_proportions() -> None:
    model = advice.model_domain(Domain((Integer("a", upper=999), Integer("b", upper=9_999))))
    assert model.size <= advice.MAX_MODEL_CELLS
    assert model.shape[1] / model.shape[0] == pytest.approx(10, rel=0.1)


def test_the_error_of_single_cells_is_that_of_the_noise() -> None:
    """4,096 cells of 250 people, which no projection helps: the root mean square is known to about 1 in 100."""
    (ranked,) = advice.rank([LaplaceHistogram()], line(4096), EPSILON_ONE, "cells", 1_024_000)
    assert ranked.errors["uniform"] == pytest.approx(math.sqrt(1.84134719), rel=0.06)


def test_where_most_cells_are_empty_the_counts_of_a_possible_table_are_better() -> None:
    (ranked,) = advice.rank([LaplaceHistogram()], line(4096), EPSILON_ONE, "cells", 1000)
    assert ranked.take == "counts"
    assert ranked.errors["sparse"] < math.sqrt(1.84134719)


def test_running_totals_are_cumulative_sums() -> None:
    table = np.arange(40) ** 2
    assert advice._queries("totals", line(40))(table).tolist() == table.cumsum().tolist()


def test_sums_over_boxes_are_sums_over_boxes() -> None:
    domain = Domain((Integer("a", upper=5), Integer("b", upper=6)))
    table = np.arange(domain.size)
    lower, upper = advice._boxes(domain.shape)
    by_hand = [table.reshape(6, 7)[a:b, c:d].sum() for (a, c), (b, d) in zip(lower, upper, strict=True)]
    assert advice._queries("ranges", domain)(table).tolist() == by_hand


def test_a_hierarchy_beats_plain_noise_for_ranges() -> None:
    ranked = advice.rank(registry.HISTOGRAMS, line(1024), EPSILON_ONE, "ranges", 10_000)
    places = [r.mechanism for r in ranked]
    assert places.index("hierarchical-histogram") < places.index("laplace-histogram")


def test_a_method_that_the_budget_does_not_admit_is_left_out() -> None:
    ranked = advice.rank([LaplaceHistogram(), GaussianHistogram()], line(16), EPSILON_ONE, "cells", 100)
    assert [r.mechanism for r in ranked] == ["laplace-histogram"]


def test_the_same_question_has_the_same_answer() -> None:
    first, second = (
        advice.rank([LaplaceHistogram()], line(32), EPSILON_ONE, "ranges", 100) for _ in range(2)
    )
    assert first == second


def test_no_method_is_better_than_the_best() -> None:
    ranked = advice.rank(registry.HISTOGRAMS, line(32), EPSILON_ONE, "cells", 100)
    assert all(r.regret >= 1 for r in ranked)


def test_a_method_whose_error_cannot_be_foreseen_must_be_clearly_better() -> None:
    """On a small table PrivTree and plain noise are close; plain noise, whose error is known, comes first."""
    ranked = advice.rank(registry.HISTOGRAMS, line(8), Loss(Definition.PURE, Fraction(10)), "cells", 10_000)
    foreseen = [r.mechanism for r in ranked].index("laplace-histogram")
    assert all(r.regret * advice.CAUTION >= ranked[foreseen].regret for r in ranked[foreseen:])


def test_an_unknown_purpose_is_refused() -> None:
    with pytest.raises(ValueError, match="purpose must be one of cells, ranges, totals"):
        advice.rank([LaplaceHistogram()], line(4), EPSILON_ONE, "fun", 10)
