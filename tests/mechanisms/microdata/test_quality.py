"""Figures of quality and foresight, against brute force and simulation."""

from __future__ import annotations

from dataclasses import replace
from math import comb

import numpy as np
import pytest

from mechanisms.accounting import Definition
from mechanisms.microdata.constraints import Wishes
from mechanisms.microdata.cost_estimate import foresee, memory, row_count
from mechanisms.microdata.packing import unpack
from mechanisms.microdata.pair_levels import pair_error
from mechanisms.microdata.quality import closeness, correlations, mean_deviation, table_of_rows, triples
from mechanisms.microdata.tables import PairTables
from mechanisms.noise import Noise
from mechanisms.registry import microdata
from tests.mechanisms.microdata.building import DOMAIN, counted, distance, loss, of_methods, people


def test_the_mean_deviation_is_its_sum():
    for n, p in ((1, 0.3), (7, 0.5), (12, 1 / 3), (12, 0.01), (5, 1.0)):
        exact = sum(abs(k - n * p) * comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1))
        assert mean_deviation(n, np.array([p]))[0] == pytest.approx(exact, abs=1e-12)


def test_a_resample_is_as_far_as_said():
    rows, random = people(2000), np.random.default_rng(2)
    said = closeness(*(table_of_rows(rows, DOMAIN.shape, (0, 1)),) * 2)
    seen = [distance(rows[random.integers(0, 2000, 2000)], rows, (0, 1)) for _ in range(100)]
    assert np.mean(seen) == pytest.approx(said.resample, rel=0.05)
    assert said.synthetic == 0


def test_independent_columns_are_as_far_as_said():
    rows = people(2000)
    table = table_of_rows(rows, DOMAIN.shape, (1, 2))
    product = np.outer(table.sum(axis=1), table.sum(axis=0)) / 2000
    assert closeness(table, table).independent == pytest.approx(np.abs(table - product).sum() / 4000)


def test_correlations_are_those_of_the_rows_that_have_both_values():
    """A missing age, which is the last cell of twelve and one, is not an age above all others."""
    rows, tables = people(500), PairTables(DOMAIN.shape)
    assert (rows[:, 0] == 12).sum() > 20
    with_age = rows[rows[:, 0] < 12]
    expected = np.corrcoef(with_age[:, [0, 1, 2]].T)
    expected[1, 2] = expected[2, 1] = np.corrcoef(rows[:, [1, 2]].T)[0, 1]
    assert correlations(tables, tables.of_rows(rows), (0, 1, 2), (12, 4, 2)) == pytest.approx(expected)


def test_a_column_of_missing_values_alone_has_no_correlation():
    tables = PairTables((3, 3))
    found = correlations(tables, tables.of_rows(np.array([[2, 0], [2, 1]])), (0, 1), (2, 3))
    assert np.isnan(found[0, 1])


def test_triples_are_few_and_small():
    assert triples((2, 3, 4)) == [(0, 1, 2)]
    assert triples((1000, 1000, 1000, 2)) == []
    assert len(triples((4,) * 30)) == 40


@pytest.mark.slow
@pytest.mark.parametrize("method", of_methods())
def test_the_error_of_columns_is_as_foreseen(method):
    plan = method.plan(DOMAIN, Wishes(), loss("1/100"))
    seen = []
    for _ in range(60):
        values = method.measure(plan, counted(plan, people(800)), Noise()).values
        noisy = values[1 + values[0] :][: sum(DOMAIN.shape)]
        true = np.concatenate(
            [np.bincount(c, minlength=s) for c, s in zip(people(800).T, DOMAIN.shape, strict=True)]
        )
        seen.append(np.abs(noisy - true).sum() / (2 * 800 * 4))
    assert np.mean(seen) == pytest.approx(foresee(plan, 800).column, rel=0.12)


@pytest.mark.parametrize("amount", ["1/100000000", "1/100"])
def test_the_rows_are_seldom_more_than_foreseen(amount):
    """Where noise drowns the people, it is the noise that says how many rows are made; memory is foreseen for them."""
    method = microdata("independent-columns")
    plan = method.plan(DOMAIN, Wishes(), loss(amount))
    counts = counted(plan, people(50))
    made = [len(method.reconstruct(plan, method.measure(plan, counts, Noise())).rows) for _ in range(30)]
    most = row_count(plan, 50)
    assert sum(rows > most for rows in made) <= 2 and max(made) > most / 20
    chosen, public = replace(plan, rows=70), replace(plan, total=50)
    assert row_count(chosen, 50) == 70 and row_count(public, 50) == 50
    assert memory(method, plan, 50) - memory(method, public, 50) == (6 * 8 + 3 * 4) * (most - 50)


def test_a_loss_that_drowns_everything_is_told():
    plan = microdata("latent-classes").plan(DOMAIN, Wishes(), loss("1/1000000000"))
    assert foresee(plan, 500).useless
    assert not foresee(plan, 10**9).useless


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tree-of-pairs", "latent-classes"])
@pytest.mark.parametrize(("definition", "amount"), [(Definition.PURE, "0.3"), (Definition.ZCDP, "0.01")])
def test_the_error_of_measured_pairs_is_as_stated(name, definition, amount):
    """Of groups as they were made and of all rounds: only the noise is left to chance."""
    rows, method = people(4000), microdata(name)
    plan = method.plan(DOMAIN, Wishes(), loss(amount, definition))
    true, stated, seen = plan.tables.of_rows(rows), list[float](), list[float]()
    for release in range(4):
        noise = Noise(np.random.default_rng(release).bytes)
        _noisy, *further = unpack(method.measure(plan, true, noise).values)
        found = method.recorded(plan, further)
        assert found is not None
        grouping, tables = found
        stated.append(pair_error(tables, 4000) or 0)
        apart = []
        for pair in {t.pair for t in tables}:
            own = [t for t in tables if t.pair == pair]
            noisy = np.average([t.values for t in own], axis=0, weights=[1 / t.variance for t in own])
            apart.append(np.abs(grouping.table(plan.tables.table(true, pair), pair) - noisy).sum() / 8000)
        seen.append(float(np.mean(apart)))
    assert np.mean(seen) == pytest.approx(np.mean(stated), rel=0.12)


def test_of_no_measured_pair_no_error_is_stated():
    assert pair_error([], 4000) is None
