"""What every histogram by blocks must do, for each of them."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

from mechanisms.accounting import Definition, Loss, Neighbours, PrivacyUnit
from mechanisms.domain import Boolean, Categorical, Domain, Integer
from mechanisms.histogram.bisection import BisectedHistogram
from mechanisms.histogram.clustering import ClusteredHistogram
from mechanisms.histogram.grid import AdaptiveGrid, UniformGrid
from mechanisms.histogram.partitioned import PartitionedHistogram
from mechanisms.histogram.privtree import PrivTree
from mechanisms.histogram.quadtree import Quadtree
from mechanisms.noise import DiscreteGaussian, DiscreteLaplace, Noise
from mechanisms.protocol import Plan, PlanError

MECHANISMS = [
    UniformGrid(),
    AdaptiveGrid(),
    Quadtree(),
    PrivTree(),
    ClusteredHistogram(),
    BisectedHistogram(),
]
FEW = {"clusters": 4}
REPLACE = PrivacyUnit(Neighbours.REPLACE_ONE)

every = pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda m: m.name)


def box(*widths: int) -> Domain:
    return Domain(tuple(Integer(f"x{i}", lower=1, upper=w) for i, w in enumerate(widths)))


DOMAINS = {
    "one column": box(20),
    "two": box(6, 9),
    "three": box(4, 1, 5),
    "four": Domain((Boolean("b"), Categorical("c", values=("u", "v")), *box(3, 4).attributes)),
}


def loss(amount: str, definition: Definition = Definition.PURE, unit: PrivacyUnit = PrivacyUnit()) -> Loss:  # noqa: B008
    return Loss(definition, Fraction(amount), unit)


def noise(seed: int = 7) -> Noise:
    return Noise(np.random.default_rng(seed).bytes)


@every
@pytest.mark.parametrize("definition", list(Definition))
@pytest.mark.parametrize("unit", [PrivacyUnit(), REPLACE, PrivacyUnit(max_rows=3)], ids=str)
def test_stages_spend_exactly_the_loss(
    mechanism: PartitionedHistogram, definition: Definition, unit: PrivacyUnit
) -> None:
    stages = mechanism.plan(box(6, 9), FEW, loss("0.3", definition, unit)).details["stages"]
    assert sum(Fraction(s["share"]) * s["times"] for s in stages) == 1


@every
@pytest.mark.parametrize(
    ("definition", "law"), [(Definition.PURE, DiscreteLaplace), (Definition.ZCDP, DiscreteGaussian)]
)
def test_the_definition_chooses_the_noise_of_counts(
    mechanism: PartitionedHistogram, definition: Definition, law: type
) -> None:
    assert isinstance(mechanism.plan(box(6, 9), FEW, loss("0.3", definition)).noise, law)


@every
def test_replacing_a_person_with_two_rows_takes_four_times_the_noise(mechanism: PartitionedHistogram) -> None:
    two = PrivacyUnit(Neighbours.REPLACE_ONE, max_rows=2)
    one, four = (mechanism.plan(box(6, 9), FEW, loss("1", unit=u)).noise for u in (PrivacyUnit(), two))
    assert isinstance(one, DiscreteLaplace)
    assert isinstance(four, DiscreteLaplace)
    assert four.scale == 4 * one.scale


@every
def test_json_brings_a_plan_back(mechanism: PartitionedHistogram) -> None:
    plan = mechanism.plan(box(6, 9), FEW, loss("0.1"))
    assert Plan.from_json(json.loads(json.dumps(plan.to_json()))) == plan


@every
def test_a_plan_promises_no_interval_and_says_why(mechanism: PartitionedHistogram) -> None:
    plan = mechanism.plan(box(6, 9), FEW, loss("0.1"))
    assert (plan.standard_error, plan.half_width, plan.coverage) == (None, None, None)
    assert "depends on the data" in plan.explanation


@every
@pytest.mark.parametrize("domain", DOMAINS.values(), ids=DOMAINS)
@pytest.mark.parametrize("definition", list(Definition))
def test_a_release_is_a_partition_with_possible_counts(
    mechanism: PartitionedHistogram, domain: Domain, definition: Definition
) -> None:
    counts = np.random.default_rng(1).integers(0, 300, domain.size)
    plan = mechanism.plan(domain, FEW, loss("1", definition))
    result = mechanism.reconstruct(plan, mechanism.measure(plan, counts, noise()))
    assert result.partition is not None
    assert (result.raw.shape, result.counts.shape, result.partition.shape) == ((domain.size,),) * 3
    assert np.bincount(result.partition).min() > 0
    assert result.counts.min() >= 0
    assert result.counts.dtype == np.int64
    assert all(np.ptp(result.raw[result.partition == b]) == 0 for b in np.unique(result.partition))


@every
def test_people_spread_evenly_are_found_exactly_without_noise(mechanism: PartitionedHistogram) -> None:
    # At ε = 1000 the part of the counts is at least 45: a draw differs from 0 with probability below 1e-19.
    counts = np.full(54, 1000)
    plan = mechanism.plan(box(6, 9), FEW, loss("1000"))
    result = mechanism.reconstruct(plan, mechanism.measure(plan, counts, noise()))
    assert np.array_equal(result.counts, counts)
    assert result.raw == pytest.approx(counts)


@every
def test_block_totals_are_those_of_the_data_without_noise(mechanism: PartitionedHistogram) -> None:
    counts = np.random.default_rng(3).integers(0, 1000, 54)
    plan = mechanism.plan(box(6, 9), FEW, loss("1000"))
    result = mechanism.reconstruct(plan, mechanism.measure(plan, counts, noise()))
    assert result.partition is not None
    true, found = (np.bincount(result.partition, weights=c) for c in (counts, result.counts))
    assert np.array_equal(true, found)


@every
@pytest.mark.parametrize("definition", list(Definition))
def test_one_cell_is_one_block(mechanism: PartitionedHistogram, definition: Definition) -> None:
    plan = mechanism.plan(box(1), {"clusters": 1}, loss("1000", definition))
    result = mechanism.reconstruct(plan, mechanism.measure(plan, np.array([17]), noise()))
    assert result.counts.tolist() == [17]


@every
def test_constant_columns_keep_all_people_without_noise(mechanism: PartitionedHistogram) -> None:
    counts = np.zeros(54, dtype=np.int64)
    counts[31] = 10**6
    plan = mechanism.plan(box(6, 9), FEW, loss("1000"))
    result = mechanism.reconstruct(plan, mechanism.measure(plan, counts, noise()))
    assert result.counts.sum() == 10**6


@every
@pytest.mark.parametrize("amount", ["0.001", "1"])
def test_an_empty_dataset_makes_a_possible_table(mechanism: PartitionedHistogram, amount: str) -> None:
    plan = mechanism.plan(box(6, 9), FEW, loss(amount))
    result = mechanism.reconstruct(plan, mechanism.measure(plan, np.zeros(54, np.int64), noise()))
    assert 0 <= result.counts.sum() <= np.abs(result.raw).sum()
    assert result.counts.min() >= 0


@every
def test_a_public_total_is_kept(mechanism: PartitionedHistogram) -> None:
    plan = mechanism.plan(box(6, 9), {**FEW, "total": 5400}, loss("0.1", unit=REPLACE))
    result = mechanism.reconstruct(plan, mechanism.measure(plan, np.full(54, 100), noise()))
    assert result.counts.sum() == 5400


@every
def test_reconstruction_repeats(mechanism: PartitionedHistogram) -> None:
    plan = mechanism.plan(box(6, 9), FEW, loss("0.5"))
    measurement = mechanism.measure(plan, np.arange(54), noise())
    first, second = (mechanism.reconstruct(plan, measurement) for _ in range(2))
    assert np.array_equal(first.raw, second.raw)
    assert np.array_equal(first.counts, second.counts)


@every
def test_a_stored_plan_reads_the_measurement_alike(mechanism: PartitionedHistogram) -> None:
    plan = mechanism.plan(box(6, 9), FEW, loss("0.5"))
    measurement = mechanism.measure(plan, np.arange(54), noise())
    stored = Plan.from_json(json.loads(json.dumps(plan.to_json())))
    raw = [mechanism.reconstruct(p, measurement).raw for p in (plan, stored)]
    assert np.array_equal(*raw)


@every
@pytest.mark.parametrize(
    ("counts", "message"),
    [
        (np.zeros(53, np.int64), r"must have shape \(54,\), got \(53,\)"),
        (np.zeros(54), "must have type int64, got float64"),
        (np.full(54, -3), "must not be negative$"),
    ],
)
def test_counts_that_do_not_fit_are_refused_without_their_values(
    mechanism: PartitionedHistogram, counts: np.ndarray, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        mechanism.measure(mechanism.plan(box(6, 9), FEW, loss("1")), counts, noise())


@every
@pytest.mark.parametrize(
    ("domain", "parameters", "asked", "message"),
    [
        (Domain(()), {}, loss("1"), "at least one column"),
        (box(2, 2, 2, 2, 2), {}, loss("1"), "at most 4 columns; 5 are chosen"),
        (box(2**24 + 1), {}, loss("1"), "16,777,217 cells; at most 16,777,216"),
        (box(6, 9), FEW, loss("1001"), "protects nobody"),
        (box(6, 9), FEW, loss("0.0000000001"), "too small"),
        (box(6, 9), FEW, loss("0.0000000000000000000001", Definition.ZCDP), "too small"),
        (box(6, 9), {**FEW, "within_bins": "anywhere"}, loss("1"), "choose one of smooth, midpoint"),
        (box(6, 9), {**FEW, "total": 9}, loss("1"), "number of rows is private"),
        (box(6, 9), {**FEW, "total": -1}, loss("1", unit=REPLACE), "must not be negative"),
    ],
)
def test_a_plan_that_does_not_fit_is_refused(
    mechanism: PartitionedHistogram, domain: Domain, parameters: dict, asked: Loss, message: str
) -> None:
    with pytest.raises(PlanError, match=message):
        mechanism.plan(domain, parameters, asked)
