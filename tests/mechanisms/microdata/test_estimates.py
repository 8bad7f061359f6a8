"""Estimates between measurement and rows, against brute force and general solvers."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import multivariate_normal

from mechanisms.microdata import mixture
from mechanisms.microdata.impossible import Impossible
from mechanisms.microdata.margins import estimate, to_simplex
from mechanisms.microdata.mixture import Mixture, Target
from mechanisms.microdata.refining import refined
from mechanisms.microdata.scoring import distortion, spanning_tree
from mechanisms.microdata.smoothing import CHANGES, smoothed
from mechanisms.microdata.table_with_sums import with_sums
from mechanisms.microdata.tables import Grouping, PairTables
from tests.mechanisms.microdata.building import DOMAIN, loss, people

GROUPING = Grouping((np.array([0, 0, 1, 1, 2]), np.array([0, 1, 1]), np.array([0, 1])))


def test_tables_of_pairs_are_those_that_counting_gives():
    rows, tables = people(300), PairTables(DOMAIN.shape)
    counts = tables.of_rows(rows)
    assert counts.size == tables.size == sum(a * b for a, b in combinations(DOMAIN.shape, 2))
    for a, b in tables.pairs:
        table = np.zeros((DOMAIN.shape[a], DOMAIN.shape[b]), dtype=int)
        np.add.at(table, (rows[:, a], rows[:, b]), 1)
        assert (tables.table(counts, (a, b)) == table).all()
    for j, size in enumerate(DOMAIN.shape):
        assert (tables.column(counts, j) == np.bincount(rows[:, j], minlength=size)).all()


def test_groups_are_sums_of_their_cells():
    table = np.arange(15).reshape(5, 3)
    assert GROUPING.table(table, (0, 1)).tolist() == [[3, 12], [15, 36], [12, 27]]


def test_smoothed_counts_are_the_mean_over_all_ways_to_cut():
    """By brute force: a piece's counts are normal with the noise's variance on the diagonal and its level's in all."""
    values, variance = np.array([1.0, 3.0, 40.0, 38.0, 0.0, -2.0]), 9.0
    spreads = [0.0, *(9.0 * 16.0**power for power in range(3))]
    total, counts = 0.0, np.zeros(6)
    for chance in CHANGES:
        for cuts in (cuts for k in range(6) for cuts in combinations(range(1, 6), k)):
            weight, levels = chance ** len(cuts) * (1 - chance) ** (5 - len(cuts)), np.zeros(6)
            for piece in np.split(np.arange(6), cuts):
                covariances = [variance * np.eye(piece.size) + spread for spread in spreads]
                likely = np.array([multivariate_normal(cov=c).pdf(values[piece]) for c in covariances])
                means = [
                    s * np.linalg.solve(c, values[piece]).sum()
                    for s, c in zip(spreads, covariances, strict=True)
                ]
                weight *= likely.mean()
                levels[piece] = likely @ means / likely.sum()
            total, counts = total + weight, counts + weight * levels
    assert smoothed(values, variance) == pytest.approx(counts / total)


def test_smoothing_errs_less_than_the_noise_where_counts_are_alike():
    """100 equal cells, noise of 10: the mean of 100 errs by 1, and their cuts are not known."""
    noisy = 40 + np.random.default_rng(7).normal(0, 10, 100)
    assert np.sqrt(np.square(smoothed(noisy, 100.0) - 40).mean()) < 2.5


def test_the_simplex_and_the_margins_are_met_at_the_least_distance():
    random = np.random.default_rng(3)
    values = random.normal(2, 3, 6)
    near = to_simplex(values, 10.0)
    solved = minimize(
        lambda x: ((x - values) ** 2).sum(),
        np.full(6, 10 / 6),
        bounds=[(0, None)] * 6,
        constraints={"type": "eq", "fun": lambda x: x.sum() - 10},
        tol=1e-12,
    )
    assert near == pytest.approx(solved.x, abs=1e-5)
    table, rows, columns = random.normal(3, 3, (3, 2)), np.array([5.0, 9.0, 6.0]), np.array([12.0, 8.0])
    fitted = with_sums(table, rows, columns)
    both = minimize(
        lambda x: ((x - table.ravel()) ** 2).sum(),
        np.full(6, 20 / 6),
        bounds=[(0, None)] * 6,
        constraints=[
            {"type": "eq", "fun": lambda x: x.reshape(3, 2).sum(axis=1) - rows},
            {"type": "eq", "fun": lambda x: x.reshape(3, 2).sum(axis=0)[:1] - columns[:1]},
        ],
    )
    assert fitted.ravel() == pytest.approx(both.x, abs=1e-3)


def test_the_total_is_the_mean_of_the_columns_sums_by_precision():
    noisy = [np.array([60] * 13), np.array([250] * 4), np.array([500, 500]), np.array([700, 300])]
    margins = estimate(DOMAIN.attributes, noisy, (1.0, 2.0, 3.0, 4.0), None)
    weights = np.array([1 / 13, 1 / 8, 1 / 6, 1 / 8])
    assert margins.total == pytest.approx(weights @ [780, 1000, 1000, 1000] / weights.sum())
    assert all(c.sum() == pytest.approx(margins.total) and c.min() >= 0 for c in margins.counts)


def some_mixture() -> Mixture:
    random = np.random.default_rng(4)
    shares = np.concatenate([random.dirichlet(np.ones(s), 3) for s in GROUPING.sizes], axis=1)
    return Mixture(GROUPING, random.dirichlet(np.ones(3)), shares)


def test_tables_of_a_mixture_are_sums_over_its_classes():
    model = some_mixture()
    expected = sum(
        w * np.outer(p[GROUPING.place(0)], p[GROUPING.place(2)])
        for w, p in zip(model.weights, model.shares, strict=True)
    )
    assert model.tables()[GROUPING.place(0), GROUPING.place(2)] == pytest.approx(expected)


def test_a_mixture_takes_the_counts_of_columns():
    """Classes stay apart: each keeps its odds between two groups up to one factor for all classes."""
    model, counts = (
        some_mixture(),
        [np.array([50.0, 30.0, 20.0]), np.array([10.0, 90.0]), np.array([1.0, 1.0])],
    )
    scaled = model.with_counts(counts)
    for column, wanted in enumerate(counts):
        place = GROUPING.place(column)
        assert scaled.weights @ scaled.shares[:, place] == pytest.approx(wanted / wanted.sum(), abs=1e-4)
        odds = (scaled.shares / model.shares)[:, place]
        assert odds[:, 1] / odds[:, 0] == pytest.approx(np.full(3, odds[0, 1] / odds[0, 0]), rel=1e-4)


def test_classes_of_one_value_grow_until_columns_have_their_counts():
    """Nobody of a class that is all of one value can take another: shares alone leave such a column as it was."""
    shares = np.array([[1.0, 0, 0, 0.9, 0.1, 0.5, 0.5], [0, 0.5, 0.5, 0.2, 0.8, 0.3, 0.7]])
    model = Mixture(GROUPING, np.array([0.5, 0.5]), shares)
    counts = [np.array([60.0, 20.0, 20.0]), np.array([50.0, 50.0]), np.array([40.0, 60.0])]
    scaled = model.with_counts(counts)
    for column, wanted in enumerate(counts):
        own = scaled.weights @ scaled.shares[:, GROUPING.place(column)]
        assert own == pytest.approx(wanted / 100, abs=1e-3)
    assert scaled.weights.sum() == pytest.approx(1)


def test_the_gradient_of_a_fit_is_that_of_its_loss(monkeypatch):
    monkeypatch.setattr(mixture, "CLASSES", 3)
    truth = some_mixture().tables() * 100
    targets = {
        p: Target(truth[GROUPING.place(p[0]), GROUPING.place(p[1])] + 3, 400.0) for p in ((0, 1), (1, 2))
    }
    margins = [np.full(s, 100 / s) for s in GROUPING.sizes]
    variances = [900.0, 800.0, 700.0]
    problem = mixture._Problem(GROUPING, margins, variances, targets, 100.0)
    start = [part.astype(float) for part in problem.start(0)]

    def cost(logits: np.ndarray, weights: np.ndarray) -> float:
        model = problem.mixture(logits, weights)
        tables = model.tables() * 100
        total = 0.0
        for (a, b), target in targets.items():
            total += (
                (tables[GROUPING.place(a), GROUPING.place(b)] - target.table) ** 2
            ).sum() / target.variance
        for j, margin in enumerate(margins):
            own = model.weights @ model.shares[:, GROUPING.place(j)] * 100
            total += ((own - margin) ** 2 / (np.bincount(GROUPING.groups[j]) * variances[j])).sum()
        return total / 2

    gradients, _discrepancy = problem.gradient(*start)
    for place, index in ((0, (1, 2)), (0, (2, 6)), (1, (0,))):
        ahead, behind = ([part.copy() for part in start] for _ in range(2))
        ahead[place][index] += 1e-4
        behind[place][index] -= 1e-4
        slope = (cost(*ahead) - cost(*behind)) / 2e-4
        assert gradients[place][index] == pytest.approx(slope, rel=1e-3, abs=1e-5)


def test_a_fit_stops_where_only_noise_is_left(monkeypatch):
    """With the noise that the variance says, the distance ends near it and not far below."""
    random = np.random.default_rng(7)
    truth, deviation = some_mixture().tables() * 20_000, 30.0
    targets = {}
    for a, b in ((0, 1), (0, 2), (1, 2)):
        table = truth[GROUPING.place(a), GROUPING.place(b)]
        targets[(a, b)] = Target(table + random.normal(0, deviation, table.shape), deviation**2)
    margins = [truth[GROUPING.place(j), GROUPING.place((j + 1) % 3)].sum(axis=1) for j in range(3)]
    model = mixture.fit(GROUPING, margins, [deviation**2] * 3, targets, 20_000.0).tables() * 20_000
    off = [model[GROUPING.place(a), GROUPING.place(b)] - t.table for (a, b), t in targets.items()]
    discrepancy = sum((o**2).sum() for o in off) / deviation**2 / sum(o.size for o in off)
    assert discrepancy <= 1.2


def test_refined_tables_keep_the_sums_of_groups():
    attributes = DOMAIN.project(["age", "job"]).attributes
    grouping = Grouping((np.array([0] * 4 + [1] * 4 + [2] * 4 + [3]), np.arange(4)))
    noisy = [np.arange(1, 14) * 10, np.array([310, 200, 200, 200])]
    margins = estimate(attributes, noisy, (1.0, 1.0), 910)
    model = np.random.default_rng(1).dirichlet(np.ones(16)).reshape(4, 4)
    joint = np.zeros((8, 8))
    joint[:4, 4:], joint[4:, :4] = model, model.T
    cells = refined(attributes, grouping, margins, joint, Impossible({(0, 1): ((2, 1), (3, 1))}))
    assert grouping.table(cells[:13, 13:], (0, 1)) == pytest.approx(model)
    assert (cells >= 0).all() and cells[2, 14] == cells[14, 3] == 0 < cells[1, 14]


def test_a_spanning_tree_has_the_largest_total():
    random = np.random.default_rng(5)
    pairs = list(combinations(range(5), 2))
    for _ in range(20):
        values = random.normal(size=10).tolist()
        worth = dict(zip(pairs, values, strict=True))
        trees = [t for t in combinations(pairs, 4) if len(spanning_tree(5, [], [], t)) == 4]
        best = max(sum(worth[p] for p in tree) for tree in trees)
        assert sum(worth[p] for p in spanning_tree(5, pairs, values)) == pytest.approx(best)


def test_the_distortion_is_the_sum_of_the_tables_errors():
    """zCDP: Σ cells · √(2/π) · σ with ρ shared ∝ cells^(2/3)."""
    cells, rho = [10, 200], 0.5
    shares = np.array(cells) ** (2 / 3) / (np.array(cells) ** (2 / 3)).sum()
    expected = sum(c * np.sqrt(2 / np.pi) / np.sqrt(2 * rho * s) for c, s in zip(cells, shares, strict=True))
    assert distortion(cells, loss("1/2")) == pytest.approx(expected)
