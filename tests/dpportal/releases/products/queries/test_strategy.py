"""The strategy of a plan as arrays and pictures, of every kind that a mechanism can lay down."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from django.utils.translation import override

from dpportal.releases.products.queries.strategy import strategy_figures
from mechanisms import registry
from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Domain, Integer
from mechanisms.matrix.mechanism import Optimised
from mechanisms.matrix.strategy_arrays import strategy_arrays
from mechanisms.matrix.workload.text import read_workload

PLANE = Domain((Integer("x", lower=1, upper=4), Integer("y", lower=1, upper=5)))
OWN = Optimised({"strategy": np.vstack([np.ones((1, 20)), np.eye(20)])})


@pytest.mark.parametrize("mechanism", registry.QUERIES, ids=lambda m: m.name)
@pytest.mark.parametrize("text", ['identity("x")', 'prefix("x") x identity("y") + total'])
def test_a_strategy_over_two_columns_is_stored_and_drawn(mechanism, text: str) -> None:
    """An uploaded one over all cells stopped a release after its noise was paid for."""
    workload = read_workload(text, PLANE)
    for definition in mechanism.definitions:
        if mechanism.refusal(PLANE, workload, definition):
            continue
        found = OWN if mechanism.name == "uploaded-strategy" else None
        if mechanism.optimises:
            found = mechanism.optimise(PLANE, workload, definition, lambda _done, _all: None)
        plan = mechanism.plan(PLANE, workload, Loss(definition, Fraction(1)), found)
        arrays = strategy_arrays(registry.query_mechanism(plan.mechanism), plan)
        if "indptr" in arrays:
            stored = scipy.sparse.csr_array(
                (arrays["data"], arrays["indices"], arrays["indptr"]), shape=arrays["shape"]
            )
            assert stored.shape == (plan.details["sums"], PLANE.size)
        assert strategy_figures(plan)


def test_an_uploaded_strategy_over_two_columns_is_written_out() -> None:
    mechanism = registry.query_mechanism("uploaded-strategy")
    workload = read_workload('identity("x")', PLANE)
    plan = mechanism.plan(PLANE, workload, Loss(Definition.PURE, Fraction(1)), OWN)
    assert tuple(strategy_arrays(registry.query_mechanism(plan.mechanism), plan)["shape"]) == (21, 20)


def test_the_set_of_no_column_is_named_in_the_reader_s_language() -> None:
    mechanism = registry.query_mechanism("residual-planner")
    workload = read_workload('identity("x") + total', PLANE)
    plan = mechanism.plan(PLANE, workload, Loss(Definition.ZCDP, Fraction(1)), None)
    with override("zh-hans"):
        [figure] = strategy_figures(plan)
    assert "all rows" not in str(figure.json) and "全部合计" in str(figure.json)
