"""Shares of a union's parts: against a fine search by dense algebra, and where they cannot help."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mechanisms.accounting import Definition
from mechanisms.domain import Domain, Integer
from mechanisms.matrix.fixed_strategies import as_rows
from mechanisms.matrix.optimise.shares import best_shares
from mechanisms.matrix.strategy.product import FewSums, Kronecker, Stacked
from mechanisms.matrix.workload.text import read_workload
from mechanisms.matrix.workload.union import Workload

DOMAIN = Domain(tuple(Integer(name, lower=1, upper=n) for name, n in (("x", 6), ("y", 4))))
# The second part holds the first, so that reconciled with it the first needs less than its own error suggests.
NESTED = read_workload('identity("x") + identity("x") x identity("y")', DOMAIN)
APART = read_workload('identity("x") + 3 * identity("y")', DOMAIN)


def parts_of(workload: Workload) -> list[Kronecker]:
    return [
        Kronecker([as_rows(f, 16, Definition.PURE) for f in term.all_factors(workload.shape)])
        for term in workload.terms
    ]


def loss(workload: Workload, shares: np.ndarray, definition: Definition) -> float:
    """By the pseudo-inverse of the whole matrix; every cell is in one sum of each part."""
    rows = [s * p.matrix().toarray() for s, p in zip(shares, parts_of(workload), strict=True)]
    norm = shares.sum() ** 2 if definition is Definition.PURE else (shares**2).sum()
    strategy = np.vstack(rows)
    return float(norm * np.trace(workload.gram() @ np.linalg.pinv(strategy.T @ strategy)))


@pytest.mark.slow
@pytest.mark.parametrize("definition", Definition)
@pytest.mark.parametrize("workload", [NESTED, APART], ids=["nested", "apart"])
@pytest.mark.parametrize("kind", [Stacked, FewSums])
def test_no_other_shares_have_a_smaller_loss(
    workload: Workload, definition: Definition, kind: type[Stacked]
) -> None:
    begin = [1.0, 1.0]
    shares, stated = best_shares(kind(parts_of(workload), [1000, 1000]), workload, begin, definition)
    found = np.array(shares)
    assert stated == pytest.approx(loss(workload, found, definition))
    ratios = np.geomspace(1e-2, 1e2, 801)
    least = min(loss(workload, np.array([1.0, ratio]), definition) for ratio in ratios)
    assert loss(workload, found, definition) <= least * (1 + 1e-6)
    assert loss(workload, found, definition) < loss(workload, np.array(begin), definition)


def test_totals_beside_cells_get_the_share_of_the_closed_form() -> None:
    """With t and 1 - t the squared shares, the loss of a total and its 4 cells is 5/(1 + 3t) + 3/(1 - t)."""
    shares, _ = best_shares(Stacked(parts_of(NESTED), [1, 1]), NESTED, [1.0, 1.0], Definition.ZCDP)
    found = np.array(shares)
    assert found[0] ** 2 / (found**2).sum() == pytest.approx((5**0.5 - 1) / (5**0.5 + 3), rel=1e-3)


def test_shares_of_too_many_sums_are_left_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mechanisms.matrix.optimise.shares.MAX_DIMENSIONS", 5)
    union = Stacked(parts_of(NESTED), [1, 1])
    assert best_shares(union, NESTED, [1.0, 2.0], Definition.PURE) == ([1.0, 2.0], math.inf)
