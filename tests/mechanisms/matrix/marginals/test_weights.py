"""Weights of counted marginal tables: their loss by brute force, its gradient, and how good the optimum is."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import reduce
from itertools import combinations

import numpy as np
import pytest

from mechanisms.matrix.marginals.errors import residual_costs
from mechanisms.matrix.marginals.sets import MarginalSets
from mechanisms.matrix.marginals.weights import Lattice, best_weights, lattice_of, loss_and_gradient, on_grid

SHAPE = (3, 2, 4)


def alike(sets: Iterable[tuple[int, ...]]) -> dict[tuple[int, ...], float]:
    return dict.fromkeys(sets, 1.0)


PAIRS = alike(combinations(range(3), 2))


def problem(shape: tuple[int, ...], asked: dict[tuple[int, ...], float]) -> tuple[Lattice, np.ndarray]:
    closed = MarginalSets.closed(shape, asked)
    lattice, _, costs = lattice_of(closed, residual_costs(closed, asked))
    return lattice, costs


def table(shape: tuple[int, ...], axes: tuple[int, ...]) -> np.ndarray:
    """A marginal table's queries as a matrix over all cells."""
    return reduce(np.kron, [np.eye(n) if i in axes else np.ones((1, n)) for i, n in enumerate(shape)])


def sets(lattice: Lattice) -> list[tuple[int, ...]]:
    return [tuple(j for j in range(len(lattice.sizes)) if s >> j & 1) for s in range(lattice.count)]


def nothing(done: int, of: int | None) -> None:
    pass


def test_the_loss_is_that_of_least_squares_on_all_cells() -> None:
    """Sensitivity² times tr W (AᵀA)⁻¹ Wᵀ with A and W written down."""
    asked = {(0, 1): 1.0, (2,): 4.0, (): 0.25}
    lattice, costs = problem(SHAPE, asked)
    weights = np.random.default_rng(1).uniform(0.1, 1, lattice.count)
    strategy = np.concatenate([w * table(SHAPE, s) for w, s in zip(weights, sets(lattice), strict=True)])
    queries = np.concatenate([math.sqrt(w) * table(SHAPE, s) for s, w in asked.items()])
    sensitivity = np.abs(strategy).sum(axis=0).max()
    brute = sensitivity**2 * np.trace(queries @ np.linalg.inv(strategy.T @ strategy) @ queries.T)
    assert loss_and_gradient(lattice, costs, weights)[0] == pytest.approx(brute)


def test_the_gradient_is_that_of_finite_differences() -> None:
    lattice, costs = problem(SHAPE, PAIRS)
    weights = np.random.default_rng(2).uniform(0.1, 1, lattice.count)
    step = 1e-6
    differences = [
        (
            loss_and_gradient(lattice, costs, weights + step * e)[0]
            - loss_and_gradient(lattice, costs, weights - step * e)[0]
        )
        / (2 * step)
        for e in np.eye(lattice.count)
    ]
    assert loss_and_gradient(lattice, costs, weights)[1] == pytest.approx(np.array(differences), rel=1e-5)


def test_sums_over_supersets_and_subsets_are_transposes() -> None:
    lattice = Lattice((3, 5, 2, 7))
    up, down = (
        np.stack([f(e) for e in np.eye(16)], axis=1) for f in (lattice.information, lattice.transposed)
    )
    assert np.array_equal(up, down.T)
    # The set of columns 0 and 1 holds 1/3 of its information on column 1, and 1/15 on the number of rows.
    assert up[0b10, 0b11] == pytest.approx(1 / 3)
    assert up[0, 0b11] == pytest.approx(1 / 15)
    assert up[0b100, 0b11] == 0


def test_one_table_alone_is_counted_as_it_is() -> None:
    lattice, costs = problem((6,), {(0,): 1.0})
    weights, loss = best_weights(lattice, costs, nothing)
    assert on_grid(weights).tolist() == [0, 1]
    assert loss == pytest.approx(6, rel=1e-6)


@pytest.mark.slow
def test_on_few_columns_no_weights_of_a_grid_are_better() -> None:
    """Weights of all four sets of two columns in steps of about a tenth."""
    lattice, costs = problem((2, 3), {(0,): 1.0, (1,): 1.0})
    _, loss = best_weights(lattice, costs, nothing)
    steps = np.linspace(0.05, 1, 10)
    grid = np.stack(np.meshgrid(steps, steps, steps, steps), axis=-1).reshape(-1, 4)
    least = min(loss_and_gradient(lattice, costs, w)[0] for w in grid)
    assert loss <= least * (1 + 1e-9)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_optimum_beats_what_one_would_do_by_hand(size: int) -> None:
    """The tables asked for, with budgets by the cube root of their cells; and all cells at once."""
    shape = (16, 7, 15, 6, 5, 2)
    asked = alike(combinations(range(6), size))
    lattice, costs = problem(shape, asked)
    _, loss = best_weights(lattice, costs, nothing)
    every = sets(lattice)
    split = np.array([math.prod(shape[i] for i in s) ** (1 / 3) if s in asked else 0.0 for s in every])
    cells = np.array([float(len(s) == 6) for s in every])
    assert loss < loss_and_gradient(lattice, costs, split)[0]
    assert loss < loss_and_gradient(lattice, costs, cells)[0]


def test_the_grid_costs_less_than_a_thousandth() -> None:
    lattice, costs = problem((16, 7, 15, 6, 5, 2), alike(combinations(range(6), 2)))
    weights, loss = best_weights(lattice, costs, nothing)
    assert loss_and_gradient(lattice, costs, on_grid(weights).astype(float))[0] < 1.001 * loss


def test_the_same_weights_every_time() -> None:
    lattice, costs = problem(SHAPE, PAIRS)
    first, second = (best_weights(lattice, costs, nothing)[0] for _ in range(2))
    assert np.array_equal(first, second)


def test_progress_is_told_to_the_end() -> None:
    told: list[tuple[int, int | None]] = []
    best_weights(*problem(SHAPE, PAIRS), lambda done, of: told.append((done, of)))
    assert told[0][0] == 0
    assert told[-1][0] == told[-1][1]
