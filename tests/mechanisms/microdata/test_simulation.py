"""What is simulated: tables of the declared shape with dependence, and errors like those on another table."""

from __future__ import annotations

import tracemalloc
from fractions import Fraction

import numpy as np
import pytest

from mechanisms.accounting import Definition, Loss
from mechanisms.microdata.association import cramers_v
from mechanisms.microdata.foresight import PROGRAM_BYTES, foresee
from mechanisms.microdata.quality import table_of_rows
from mechanisms.microdata.simulation import AMOUNTS, Shape, drawn, simulated
from mechanisms.microdata.wishes import Wishes
from mechanisms.noise import Noise, repeatable
from mechanisms.registry import MICRODATA
from tests.mechanisms.microdata.building import DOMAIN, counted, distance, loss, of_methods, people

FAST = {m.name: m for m in MICRODATA if m.name not in ("latent-classes", "dp-gan")}


def test_made_up_people_have_the_shape_and_depend():
    made = Shape.of(DOMAIN).domain()
    assert made.shape == DOMAIN.shape
    assert [a.ordered for a in made.attributes] == [a.ordered for a in DOMAIN.attributes]
    rows = drawn(made, 5000, repeatable(bytes(32)))
    assert (rows >= 0).all() and (rows < np.array(made.shape)).all()
    assert max(cramers_v(table_of_rows(rows, made.shape, (0, j))) for j in (1, 2, 3)) > 0.2


def test_the_same_shape_gives_the_same_errors_and_more_budget_smaller_ones():
    one, other = (list(simulated(Shape.of(DOMAIN), 3000, loss(), FAST)) for _ in range(2))
    assert [(s.method, s.pairs, s.triples) for s in one] == [(s.method, s.pairs, s.triples) for s in other]
    assert {s.amount for s in one} == set(AMOUNTS[Definition.ZCDP])
    tree = [s.pairs for s in one if s.method == "tree-of-pairs"]
    assert tree == sorted(tree, reverse=True)


def test_many_people_are_fewer_with_as_strong_noise(monkeypatch):
    """Where noise rules, at the smallest cost, the same errors at n and at n/4, up to chance."""
    monkeypatch.setattr("mechanisms.microdata.simulation.MOST_PEOPLE", 40_000)
    all_ = [s.pairs for s in simulated(Shape.of(DOMAIN), 40_000, loss(), FAST)]
    monkeypatch.setattr("mechanisms.microdata.simulation.MOST_PEOPLE", 10_000)
    few = [s.pairs for s in simulated(Shape.of(DOMAIN), 40_000, loss(), FAST)]
    assert few[:3] == pytest.approx(all_[:3], rel=0.4)


def test_the_simulated_errors_are_those_of_another_table_within_a_factor():
    """Of single columns, whose errors do not depend on what the table holds: within half of each other."""
    amount = AMOUNTS[Definition.ZCDP][0]
    plan = FAST["tree-of-pairs"].plan(DOMAIN, Wishes(), Loss(Definition.ZCDP, Fraction(amount)))
    found = next(
        s
        for s in simulated(Shape.of(DOMAIN), 4000, loss(), FAST)
        if (s.method, s.amount) == ("tree-of-pairs", amount)
    )
    tree, counts = FAST["tree-of-pairs"], counted(plan, people())
    rows = [tree.reconstruct(plan, tree.measure(plan, counts, Noise())).rows for _ in range(10)]
    real = np.mean([distance(r, people(), (a, b)) for r in rows for a in range(4) for b in range(a)])
    assert real / 2 < found.pairs < 2 * real


@pytest.mark.parametrize("method", of_methods())
def test_memory_is_foreseen_within_a_factor_of_two(method):
    rows = people(60_000)
    plan = method.plan(DOMAIN, Wishes(), loss("1/10"))
    counts = counted(plan, rows)
    tracemalloc.start()
    method.reconstruct(plan, method.measure(plan, counts, Noise()))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    of_arrays = foresee(plan, 60_000).bytes - PROGRAM_BYTES * (method.name == "dp-gan")
    assert of_arrays / 2 < peak < 2 * of_arrays
