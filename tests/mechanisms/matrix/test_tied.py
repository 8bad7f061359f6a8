"""How many cells a page's sum ties together is known from shapes, before a strategy is built."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from mechanisms import registry
from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Domain, Integer
from mechanisms.matrix.answering import MatrixMechanism, strategy_of
from mechanisms.matrix.mechanism import Optimised
from mechanisms.matrix.strategy import pseudo_inverse
from mechanisms.matrix.workload.text import read_workload

DOMAIN = Domain((Integer("x", lower=0, upper=11), Integer("y", lower=0, upper=6)))
WORKLOADS = [
    'identity("x")',
    'prefix("x")',
    'ranges("x") x identity("y")',
    'ranges("x") x prefix("y")',
    'prefix("x") + identity("y")',
    'prefix("x") x identity("y") + total',
]
# Each method with the queries that it serves.
SERVED = [
    (method, text)
    for method in registry.QUERIES
    for text in WORKLOADS
    if isinstance(method, MatrixMechanism)
    and not method.refusal(DOMAIN, read_workload(text, DOMAIN), max(method.definitions))
]


@pytest.mark.parametrize(("method", "text"), SERVED, ids=lambda case: getattr(case, "name", case))
def test_no_larger_inverse_is_taken_than_a_method_says(method, text, monkeypatch):
    workload = read_workload(text, DOMAIN)
    loss = Loss(max(method.definitions), Fraction(1, 10))
    inverted: list[int] = []
    taken = pseudo_inverse.Inverse.__init__

    def watched(self: pseudo_inverse.Inverse, gram: np.ndarray) -> None:
        inverted.append(len(gram))
        taken(self, gram)

    plan = method.plan(DOMAIN, workload, loss, searched(method, workload, loss.definition))
    monkeypatch.setattr(pseudo_inverse.Inverse, "__init__", watched)
    built = method.strategy(DOMAIN, workload, loss.definition, plan.optimised)
    built.solve(np.ones(DOMAIN.size))
    assert max(inverted, default=1) <= method.tied(workload)
    assert strategy_of(method, plan).size == built.size


def searched(method: MatrixMechanism, workload, definition: Definition) -> Optimised | None:
    if method.is_uploaded:
        return Optimised({"strategy": np.eye(DOMAIN.size, dtype=np.int64)}, {})
    if not method.optimises:
        return None
    return method.optimise(DOMAIN, workload, definition, lambda _done, _all: None)


def test_cells_and_nested_intervals_need_none():
    workload = read_workload('ranges("x") x identity("y")', DOMAIN)
    for name in ("identity-strategy", "hierarchy-strategy"):
        assert registry.query_mechanism(name).tied(workload) == 1
    assert registry.query_mechanism("p-identity").tied(workload) == 12
