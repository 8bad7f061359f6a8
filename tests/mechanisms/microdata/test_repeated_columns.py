"""Where tables of pairs would be mostly noise, a round measures every column again."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Domain, Integer
from mechanisms.microdata.constraints import Wishes
from mechanisms.microdata.latent_classes import ROUNDS, TABLES
from mechanisms.microdata.margins import estimate, joined
from mechanisms.microdata.mechanism import margin_variances, margins_of
from mechanisms.microdata.packing import unpack_measured
from mechanisms.microdata.repeated_columns import with_again
from mechanisms.microdata.simulated_rows import simulated_rows
from mechanisms.microdata.tables import PairTables, split
from mechanisms.noise import Noise, repeatable
from mechanisms.registry import microdata

DOMAIN = Domain(tuple(Integer(f"c{j}", lower=0, upper=11) for j in range(4)))
METHOD = microdata("latent-classes")


def measured(people: int, rho: str, wishes: Wishes | None = None):
    """A plan, and the parts of its measurement of so many simulated people."""
    rows = simulated_rows(DOMAIN, people, np.random.default_rng(5))
    plan = METHOD.plan(DOMAIN, wishes or Wishes(), Loss(Definition.ZCDP, Fraction(rho)))
    noise = Noise(repeatable(b"repeated columns".ljust(32)).bytes)
    measurement = METHOD.measure(plan, PairTables(DOMAIN.shape).of_rows(rows), noise)
    return plan, rows, measurement


def again_and_tables(plan, measurement) -> tuple[list[np.ndarray], int]:
    _noisy, (_groups, *further), _sums = unpack_measured(plan, measurement.values)
    again, tables = [], 0
    for _round in range(ROUNDS):
        _scores, pairs = further.pop(0), further.pop(0)
        tables += pairs.size // 2
        parts = [further.pop(0) for _ in range(max(1, pairs.size // 2))]
        again += [] if pairs.size else parts
    assert not further
    return again, tables


@pytest.mark.parametrize(("people", "rho", "rounds"), [(500, "0.0001", ROUNDS), (50_000, "1", 0)])
def test_of_few_people_columns_are_measured_and_of_many_pairs(people, rho, rounds):
    plan, _rows, measurement = measured(people, rho)
    again, tables = again_and_tables(plan, measurement)
    assert len(again) == rounds and (tables == 0) == (rounds == ROUNDS)
    assert METHOD.recorded(plan, unpack_measured(plan, measurement.values)[1])[1] == [] or tables


def test_pairs_that_a_curator_requires_are_measured_of_few_people_too():
    plan, _rows, measurement = measured(500, "0.0001", Wishes(required=(("c0", "c3"),)))
    assert again_and_tables(plan, measurement)[0] == []


def test_columns_are_as_exact_as_all_of_their_measurements():
    """The weighted mean of independent counts has the inverse of the sum of their precisions for variance."""
    plan, rows, measurement = measured(500, "0.001")
    noisy, _further, _sums = unpack_measured(plan, measurement.values)
    again, _tables = again_and_tables(plan, measurement)
    margins = margins_of(plan, noisy)
    for number, more in enumerate(again, 1):
        margins = with_again(plan, margins, more, plan.step(TABLES.format(number)))
    precision = 1 / margin_variances(plan)[0] * (1 + 0.2 * len(again) / 0.3)
    assert margins.variances[0] == pytest.approx(1 / precision, rel=0.01)
    true = np.concatenate([np.bincount(rows[:, j], minlength=12) for j in range(4)])
    apart = (np.concatenate(margins.noisy) - true) / np.sqrt(np.repeat(margins.variances, 12))
    assert np.abs(apart).max() < 4.5 and 0.6 < apart.std() < 1.5


def test_a_mean_of_two_measurements_is_weighted_by_their_precision():
    attributes = DOMAIN.attributes[:1]
    one, other = np.arange(12) * 10, np.arange(12) * 10 + 30
    both = joined(attributes, estimate(attributes, [one], [1.0], None), [other], [3.0], None)
    assert np.allclose(both.noisy[0], one + 30 / 4) and both.variances == pytest.approx((3 / 4,))
    assert split(other, (12,))[0].sum() == other.sum()


@pytest.mark.slow
def test_rows_of_few_people_are_nearer_than_those_of_independent_columns_are_far():
    """At a cost at which pairs cannot be seen, what is left is the error of columns: 15 % more at most."""
    rows = simulated_rows(DOMAIN, 2_000, np.random.default_rng(8))
    tables, loss = PairTables(DOMAIN.shape), Loss(Definition.ZCDP, Fraction("0.0005"))
    true = tables.of_rows(rows)
    errors = {}
    for name in ("latent-classes", "independent-columns"):
        method, apart = microdata(name), []
        plan = method.plan(DOMAIN, Wishes(), loss)
        for seed in range(12):
            noise = Noise(repeatable(bytes([seed]) * 32).bytes)
            counts = true if plan.pairwise else tables.columns(true)
            made = method.reconstruct(plan, method.measure(plan, counts, noise)).rows
            apart.append(np.abs(tables.of_rows(made) / len(made) - true / 2_000).sum())
        errors[name] = np.mean(apart)
    assert errors["latent-classes"] < 1.15 * errors["independent-columns"]
