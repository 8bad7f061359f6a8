"""Every factor against the matrix that it stands for, written out query by query."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from mechanisms.domain import Attribute, Categorical, Integer, Real
from mechanisms.matrix.workload.factor import AllRange, Explicit, Factor, Identity, Prefix, Total, Width

UPLOADED = np.array([[1.0, 0, 2, 0, -1], [0, 0.5, 0, 0, 3]])
AGE = Integer("age", lower=0, upper=49, width=10)


def ranges(pairs: list[tuple[int, int]], cells: int) -> np.ndarray:
    rows = np.zeros((len(pairs), cells))
    for row, (start, stop) in zip(rows, pairs, strict=True):
        row[start:stop] = 1
    return rows


CASES: list[tuple[Factor, np.ndarray]] = [
    (Identity(5), np.eye(5)),
    (Total(5), np.ones((1, 5))),
    (Prefix(5), np.tril(np.ones((5, 5)))),
    (AllRange(5), ranges([(i, j) for i in range(5) for j in range(i + 1, 6)], 5)),
    (Width(5, 3), ranges([(0, 3), (1, 4), (2, 5)], 5)),
    (Explicit(UPLOADED), UPLOADED),
    (Explicit(sparse.csr_array(UPLOADED)), UPLOADED),
]
each = pytest.mark.parametrize(("factor", "matrix"), CASES, ids=lambda value: type(value).__name__)


@each
def test_products_are_those_of_the_matrix(factor: Factor, matrix: np.ndarray) -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(5, 3)), rng.normal(size=(len(matrix), 3))
    assert (factor.queries, factor.size) == matrix.shape
    assert factor.times(x) == pytest.approx(matrix @ x)
    assert factor.times(x[:, 0]) == pytest.approx(matrix @ x[:, 0])
    assert factor.transposed_times(y) == pytest.approx(matrix.T @ y)
    assert factor.gram_times(x) == pytest.approx(matrix.T @ matrix @ x)
    assert factor.gram() == pytest.approx(matrix.T @ matrix)
    assert factor.row_squares() == pytest.approx((matrix**2).sum(axis=1))
    assert factor.rank == np.linalg.matrix_rank(matrix)
    assert factor.squares() == pytest.approx((matrix**2).sum())


@each
def test_variances_are_the_diagonal(factor: Factor, matrix: np.ndarray) -> None:
    roots = np.random.default_rng(2).normal(size=(5, 5, 2))
    covariance = np.stack([roots[:, :, k] @ roots[:, :, k].T for k in range(2)], axis=2)
    wanted = np.stack([np.diag(matrix @ covariance[:, :, k] @ matrix.T) for k in range(2)], axis=1)
    assert factor.variances(covariance) == pytest.approx(wanted)
    assert factor.variances(covariance[:, :, 0]) == pytest.approx(wanted[:, 0])


@each
def test_spans_are_the_rows_ranges(factor: Factor, matrix: np.ndarray) -> None:
    spans = factor.spans()
    if isinstance(factor, Explicit):
        assert spans is None
    else:
        assert spans is not None
        assert ranges([tuple(span) for span in spans.tolist()], 5) == pytest.approx(matrix)


@pytest.mark.parametrize("case", CASES[:5], ids=str)
def test_integers_stay_integers(case: tuple[Factor, np.ndarray]) -> None:
    factor, matrix = case
    x = np.arange(5) + 2**60
    assert factor.times(x).dtype == np.int64
    assert (factor.times(x) == matrix.astype(np.int64) @ x).all()


@pytest.mark.parametrize(
    ("factor", "attribute", "words"),
    [
        (Prefix(5), AGE, ["age 0–9", "age 0–19", "age 0–29", "age 0–39", ""]),
        (Width(5, 2), AGE, ["age 0–19", "age 10–29", "age 20–39", "age 30–49"]),
        (Total(5), AGE, [""]),
        (Identity(2), Categorical("sex", values=("F", "Other")), ["sex = F", "sex = Other"]),
        (Width(4, 3), Real("x", lower=0, upper=2, bins=4), ["x 0 to 1.5", "x 0.5 to 2"]),
        (
            Width(4, 2),
            Real("x", lower=0.0, upper=2.0, bins=2, single_values=(0.0, 2.0)),
            ["x 0 to 1", "x above 0 to 2", "x 1 to 2"],
        ),
        (Width(3, 2), Integer("a", missing_cell=True, upper=1), ["a 0–1", "a 1 to Missing"]),
        (Explicit(UPLOADED, ("poor", "rich")), AGE, ["poor", "rich"]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_queries_in_words(factor: Factor, attribute: Attribute, words: list[str]) -> None:
    assert list(factor.phrases(attribute)) == words


def test_a_range_wider_than_the_column_is_refused() -> None:
    with pytest.raises(ValueError, match="does not fit"):
        Width(5, 6)


def test_names_match_queries() -> None:
    with pytest.raises(ValueError, match="1 names for 2 queries"):
        Explicit(UPLOADED, ("one",))
