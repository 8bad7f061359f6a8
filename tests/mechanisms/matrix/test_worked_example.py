"""Two groups of 100 and 200 people, the strategy [[1, 1], [1, -1]], and what five responses are made into.

The sums are 300 and -100; a row moves both by 1, so Δ = 2. Least squares invert the strategy. At r = (100, 200) the
most likely cells are not unique, and neither answer may be negative.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Boolean, Domain, Integer
from mechanisms.matrix.answering import with_reconstruction
from mechanisms.matrix.fixed_strategies import CellsStrategy, UploadedStrategy
from mechanisms.matrix.mechanism import Optimised, QueryPlan
from mechanisms.matrix.workload.text import read_workload
from mechanisms.noise import DiscreteLaplace
from mechanisms.protocol import Measurement, PlanError

KNOWN = json.loads((Path(__file__).parents[2] / "data" / "known_answers.json").read_text())
GROUPS = Domain((Boolean("group"),))
CELLS = read_workload('identity("group")', GROUPS)
A = np.array([[1, 1], [1, -1]])
EPSILON = Loss(Definition.PURE, Fraction(1))

# The response, the least-squares answer, the non-negative one, and the most likely one.
RESPONSES = [
    ((303, -101), (101, 202), (101, 202), (101, 202)),
    ((305, -105), (100, 205), (100, 205), (100, 205)),
    ((290, 90), (190, 100), (190, 100), (190, 100)),
    ((300, 150), (225, 75), (225, 75), (225, 75)),
    ((100, 200), (150, -50), (150, 0), (150, 0)),
]


def planned(way: str = "nnls") -> QueryPlan:
    plan = UploadedStrategy().plan(GROUPS, CELLS, EPSILON, Optimised({"strategy": A}))
    return with_reconstruction(plan, way)


def test_one_person_changes_both_sums() -> None:
    plan = planned()
    assert plan.sensitivity.l1 == 2
    assert plan.noise == DiscreteLaplace(Fraction(2))


@pytest.mark.parametrize(("response", "squares", "possible", "likely"), RESPONSES)
def test_what_a_response_is_made_into(
    response: tuple[int, int],
    squares: tuple[int, int],
    possible: tuple[int, int],
    likely: tuple[int, int],
) -> None:
    measured = Measurement(np.array(response))
    for way, cells in (("nnls", possible), ("l1", likely)):
        result = UploadedStrategy().reconstruct(planned(way), measured)
        assert result.answers == pytest.approx(squares, abs=1e-9)
        assert result.estimate == pytest.approx(squares, abs=1e-9)
        assert result.cells == pytest.approx(cells, abs=1e-5)
        assert result.counts is not None
        assert tuple(result.counts) == cells


@pytest.mark.parametrize("known", KNOWN["l1_nonneg"], ids=lambda known: str(known["r"]))
def test_the_most_likely_cells_are_the_known_ones(known: dict[str, list[int]]) -> None:
    assert np.array_equal(known["A"], A)
    result = UploadedStrategy().reconstruct(planned("l1"), Measurement(np.array(known["r"])))
    assert result.cells is not None
    if "x" in known:
        assert result.cells == pytest.approx(known["x"], abs=1e-6)
    else:
        # Any x1 in 100..200 with x2 = 0 is as likely; 150 is nearest to the least-squares answer.
        assert np.abs(known["r"] - A @ result.cells).sum() == pytest.approx(known["objective"], abs=1e-4)


def test_for_the_groups_themselves_it_is_twice_as_bad_as_counting_them() -> None:
    """2/ε² · Δ² · ‖A⁻¹‖² = 8 against 4 in noise of continuous law; the discrete law changes that by little."""
    loss = Loss(Definition.PURE, Fraction(1, 100))
    sums = UploadedStrategy().plan(GROUPS, CELLS, loss, Optimised({"strategy": A}))
    groups = CellsStrategy().plan(GROUPS, CELLS, loss)
    assert sums.total_error / groups.total_error == pytest.approx(2, abs=1e-4)
    assert groups.total_error == pytest.approx(4 * 100**2, rel=1e-4)


def test_the_most_likely_cells_are_for_laplace_noise() -> None:
    plan = UploadedStrategy().plan(
        GROUPS, CELLS, Loss(Definition.ZCDP, Fraction(1)), Optimised({"strategy": A})
    )
    with pytest.raises(PlanError, match="Laplace noise only"):
        with_reconstruction(plan, "l1")
    with pytest.raises(PlanError, match="choose one of nnls, l1"):
        with_reconstruction(plan, "magic")


def test_the_most_likely_cells_are_for_a_few_thousand_cells() -> None:
    domain = Domain((Integer("x", lower=0, upper=4096),))
    plan = CellsStrategy().plan(domain, read_workload("total", domain), EPSILON)
    with pytest.raises(PlanError, match="at most 4,096 cells; these columns have 4,097"):
        with_reconstruction(plan, "l1")
