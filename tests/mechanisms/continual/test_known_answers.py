"""Errors of the strategies against published and independently computed figures."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from mechanisms.accounting import Definition, Loss
from mechanisms.continual.epochs import REUSE, EpochStream, HybridStream, epoch_splits, epoch_trees
from mechanisms.continual.fda import FactorisationDiagonal, fenwick_splits
from mechanisms.continual.fenwick_slsqp import rows_of, solved
from mechanisms.continual.hierarchy import best_levels
from mechanisms.continual.level_tree import LevelTree
from mechanisms.continual.mechanism import StreamRequest
from mechanisms.continual.naive import Increments, Republication
from mechanisms.continual.optimal_split import optimal_splits
from mechanisms.continual.splits import SHARE_BITS, SplitStrategy, root
from mechanisms.continual.tree import RefinedBlocks, TreeBlocks
from mechanisms.histogram.combination import Combination

KNOWN = json.loads((Path(__file__).parents[2] / "data" / "known_answers.json").read_text())
PURE, ZCDP = Definition.PURE, Definition.ZCDP
FINE = 2**24


def mean_squared_error(mean_energy: float, l1: int) -> float:
    """At ε = 1, with continuous Laplace noise, as in the published tables: 2 Δ₁² a² on average."""
    return 2 * l1**2 * mean_energy


def fenwick_energy(weights: tuple[float, ...]) -> float:
    return sum(weights[i - 1] ** -2 for t in range(1, len(weights) + 1) for i in rows_of(t))


@pytest.mark.parametrize(
    ("horizon", "energy"),
    [(int(n), u) for n, u in {**KNOWN["fda_total_squared_error_over_2_eps2"], **KNOWN["fda_any_N"]}.items()],
)
def test_fda_has_the_known_summed_error(horizon: int, energy: float) -> None:
    assert fenwick_splits(horizon, PURE).energy == pytest.approx(energy, rel=1e-8)
    strategy = SplitStrategy(horizon, PURE, FINE, fenwick_splits(horizon, PURE))
    assert strategy.energies(np.arange(1, horizon + 1)).sum() * FINE**2 == pytest.approx(energy, rel=1e-6)


@pytest.mark.parametrize(("digits", "alpha"), [(int(m), a) for m, a in KNOWN["fda_alpha"].items()])
def test_fda_shares_the_weight_by_the_known_alpha(digits: int, alpha: float) -> None:
    _middle, share = fenwick_splits(2**digits - 1, PURE).at(2**digits - 1)
    assert share / 2**SHARE_BITS == pytest.approx(alpha, abs=1e-8)


@pytest.mark.parametrize("definition", list(Definition))
@pytest.mark.parametrize("horizon", range(1, 32))
def test_fda_agrees_with_the_general_solver(horizon: int, definition: Definition) -> None:
    assert fenwick_splits(horizon, definition).energy == pytest.approx(
        fenwick_energy(solved(horizon, definition)), rel=1e-9
    )


@pytest.mark.parametrize("horizon", [6, 15, 31])
def test_fda_weights_are_the_solvers(horizon: int) -> None:
    strategy = SplitStrategy(horizon, PURE, FINE, fenwick_splits(horizon, PURE))
    assert strategy.weights(np.arange(1, horizon + 1)) / FINE == pytest.approx(
        solved(horizon, PURE), abs=1e-6
    )


@pytest.mark.parametrize("horizon", [1, 2, 64])
def test_the_solver_serves_its_whole_range(horizon: int) -> None:
    assert fenwick_energy(solved(horizon, PURE)) == pytest.approx(
        fenwick_splits(horizon, PURE).energy, rel=1e-9
    )


def test_doubling_the_third_row_of_three_helps_as_known() -> None:
    """Summed error 32/ε² for equal weights, whose norm is 2; with the third row doubled 26/ε², of norm 2 as well."""
    plain, doubled = ((1.0, 1.0, 1.0), (1.0, 1.0, 2.0))
    assert 2 * 2**2 * fenwick_energy(plain) == pytest.approx(KNOWN["fenwick_N3"]["plain"])
    assert 2 * 2**2 * fenwick_energy(doubled) == pytest.approx(KNOWN["fenwick_N3"]["third_row_doubled"])
    assert 2 * fenwick_splits(3, PURE).energy < KNOWN["fenwick_N3"]["third_row_doubled"]


@pytest.mark.parametrize(
    ("horizon", "wanted"), [(255, 514.0), (1023, 1001.0), (65535, 4096), (2**20 - 1, 8000)]
)
def test_the_binary_tree_has_the_known_error(horizon: int, wanted: float) -> None:
    tree = TreeBlocks(horizon)
    assert mean_squared_error(tree.mean_energy(horizon), tree.column.l1) == pytest.approx(wanted, rel=2e-4)


def test_the_small_trees_have_the_known_errors() -> None:
    trees = TreeBlocks(7), RefinedBlocks(7)
    errors = [mean_squared_error(tree.mean_energy(7), tree.column.l1) for tree in trees]
    assert errors == pytest.approx([KNOWN["chan_mse_N7_eps1"], KNOWN["honaker_causal_mse_N7_eps1"]], rel=1e-7)
    assert RefinedBlocks(8).energies(2 ** np.arange(4)) == pytest.approx(KNOWN["honaker_node_variance"])


@pytest.mark.parametrize(
    ("horizon", "wanted"), [(255, 240.1), (1023, 435.5), (65535, 1561), (2**20 - 1, 2888)]
)
def test_fda_has_the_known_error(horizon: int, wanted: float) -> None:
    strategy = SplitStrategy(horizon, PURE, FINE, fenwick_splits(horizon, PURE))
    assert mean_squared_error(strategy.mean_energy(horizon), FINE) == pytest.approx(wanted, rel=3e-4)


@pytest.mark.parametrize(("horizon", "energy"), [(int(n), u) for n, u in KNOWN["optimal_split_u"].items()])
def test_optimal_splits_have_the_known_summed_error(horizon: int, energy: float) -> None:
    assert optimal_splits(horizon, PURE).energy == pytest.approx(energy, rel=1e-8)


def test_optimal_splits_of_few_periods_are_the_naive_increments() -> None:
    for n in range(1, 27):
        assert optimal_splits(n, PURE).energy == pytest.approx(n * (n + 1) / 2)
    assert optimal_splits(27, PURE).energy < 27 * 28 / 2


@pytest.mark.parametrize(("horizon", "wanted"), [(255, 112.6), (1023, 214.0)])
def test_optimal_splits_have_the_known_error(horizon: int, wanted: float) -> None:
    assert 2 * optimal_splits(horizon, PURE).energy / horizon == pytest.approx(wanted, rel=5e-4)


@pytest.mark.parametrize("definition", list(Definition))
def test_trying_fewer_splits_loses_little(definition: Definition) -> None:
    """Above 1,024 periods only some splits are tried: against all of them, one step at a time."""
    splits = optimal_splits(2000, definition)
    energies = np.array([0.0, *(optimal_splits(n, definition).energy for n in range(1, 2000))])
    p = np.arange(1, 2001)
    power = 3 if definition is PURE else 2
    every = (energies[p - 1] ** (1 / power) + (2001 - p) ** (1 / power)) ** power + energies[2000 - p]
    assert every.min() <= splits.energy * (1 + 1e-12)
    assert splits.energy < 1.001 * every.min()


@pytest.mark.parametrize(("horizon", "wanted"), [(255, 69.7), (1023, 118.9), (65535, 440), (2**20 - 1, 790)])
def test_reconciled_blocks_reach_a_seventh_of_the_trees_error(horizon: int, wanted: float) -> None:
    levels = best_levels(horizon, PURE)
    assert sum(levels.weights) == pytest.approx(1)
    error = mean_squared_error(levels.mean_energy(horizon), 1)
    tree = TreeBlocks(horizon)
    assert error <= wanted
    assert error < mean_squared_error(tree.mean_energy(horizon), tree.column.l1) / 7


@pytest.mark.parametrize("horizon", [255, 1023])
def test_the_naive_ways_have_the_errors_of_arithmetic(horizon: int) -> None:
    assert mean_squared_error(Increments().mean_energy(horizon), 1) == horizon + 1
    again = Republication(horizon)
    assert mean_squared_error(again.mean_energy(horizon), again.column.l1) == 2 * horizon**2


@pytest.mark.parametrize("definition", list(Definition))
@pytest.mark.parametrize("epoch", [17, 19])
def test_a_long_epoch_shares_its_weight_as_is_best_for_its_reuse(epoch: int, definition: Definition) -> None:
    n = 1 << epoch
    _middle, share = epoch_splits(epoch, definition).at(n)
    inner, power = fenwick_splits(n - 1, definition).energy, 2 if definition is PURE else 1
    shares = share / 2**SHARE_BITS + np.array([0.0, -1e-3, 1e-3])
    best, fewer, more = inner / shares**power + (REUSE * n + 1) / (1 - shares) ** power
    assert best < min(fewer, more)


@pytest.mark.parametrize("definition", list(Definition))
@pytest.mark.parametrize("epoch", [0, 1, 3, 6, 8, 13])
def test_the_trees_of_epochs_are_the_best_there_are(epoch: int, definition: Definition) -> None:
    n = 1 << epoch

    def energy(levels: LevelTree) -> float:
        return levels.mean_energy(n) + REUSE * float(levels.energies(np.array([n]))[0])

    assert energy(epoch_trees(definition)[epoch]) < 1.001 * energy(best_levels(n, definition, REUSE))


def test_epochs_cover_a_stream_with_trees_of_their_own_length() -> None:
    for definition in Definition:
        assert [tree.sizes[-1] for tree in epoch_trees(definition)] == [2**k for k in range(17)]


@pytest.mark.parametrize("horizon", [1, 10, 100, 1000, 4000, 100_000])
def test_epochs_pay_little_for_not_knowing_the_end(horizon: int) -> None:
    mechanism = EpochStream()
    strategy = mechanism.build(None, PURE, mechanism.design(None, PURE, FINE))
    known = best_levels(horizon, PURE).mean_energy(horizon)
    assert strategy.mean_energy(horizon) * FINE**2 < 2 * known


@pytest.mark.parametrize("period", [1, 2, 3, 7, 8, 1000, 4096, 65_535])
def test_the_hybrid_adds_up_what_chan_and_others_add_up(period: int) -> None:
    """At ε = 1 sums between powers of two have scale 2, the log2 n blocks inside an epoch of n periods 2 log2 n."""
    mechanism = HybridStream()
    strategy = mechanism.build(None, PURE, mechanism.design(None, PURE, FINE))
    epoch = period.bit_length() - 1
    blocks = (period - 2**epoch).bit_count()
    added = (epoch + 1) * 2**2 + blocks * (2 * epoch) ** 2
    assert strategy.energies(np.array([period]))[0] * FINE**2 == pytest.approx(added, rel=1e-5)


@pytest.mark.parametrize("amount", ["1/10", "1", "10"])
def test_the_intervals_of_fda_hold_and_are_hardly_too_wide(amount: str) -> None:
    """Against the exact law of a weighted sum of noise, by inverting its characteristic function."""
    mechanism, periods = FactorisationDiagonal(), np.array([1, 64, 100, 127, 192, 255])
    plan = mechanism.plan(StreamRequest(255), Loss(PURE, Fraction(amount)))
    strategy = SplitStrategy(255, PURE, plan.details["grid"], fenwick_splits(255, PURE))
    for period, width in zip(periods.tolist(), mechanism.half_widths(plan, periods).tolist(), strict=True):
        exact = Combination.of(plan.noise, [(1 / strategy.weight(i), 1) for i in rows_of(period)])
        # Published is the rounded sum: within ± h where the sum is within ± (h + 1/2).
        assert exact.coverage(width + 0.5) >= 0.95
        assert width <= 1.03 * exact.half_width() + 1


def test_roots_are_right_to_the_last_digits() -> None:
    x = np.array([0.0, 1e-9, 1.0, 2.0, 26.999, 27.0, 1e6, 123456789.123, 1e18])
    assert root(x, PURE) == pytest.approx(np.cbrt(x), rel=4e-16)
    assert root(x, ZCDP) == pytest.approx(np.sqrt(x), rel=1e-16)
