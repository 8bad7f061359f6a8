"""Given strategies: errors in closed form, and by many runs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Categorical, Domain, Integer
from mechanisms.matrix.answering import MatrixMechanism
from mechanisms.matrix.factor import AllRange, Factor, Identity, Prefix
from mechanisms.matrix.given import CellsStrategy
from mechanisms.matrix.workload import Term, Workload
from tests.mechanisms.matrix.montecarlo import deviation

LOSSES = [Loss(Definition.PURE, Fraction(1)), Loss(Definition.ZCDP, Fraction(1, 2))]
SMALL = Domain((Integer("age", lower=0, upper=5), Categorical("sex", values=("F", "Other"))))
QUERIES = Workload((6, 2), (Term(1.0, {0: AllRange(6), 1: Identity(2)}), Term(1.0, {0: Prefix(6)})), "")


def line(n: int) -> Domain:
    return Domain((Integer("x", lower=1, upper=n),))


def single(factor: Factor) -> Workload:
    return Workload((factor.size,), (Term(1.0, {0: factor}),), "")


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.definition)
@pytest.mark.parametrize("mechanism", [CellsStrategy()], ids=lambda m: m.name)
def test_the_expected_error_is_what_many_runs_show(mechanism: MatrixMechanism, loss: Loss) -> None:
    plan = mechanism.plan(SMALL, QUERIES, loss)
    counts = np.arange(12, dtype=np.int64) * 7
    assert abs(deviation(mechanism, plan, counts, QUERIES.answers(counts))) < 3
