"""What a plan takes from a store is what it would have worked out, also after a way through JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from mechanisms import registry
from mechanisms.accounting import Definition, Loss, Neighbours, PrivacyUnit
from mechanisms.continual.buffered import best_buffers
from mechanisms.continual.gaussian_optimum import triangular_optimum
from mechanisms.continual.hierarchy import best_levels
from mechanisms.continual.windows import best_layers
from mechanisms.deferred_search import taken_from, work_out
from mechanisms.domain import Domain, Integer
from mechanisms.linear.tree import best_tree
from mechanisms.matrix import answering
from mechanisms.matrix.mechanism import Optimised, set_keeper
from mechanisms.matrix.workload.factor import Explicit
from mechanisms.matrix.workload.text import read_workload

SEARCHES = [
    (best_tree, ("ranges", 40, Definition.PURE)),
    (best_layers, (20, False)),
    (best_buffers, (10,)),
    (best_levels, (30, Definition.ZCDP)),
]
DOMAIN = Domain((Integer("x", lower=1, upper=6), Integer("y", lower=1, upper=5)))


@dataclass
class Kept:
    """Methods, strategies and uploaded queries by their names."""

    strategies: dict[str, Optimised] = field(default_factory=dict)
    uploaded: dict[str, Explicit] = field(default_factory=dict)

    def method(self, name):
        return registry.query_mechanism(name)

    def strategy(self, name):
        return self.strategies[name]

    def workload(self, text, domain):
        return read_workload(text, domain, self.uploaded)


class Written:
    """A store that has everything, as a table of JSON would; taken: what was asked of it."""

    def __init__(self) -> None:
        self.taken: list[str] = []

    def result(self, name, version, arguments):
        self.taken.append(name)
        return json.loads(json.dumps(work_out(name, version, json.loads(json.dumps(arguments)))))


@pytest.fixture
def store(monkeypatch) -> Written:
    """Everything takes long."""
    for search in (answering._facts, answering._replaced, triangular_optimum, *(s for s, _ in SEARCHES)):
        monkeypatch.setattr(search, "_takes_long", lambda *args, **named: True)
    monkeypatch.setattr("mechanisms.matrix.mechanism._keepers", [Kept()])
    return Written()


@pytest.mark.parametrize("search, arguments", SEARCHES, ids=lambda value: getattr(value, "name", ""))
def test_a_search_is_the_same_from_the_store(store, search, arguments):
    with taken_from(store):
        found = search(*arguments)
    assert store.taken and found == search(*arguments)


def test_a_triangle_is_the_same_to_the_last_bit(store):
    with taken_from(store):
        found = triangular_optimum(7)
    assert np.array_equal(found.strategy, triangular_optimum(7).strategy)
    assert found.lower_bound == triangular_optimum(7).lower_bound


@pytest.mark.parametrize("unit", [PrivacyUnit(), PrivacyUnit(Neighbours.REPLACE_ONE)], ids=str)
@pytest.mark.parametrize("name", ["hierarchy-strategy", "workload-strategy", "haar-strategy"])
def test_a_plan_is_the_same_from_the_store(store, name, unit):
    mechanism = registry.query_mechanism(name)
    workload = read_workload('ranges("x") x identity("y") + identity("x")', DOMAIN)
    loss = Loss(Definition.PURE, Fraction(1, 3), unit)
    with taken_from(store):
        plan = mechanism.plan(DOMAIN, workload, loss)
    assert store.taken and plan.to_json() == mechanism.plan(DOMAIN, workload, loss).to_json()


def test_a_measurement_needs_no_shelf(store):
    """Pages that show what was released work out their strategy; only plans wait."""
    mechanism = registry.query_mechanism("hierarchy-strategy")
    plan = mechanism.plan(DOMAIN, read_workload('ranges("x")', DOMAIN), Loss(Definition.PURE, Fraction(1)))
    answering.strategy_of(mechanism, plan)
    assert not store.taken


def test_a_kept_strategy_goes_by_its_name(store):
    workload = read_workload('ranges("x")', DOMAIN)
    method = registry.query_mechanism("p-identity")
    found = method.optimise(DOMAIN, workload, Definition.PURE, lambda _done, _all: None)
    kept = Optimised(found.arrays, found.facts, "strategies/one")
    set_keeper(Kept(strategies={"strategies/one": kept}))
    with taken_from(store):
        plan = method.plan(DOMAIN, workload, Loss(Definition.PURE, Fraction(1)), kept)
        taken = len(store.taken)
        method.plan(DOMAIN, workload, Loss(Definition.PURE, Fraction(1)), found)
    assert taken and len(store.taken) == taken
    assert (
        plan.to_json() == method.plan(DOMAIN, workload, Loss(Definition.PURE, Fraction(1)), found).to_json()
    )


def test_uploaded_queries_go_by_their_digest(store):
    digest = "ab" * 32
    uploaded = {digest: Explicit(sparse.csr_array(np.eye(30)[:9]), ())}
    set_keeper(Kept(uploaded=uploaded))
    workload = read_workload(f'uploaded("{digest}")', DOMAIN, uploaded)
    method, loss = registry.query_mechanism("haar-strategy"), Loss(Definition.PURE, Fraction(1))
    with taken_from(store):
        plan = method.plan(DOMAIN, workload, loss)
    assert store.taken and plan.to_json() == method.plan(DOMAIN, workload, loss).to_json()


def test_many_uploaded_queries_take_long():
    """Nobody waits for 4,096 cells and their inverse in a web request, and few small ones are answered at once."""
    for queries, long in ((5, False), (5_000, True)):
        matrix = Explicit(sparse.csr_array(np.ones((queries, 30))), ())
        workload = read_workload(f'uploaded("{"ab" * 32}")', DOMAIN, {"ab" * 32: matrix})
        assert answering._takes_long(None, DOMAIN, workload) is long
