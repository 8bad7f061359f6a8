"""Workloads against their matrices, and at a million cells within time and memory."""

from __future__ import annotations

import time
import tracemalloc
from functools import reduce

import numpy as np
import pytest

from mechanisms.domain import Boolean, Categorical, Domain, Integer
from mechanisms.matrix.workload.factor import AllRange, Identity, Prefix, Total, Width
from mechanisms.matrix.workload.union import Term, Workload

SHAPE = (4, 2, 3)
WORKLOAD = Workload(
    SHAPE,
    (
        Term(1.0, {0: Prefix(4), 2: Identity(3)}),
        Term(3.0, {}),
        Term(0.5, {1: Identity(2), 0: AllRange(4), 2: Width(3, 2)}),
    ),
    "",
)


def matrices(workload: Workload) -> list[np.ndarray]:
    """Every term's matrix, without its weight."""
    shape = workload.shape
    return [
        reduce(np.kron, [f.times(np.eye(f.size)) for f in term.all_factors(shape)]) for term in workload.terms
    ]


def test_answers_and_their_transpose_are_those_of_the_kronecker_products() -> None:
    rng = np.random.default_rng(1)
    W = np.concatenate(matrices(WORKLOAD))
    x, y = rng.integers(0, 100, 24), rng.normal(size=len(W))
    assert WORKLOAD.queries == len(W) == 12 + 1 + 2 * 10 * 2
    assert WORKLOAD.answers(x) == pytest.approx(W @ x)
    assert WORKLOAD.transposed(y) == pytest.approx(W.T @ y)


def test_the_gram_matrix_counts_the_weights() -> None:
    x = np.random.default_rng(2).normal(size=24)
    weighted = [
        term.weight**2 * W.T @ W @ x for term, W in zip(WORKLOAD.terms, matrices(WORKLOAD), strict=True)
    ]
    assert WORKLOAD.gram_times(x) == pytest.approx(sum(weighted))


def test_queries_in_words_stand_in_the_order_of_the_answers() -> None:
    sex = Categorical("sex", values=("F", "M", "Other"))
    domain = Domain((Integer("age", lower=0, upper=39, width=10), Boolean("student"), sex))
    labels = list(WORKLOAD.labels(domain))
    assert len(labels) == WORKLOAD.queries
    assert labels[:4] == ["age 0–9, sex = F", "age 0–9, sex = M", "age 0–9, sex = Other", "age 0–19, sex = F"]
    assert labels[9:13] == ["sex = F", "sex = M", "sex = Other", "all rows"]
    assert labels[13] == "age 0–9, student = false, sex F through M"


def test_marginals_are_recognised_with_their_squared_weights() -> None:
    terms = (
        Term(2.0, {0: Identity(4), 2: Identity(3)}),
        Term(1.0, {}),
        Term(1.0, {0: Identity(4), 1: Total(2), 2: Identity(3)}),
    )
    assert Workload(SHAPE, terms, "").marginals() == {(0, 2): 5.0, (): 1.0}
    assert WORKLOAD.marginals() is None


def test_a_million_cells_are_answered_axis_by_axis() -> None:
    shape = (128, 128, 64)
    term = Term(1.0, {0: Prefix(128), 1: Prefix(128), 2: Identity(64)})
    cells = np.ones(2**20, dtype=np.int64)
    tracemalloc.start()
    begun = time.process_time()
    answers = Workload(shape, (term,), "").answers(cells)
    seconds, (_, peak) = time.process_time() - begun, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert answers.reshape(shape)[9, 19, 5] == 10 * 20
    assert seconds < 5
    assert peak < 500e6
