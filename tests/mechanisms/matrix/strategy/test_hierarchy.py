"""Hierarchies and wavelets as matrices, against the strategies of the histograms and in closed form."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from mechanisms.accounting import Definition
from mechanisms.linear.haar import Haar, best_haar
from mechanisms.linear.tree import Tree, best_tree
from mechanisms.matrix.strategy.energies import energies
from mechanisms.matrix.strategy.hierarchy import best_haar_rows, best_tree_rows
from mechanisms.matrix.strategy.levels import HaarRows, TreeRows
from mechanisms.matrix.strategy.rows import IdentityRows, Rows
from mechanisms.matrix.workload.factor import AllRange, Explicit, Factor, Identity, Prefix, Total, Width

KNOWN = json.loads((Path(__file__).parents[3] / "data" / "known_answers.json").read_text())


def dense(rows: Rows) -> np.ndarray:
    matrix = rows.matrix()
    return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()


@pytest.mark.parametrize("cells", [8, 5])
@pytest.mark.parametrize("strategy", [Tree((5, 2, 0, 3)), Haar((4, 1, 2, 7))], ids=str)
def test_rows_are_the_strategys_answers(strategy: Tree | Haar, cells: int) -> None:
    rows = TreeRows(strategy, cells) if isinstance(strategy, Tree) else HaarRows(strategy, cells)
    columns = [strategy.answers(cell) for cell in np.eye(cells, dtype=np.int64)]
    wanted = np.stack(columns, axis=1)
    assert (dense(rows) == wanted[wanted.any(axis=1)]).all()


def rmse(rows: Rows, factor: Factor) -> float:
    """Gaussian noise that costs as much as σ = 1 with columns of length 1."""
    return math.sqrt(rows.column.l2_squared * rows.trace(factor) / factor.queries)


def test_unweighted_strategies_of_two_branches_have_their_known_errors() -> None:
    tree, haar = TreeRows(Tree((1,) * 9), 256), HaarRows(Haar((1,) * 9), 256)
    assert rmse(tree, Prefix(256)) == pytest.approx(KNOWN["hierarchy2_prefix256_rmse"], abs=1e-9)
    assert rmse(haar, Prefix(256)) == pytest.approx(KNOWN["haar_prefix256_rmse"], abs=1e-9)


def test_single_cells_have_their_known_errors() -> None:
    known = KNOWN["identity_rmse_n256"]
    assert rmse(IdentityRows(256), Prefix(256)) == pytest.approx(known["prefix"], abs=1e-6)
    assert rmse(IdentityRows(256), AllRange(256)) == pytest.approx(known["all_range"], abs=1e-6)


@pytest.mark.parametrize(
    "factor", [Total(7), Width(7, 3), Explicit(np.arange(14.0).reshape(2, 7)), Prefix(7)], ids=str
)
def test_energies_are_the_squared_lengths_at_each_scale(factor: Factor) -> None:
    W = np.pad(factor.times(np.eye(7)), ((0, 0), (0, 1)))
    means = [W.reshape(-1, 8 // 2**e, 2**e).mean(axis=2).repeat(2**e, axis=1) for e in range(4)]
    wanted = [((a - b) ** 2).sum() for a, b in zip(means, [*means[1:], 0 * W], strict=True)]
    assert energies(factor) == pytest.approx(wanted)


@pytest.mark.parametrize("definition", list(Definition))
def test_the_fitted_strategies_are_those_of_the_histograms(definition: Definition) -> None:
    tree = best_tree_rows([(2.0, AllRange(64))], definition)
    haar = best_haar_rows([(1.0, Prefix(64))], definition)
    assert (dense(tree) == dense(TreeRows(best_tree("ranges", 64, definition), 64))).all()
    assert (dense(haar) == dense(HaarRows(best_haar("totals", 64, definition), 64))).all()


def test_a_mixture_of_queries_has_a_hierarchy_between_theirs() -> None:
    mixed = best_tree_rows([(1.0, Prefix(64)), (64.0, Identity(64))], Definition.ZCDP)
    ranges = best_tree_rows([(1.0, Prefix(64))], Definition.ZCDP)

    def error(rows: Rows) -> float:
        return rows.column.l2_squared * (rows.trace(Prefix(64)) + 64 * rows.trace(Identity(64)))

    assert error(mixed) < error(ranges)


def test_a_wavelet_for_the_total_alone_still_has_every_scale() -> None:
    assert best_haar_rows([(1.0, Total(8))], Definition.PURE).complete
