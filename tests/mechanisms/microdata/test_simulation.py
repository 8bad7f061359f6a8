"""What is simulated: tables of the declared shape with dependence, and errors like those on another table."""

from __future__ import annotations

import tracemalloc
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from mechanisms.accounting import Definition, Loss
from mechanisms.microdata.adversarial.method import PROGRAM_BYTES
from mechanisms.microdata.association import cramers_v
from mechanisms.microdata.constraints import Wishes
from mechanisms.microdata.cost_estimate import memory
from mechanisms.microdata.mechanism import Microdata
from mechanisms.microdata.quality import table_of_rows
from mechanisms.microdata.simulated_rows import simulated_rows
from mechanisms.microdata.simulation import (
    AMOUNTS,
    FEWEST_COMPARED,
    MOST_CELLS,
    MOST_TABLES,
    Simulated,
    SimulatedShape,
    ranked,
    simulated,
)
from mechanisms.microdata.simulation_time import simulation_seconds
from mechanisms.microdata.tables import PairTables
from mechanisms.noise import Noise, repeatable
from mechanisms.protocol import Measurement
from mechanisms.registry import MICRODATA
from tests.benchmarks.synthesis import adult
from tests.mechanisms.microdata.building import DOMAIN, counted, distance, loss, of_methods, people

FAST = {m.name: m for m in MICRODATA if m.name not in ("latent-classes", "dp-gan")}


def test_made_up_people_have_the_shape_and_depend():
    made = SimulatedShape.of(DOMAIN).domain()
    assert made.shape == DOMAIN.shape
    assert [a.ordered for a in made.attributes] == [a.ordered for a in DOMAIN.attributes]
    strongest = []
    for seed in range(20):
        rows = simulated_rows(made, 3000, repeatable(bytes([seed] * 32)))
        assert (rows >= 0).all() and (rows < np.array(made.shape)).all()
        strongest.append(max(cramers_v(table_of_rows(rows, made.shape, (0, j))) for j in (1, 2, 3)))
    assert 0.2 < np.mean(strongest) < 0.7


@pytest.mark.slow
def test_on_a_table_that_nobody_tuned_to_errors_are_near_the_simulated_ones():
    """Adult, whose columns depend a little less than those of most public tables: within a factor of 1.75."""
    domain, rows = adult()
    true, pairs = PairTables(domain.shape).of_rows(rows), PairTables(domain.shape)
    fast = {name: FAST[name] for name in ("tree-of-pairs", "independent-columns")}
    for line in simulated(SimulatedShape.of(domain), len(rows), loss(), fast):
        plan = fast[line.method].plan(domain, Wishes(), loss(line.amount))
        counts = true if plan.pairwise else pairs.columns(true)
        made = fast[line.method].reconstruct(plan, fast[line.method].measure(plan, counts, Noise())).rows
        real = np.abs(pairs.of_rows(made) / len(made) - true / len(rows)).sum() / 2 / len(pairs.pairs)
        assert 1 / 1.75 < real / line.pairs < 1.75, (line, real)


def lines(method: str, *errors: float) -> list[Simulated]:
    return [
        Simulated(method, amount, error, None, 1.0)
        for amount, error in zip(("0.1", "1", "10"), errors, strict=True)
    ]


def test_the_least_error_is_recommended_and_of_equal_ones_the_first():
    found = [
        *lines("classes", 0.2, 0.1, 0.01),
        *lines("tree", 0.2, 0.1, 0.04),
        *lines("single", 0.15, 0.102, 0.09),
    ]
    assert [name for name, _error in ranked(found, 10)] == ["classes", "tree", "single"]
    assert [name for name, _error in ranked(found, 0.1)] == ["single", "classes", "tree"]
    # Outside of what was simulated the nearest counts.
    assert ranked(found, 0.001) == ranked(found, 0.1)
    assert ranked(found, 500) == ranked(found, 10)
    # Within 3 % all are equal: the first of the methods goes ahead of the least.
    assert ranked(lines("a", 0.102, 0.1, 0.1) + lines("b", 0.1, 0.1, 0.1), 0.1)[0][0] == "a"
    assert ranked(lines("a", 0.105, 0.1, 0.1) + lines("b", 0.1, 0.1, 0.1), 0.1)[0][0] == "b"
    assert ranked(found, 10**0.5)[0] == ("classes", pytest.approx((0.1 * 0.01) ** 0.5))
    assert ranked([], 1) == []


def test_a_table_of_many_cells_is_simulated_with_coarser_columns():
    fine = SimulatedShape(tuple((size, "ordered", True) for size in (5000, 3000, 2, 900)))
    coarse = fine.within(MOST_CELLS)
    assert coarse.pair_cells <= MOST_CELLS < fine.pair_cells
    assert [size for size, _kind, _missing in coarse.columns][2:] == [2, 900]
    assert coarse.pair_cells == PairTables(coarse.domain().shape).size
    assert fine.of_columns(2).columns == ((2, "ordered", True), (5000, "ordered", True))


@pytest.fixture
def single(monkeypatch: pytest.MonkeyPatch) -> None:
    """One made-up table, where there would be ten of so few columns."""
    monkeypatch.setattr("mechanisms.microdata.simulation.MOST_TABLES", 1)


@pytest.mark.slow
def test_the_same_shape_gives_the_same_errors_and_more_budget_smaller_ones(single):
    one, other = (list(simulated(SimulatedShape.of(DOMAIN), 3000, loss(), FAST)) for _ in range(2))
    assert [(s.method, s.pairs, s.triples) for s in one] == [(s.method, s.pairs, s.triples) for s in other]
    assert {s.amount for s in one} == set(AMOUNTS[Definition.ZCDP])
    tree = [s.pairs for s in one if s.method == "tree-of-pairs"]
    assert tree == sorted(tree, reverse=True)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["tree-of-pairs", "independent-columns"])
def test_of_few_people_the_simulated_error_is_no_single_draw(method):
    """500 people, Adult's 14 columns, the least cost: an error varies by a tenth, and methods differ by less."""
    shape, people, least = SimulatedShape.of(adult()[0]), 500, AMOUNTS[Definition.ZCDP][0]
    domain = shape.domain()
    plan = FAST[method].plan(domain, Wishes(), loss(least))
    pairs = PairTables(domain.shape)
    errors = []
    for seed in range(40):
        rows = simulated_rows(domain, people, repeatable(bytes([seed] * 32)))
        true = pairs.of_rows(rows)
        counts = true if plan.pairwise else pairs.columns(true)
        noise = Noise(repeatable(bytes([seed + 100] * 32)).bytes)
        made = FAST[method].reconstruct(plan, FAST[method].measure(plan, counts, noise)).rows
        errors.append(np.abs(pairs.of_rows(made) / len(made) - true / people).sum() / 2 / len(pairs.pairs))
    found = next(iter(simulated(shape, people, loss(), {method: FAST[method]})))
    assert found.amount == least and found.pairs == pytest.approx(np.mean(errors), rel=0.05)


@pytest.mark.slow
def test_a_slow_method_that_is_far_from_the_others_is_told_so_by_few_tables(monkeypatch):
    """The tree, as if it were slow, and independent columns at the largest cost: fewer releases, the same figures."""
    largest = AMOUNTS[Definition.ZCDP][-1]
    monkeypatch.setitem(AMOUNTS, Definition.ZCDP, (largest,))
    tree, single = (FAST[name] for name in ("tree-of-pairs", "independent-columns"))
    monkeypatch.setattr(type(tree), "simulated_last", True)
    released, measure = [], type(tree).measure

    def counted(self: Microdata, *given: Any) -> Measurement:
        released.append(self.name)
        return measure(self, *given)

    monkeypatch.setattr(type(tree), "measure", counted)
    methods = {"tree-of-pairs": tree, "independent-columns": single}
    shape = SimulatedShape.of(adult()[0]).of_columns(8)
    few = list(simulated(shape, 1000, loss(), methods))
    assert [line.method for line in few] == ["independent-columns", "tree-of-pairs"]
    assert released.count("tree-of-pairs") == FEWEST_COMPARED
    released.clear()
    monkeypatch.setattr("mechanisms.microdata.simulation.FEWEST_COMPARED", MOST_TABLES)
    all_ = list(simulated(shape, 1000, loss(), methods))
    assert released.count("tree-of-pairs") == 7
    assert few[0].pairs == all_[0].pairs
    assert few[1].pairs == pytest.approx(all_[1].pairs, rel=0.1)
    assert few[1].triples == pytest.approx(all_[1].triples, rel=0.1)


def at_least_cost(methods: dict[str, Microdata]) -> list[float]:
    """The first three methods' errors of pairs at the smallest cost."""
    least = AMOUNTS[Definition.ZCDP][0]
    return [
        s.pairs for s in simulated(SimulatedShape.of(DOMAIN), 40_000, loss(), methods) if s.amount == least
    ][:3]


@pytest.mark.slow
def test_many_people_are_fewer_with_as_strong_noise(monkeypatch, single):
    """Where noise rules, at the smallest cost, the same errors at n and at n/4, up to chance, which rules clusters."""
    steady = {name: method for name, method in FAST.items() if name != "clusters"}
    monkeypatch.setattr("mechanisms.microdata.simulation.MOST_PEOPLE", 40_000)
    all_ = at_least_cost(steady)
    monkeypatch.setattr("mechanisms.microdata.simulation.MOST_PEOPLE", 10_000)
    assert at_least_cost(steady) == pytest.approx(all_, rel=0.4)


@pytest.mark.slow
def test_the_simulated_errors_are_those_of_another_table_within_a_factor():
    """Of single columns, whose errors do not depend on what the table holds: within half of each other."""
    amount = AMOUNTS[Definition.ZCDP][0]
    plan = FAST["tree-of-pairs"].plan(DOMAIN, Wishes(), Loss(Definition.ZCDP, Fraction(amount)))
    found = next(
        s
        for s in simulated(SimulatedShape.of(DOMAIN), 4000, loss(), FAST)
        if (s.method, s.amount) == ("tree-of-pairs", amount)
    )
    tree, counts = FAST["tree-of-pairs"], counted(plan, people())
    rows = [tree.reconstruct(plan, tree.measure(plan, counts, Noise())).rows for _ in range(10)]
    real = np.mean([distance(r, people(), (a, b)) for r in rows for a in range(4) for b in range(a)])
    assert real / 2 < found.pairs < 2 * real


@pytest.mark.slow
@pytest.mark.parametrize("method", of_methods())
def test_memory_is_foreseen_within_a_factor_of_two(method):
    rows = people(60_000)
    plan = method.plan(DOMAIN, Wishes(), loss("1/10"))
    counts = counted(plan, rows)
    tracemalloc.start()
    method.reconstruct(plan, method.measure(plan, counts, Noise()))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    of_arrays = memory(method, plan, 60_000) - PROGRAM_BYTES * (method.name == "dp-gan")
    assert of_arrays / 2 < peak < 2 * of_arrays


@pytest.mark.parametrize("definition", list(Definition))
def test_more_columns_values_people_and_methods_are_foreseen_to_take_longer(definition) -> None:
    def seconds(columns: int, values: int, number: int, methods=MICRODATA) -> float:
        shape = SimulatedShape(((values, "ordered", False),) * columns)
        return simulation_seconds(shape, number, Loss(definition, Fraction(1)), methods)

    base = seconds(14, 10, 4_000)
    assert 0 < base < min(seconds(20, 10, 4_000), seconds(14, 10, 50_000))
    assert base <= seconds(14, 20, 4_000) and seconds(14, 10, 4_000, list(FAST.values())) < base
    # More people than are made up take no longer.
    assert seconds(14, 10, 50_000) == seconds(14, 10, 5_000_000)
