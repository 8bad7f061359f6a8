"""Cramér's V and nearest rows, against closed forms and brute force."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats.contingency import association

from mechanisms.microdata.association import associations, cramers_v
from mechanisms.microdata.nearest import nearest_distances, shares_by_distance
from mechanisms.microdata.quality import table_of_rows
from tests.mechanisms.microdata.building import DOMAIN, people


def test_a_perfect_association_is_one_and_independence_zero():
    assert cramers_v(np.diag([40, 30, 30])) == pytest.approx(1)
    assert cramers_v(np.outer([10, 20, 30], [5, 5])) == 0


def test_with_many_rows_it_is_the_uncorrected_one():
    table = table_of_rows(people(4000), DOMAIN.shape, (1, 2)) * 1000
    assert cramers_v(table) == pytest.approx(association(table, method="cramer"), abs=1e-4)


def test_fine_tables_of_few_independent_rows_do_not_look_dependent():
    """The uncorrected V is far from 0 there: of 100 rows in 20 × 20 cells about 0.44."""
    random = np.random.default_rng(3)
    tables = [
        table_of_rows(random.integers(0, 20, (100, 2)), (20, 20), (0, 1)).astype(np.int64) for _ in range(60)
    ]
    assert np.mean([association(t[t.sum(1) > 0][:, t.sum(0) > 0], method="cramer") for t in tables]) > 0.4
    assert np.mean([cramers_v(t) for t in tables]) < 0.08


def test_a_column_with_one_value_has_none():
    assert np.isnan(cramers_v(np.array([[5, 7], [0, 0]])))
    found = associations({(0, 1): np.array([[5, 7], [0, 0]])}, 2)
    assert found[0, 0] == 1 and np.isnan(found[1, 0])


@pytest.mark.slow
def test_the_nearest_row_is_the_nearest_of_all():
    rows, others = people(300)[:50], people(5000)[3000:]
    brute = [min(int((row != other).sum()) for other in others) for row in rows]
    found = nearest_distances(rows, others)
    assert found.tolist() == brute
    shares = shares_by_distance(found, 4)
    assert len(shares) == 5 and sum(shares) == pytest.approx(1) and shares[0] == brute.count(0) / 50
