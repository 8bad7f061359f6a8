"""p-Identity: loss and gradient against dense algebra, and optima against published and known figures."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mechanisms.accounting import Definition
from mechanisms.matrix.optimise.p_identity import Objective, PIdentity, improved, p_identity
from mechanisms.matrix.optimise.windows import Window, Windows
from mechanisms.matrix.strategy.hierarchy import best_tree_rows
from mechanisms.matrix.workload.factor import AllRange, Explicit, Factor, Prefix, Total, Width

RANDOM = np.random.default_rng(1)
FACTORS: list[Factor] = [Prefix(12), AllRange(12), Explicit(RANDOM.normal(size=(5, 12)))]
WHOLE = Windows(12, (Window(0, 3, 0, 12),))
PARTS = Windows(12, (Window(0, 2, 0, 12), Window(2, 3, 0, 5), Window(3, 5, 4, 12)))


def dense_loss(factor: Factor, strategy: np.ndarray) -> float:
    return float(np.trace(factor.gram() @ np.linalg.inv(strategy.T @ strategy)))


def mean_squared_error(factor: Factor, found: PIdentity) -> float:
    """At ε = 1."""
    return 2 * found.loss / factor.queries


@pytest.mark.parametrize("factor", FACTORS, ids=lambda f: type(f).__name__)
@pytest.mark.parametrize("windows", [WHOLE, PARTS], ids=["whole", "parts"])
def test_the_loss_is_the_trace_and_the_gradient_its_slope(factor: Factor, windows: Windows) -> None:
    loss, values = Objective(factor, windows), np.random.default_rng(2).random(windows.size)
    value, gradient = loss(values)
    assert value == pytest.approx(dense_loss(factor, PIdentity(windows.matrix(values), value).strategy()))
    steps = 1e-6 * np.eye(windows.size)
    slopes = [(loss(values + step)[0] - loss(values - step)[0]) / 2e-6 for step in steps]
    assert gradient == pytest.approx(np.array(slopes), rel=1e-5, abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(("cells", "error"), [(16, 13.226), (64, 28.325)])
def test_prefix_reaches_the_known_optimum(cells: int, error: float) -> None:
    assert mean_squared_error(Prefix(cells), p_identity(Prefix(cells))) <= error + 5e-4


@pytest.mark.slow
def test_all_ranges_of_256_cells_err_no_more_than_the_known_optimum() -> None:
    found = p_identity(AllRange(256))
    # McKenna et al. publish 5.7364.
    assert math.sqrt(mean_squared_error(AllRange(256), found) / 2) <= 5.6952 + 5e-5


@pytest.mark.slow
@pytest.mark.parametrize("factor", [Prefix(40), AllRange(33), Total(20), Prefix(1), Prefix(700)], ids=repr)
def test_the_strategy_has_columns_that_sum_to_one_and_the_loss_it_states(factor: Factor) -> None:
    found = p_identity(factor, iterations=100)
    strategy = found.strategy()
    assert strategy.min() >= 0
    assert strategy.sum(axis=0) == pytest.approx(np.ones(factor.size))
    assert dense_loss(factor, strategy) == pytest.approx(found.loss, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    "factor", [Prefix(100), AllRange(64), Explicit(RANDOM.normal(size=(7, 20)))], ids=type
)
def test_no_loss_goes_below_the_spectral_bound(factor: Factor) -> None:
    roots = np.sqrt(np.maximum(np.linalg.eigvalsh(factor.gram()), 0))
    assert p_identity(factor, iterations=300).loss >= roots.sum() ** 2 / factor.size


@pytest.mark.slow
def test_a_block_start_errs_no_more_than_optima_put_inside_each_other() -> None:
    outer, inner = 16 * p_identity(Prefix(32)).loss, 32 * p_identity(Prefix(16)).loss
    nested = (outer ** (1 / 3) + inner ** (1 / 3)) ** 3
    assert p_identity(Prefix(512), iterations=200).loss < nested


def test_where_no_sum_helps_single_cells_are_kept() -> None:
    found = p_identity(Prefix(8))
    assert (found.theta.shape, found.loss) == ((0, 8), 36.0)


@pytest.mark.slow
def test_more_iterations_never_do_worse_and_are_counted() -> None:
    seen: list[tuple[int, int | None]] = []
    losses = [p_identity(Prefix(128), starts=1, iterations=i).loss for i in (5, 20, 80)]
    assert losses == sorted(losses, reverse=True)
    p_identity(
        Prefix(128), starts=2, iterations=20, on_progress=lambda done, total: seen.append((done, total))
    )
    # A first look of 3 iterations from each of 3 starts for 8 sums and 3 for 13, and 3 of them to their end.
    assert seen[0] == (1, 78)
    assert seen[-1][0] <= 78


@pytest.mark.slow
def test_the_same_workload_gets_the_same_strategy() -> None:
    assert np.array_equal(p_identity(Prefix(50)).theta, p_identity(Prefix(50)).theta)


@pytest.mark.parametrize("choice", [{"rows": 0}, {"starts": 0}, {"iterations": 0}])
def test_without_rows_starts_or_iterations_there_is_no_strategy(choice: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="at least one"):
        p_identity(Prefix(4), **choice)  # type: ignore[arg-type]


def test_rows_cannot_be_chosen_where_they_follow_from_blocks() -> None:
    with pytest.raises(ValueError, match="up to 640 cells"):
        p_identity(Prefix(700), rows=4)


@pytest.mark.slow
@pytest.mark.parametrize("factor", [Prefix(100), AllRange(100), Width(256, 16)], ids=repr)
def test_the_search_stops_where_going_on_no_longer_pays(factor: Factor) -> None:
    """All descents together take no more iterations than one alone may, and going on gains next to nothing."""
    done: list[int] = []
    found = p_identity(factor, on_progress=lambda steps, total: done.append(steps))
    assert done[-1] < 2000
    longer = improved(factor, [found.theta])
    assert longer.loss > 0.9995 * found.loss


@pytest.mark.slow
def test_another_number_of_sums_is_tried_where_that_is_cheap() -> None:
    """Sums for every 10 cells are better for ranges of one width, by 5 % of the loss and more."""
    factor = Width(256, 16)
    assert p_identity(factor).loss < 0.95 * p_identity(factor, rows=16).loss


@pytest.mark.parametrize("factor", FACTORS[:2], ids=repr)
def test_what_is_begun_from_is_never_made_worse(factor: Factor) -> None:
    begin = np.random.default_rng(4).random((2, 12))
    before = dense_loss(factor, PIdentity(begin, 0.0).strategy())
    found = improved(factor, [begin])
    assert found.loss <= before
    assert dense_loss(factor, found.strategy()) == pytest.approx(found.loss, rel=1e-9)


def test_a_workload_that_asks_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="asks nothing"):
        p_identity(Explicit(np.zeros((2, 3))))


@pytest.mark.parametrize("factor", [AllRange(50), AllRange(64), AllRange(100), Width(100, 30)], ids=str)
def test_one_random_start_is_not_left_at_single_cells_nor_above_a_hierarchy(factor: Factor) -> None:
    tree = best_tree_rows([(1.0, factor)], Definition.PURE)
    loss = p_identity(factor, starts=1).loss
    assert loss < factor.squares()
    assert loss < tree.column.l1**2 * tree.trace(factor)
