"""Which sums are measured: of a public number, and under ρ."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.linalg import sqrtm

from mechanisms.accounting import Loss
from mechanisms.domain import Boolean, Domain
from mechanisms.moments.basis import MIDDLE, Bernstein
from mechanisms.moments.estimates import Sums
from mechanisms.moments.mechanism import exact_sums
from mechanisms.noise import Noise
from tests.mechanisms.moments.measuring import (
    BERNSTEIN,
    NOBODY,
    PUBLIC,
    SHAPES,
    column,
    held,
    powers_of,
    repeated,
)


@pytest.mark.slow
@pytest.mark.parametrize("loss", PUBLIC, ids=["pure", "zcdp"])
@pytest.mark.parametrize("shape", ["skewed", "two ends"])
def test_intervals_of_a_public_number_hold_the_truth(shape: str, loss: Loss) -> None:
    """25 people with a value and 15 without."""
    x = SHAPES[shape](np.random.default_rng(3), 25)
    plan = BERNSTEIN.plan(NOBODY, [column(0, 1000)], 2, loss, 40)
    told = repeated(plan, powers_of(x, 1000, missing=15), 4_000)
    assert told.deviation is not None
    for interval, truth in (
        (told.number, 25), (told.total, x.sum()), (told.mean, x.mean()), (told.deviation, x.std()),
        (told.missing, 15), (told.at_lower, (x == 0).mean()), (told.at_upper, (x == 1000).mean()),
    ):  # fmt: skip
        assert held(interval, float(truth)) >= 0.938


@pytest.mark.parametrize("loss", PUBLIC, ids=["pure", "zcdp"])
@pytest.mark.parametrize("degree", [1, 2])
def test_a_public_number_costs_nothing(degree: int, loss: Loss) -> None:
    """Number and missing together are exact; a mean at a bound has less noise than in one of two groups."""
    plan = BERNSTEIN.plan(NOBODY, [column(0, 10)], degree, loss, 100)
    sums = exact_sums(plan, powers_of(np.arange(11), 10, missing=89))
    measured = BERNSTEIN.measure(plan, sums, Noise()).values
    own = Sums(plan.columns[0], degree)
    assert measured[0, 0] @ (own.number + own.missing) == pytest.approx(100)
    groups = BERNSTEIN.plan(Domain((Boolean("g"),)), [column(0, 10)], degree, loss, 100)
    private = Sums(groups.columns[0], degree)
    here, there = (each.half_width(each.first) for each in (own, private))
    assert here <= 0.85 * there


def test_under_rho_no_linear_sums_have_much_less_error_and_scaled_ones_have_more() -> None:
    """Of number, mean and deviation, averaged over means and deviations and weighed by the errors of plain sums.

    Any three sums G^(1/2) (1, t, t²) with largest norm 1 have error tr(Q G⁻¹). It is at least (tr (Q^½ S Q^½)^½)² for
    S = Σ p_i φ(t_i) φ(t_i)ᵀ of any probabilities p: the dual of that problem of three by three.
    """
    errors, plain, wanted = error_matrices()
    weighted = sum(matrix / np.trace(matrix @ plain) for matrix in wanted.values())
    ours = {name: np.trace(matrix @ errors) / np.trace(matrix @ plain) for name, matrix in wanted.items()}
    assert max(ours.values()) <= 1
    root = np.real(sqrtm(weighted))
    phi = np.vander(np.array([0, 0.5, 1]), 3, increasing=True)
    bounds = [
        np.trace(np.real(sqrtm(root @ (phi.T * np.array([p, 1 - 2 * p, p]) @ phi) @ root))) ** 2
        for p in np.linspace(0.3, 0.45, 31)
    ]
    assert sum(ours.values()) <= 1.03 * max(bounds)
    scaled = min(
        np.trace(weighted @ np.diag([1 / n, 1 / a, 1 / (1 - n - a)]))
        for n in np.linspace(0.05, 0.9, 18)
        for a in np.linspace(0.05, 0.95 - n, 18)
        if n + a < 0.999
    )
    assert scaled > 4 * sum(ours.values())


def error_matrices() -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Covariances of Σ1, Σt, Σt² here and by plain sums, for sums of norm 1; of what is shown, in terms of those."""
    bases = (Bernstein(MIDDLE), Bernstein())
    read = [basis.readings(2) for basis in bases]
    here, plain = (np.array([r.number, r.first, r.second])[:, :3] for r in read)
    means, shares = np.linspace(0, 1, 41), np.linspace(0.05, 0.95, 19)
    mean = np.mean([np.outer(w, w) for w in np.stack([-means, 1 + 0 * means, 0 * means], axis=1)], axis=0)
    # To first order, where a third of the largest variance m(1-m) is there.
    deviation = [
        np.array([2 * m * m - (m * (1 - m) / 3 + m * m), -2 * m, 1]) / math.sqrt(4 * m * (1 - m) / 3)
        for m in shares
    ]
    wanted = {
        "number": np.diag([1.0, 0.0, 0.0]),
        "mean": mean,
        "deviation": np.mean([np.outer(w, w) for w in deviation], axis=0),
    }
    return here @ here.T, plain @ plain.T, wanted
