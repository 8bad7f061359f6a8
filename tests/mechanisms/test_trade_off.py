"""What the best attack can do, against other libraries' own derivations."""

from __future__ import annotations

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from riskcal.analysis import conversions
from scipy.special import ndtr, ndtri

from mechanisms.trade_off import hits_pure, hits_zcdp

ALARMS = np.array([0.001, 0.01, 0.05, 0.2, 0.5, 0.9, 0.99])


def hits_gaussian(rho: float, false_alarms: np.ndarray) -> np.ndarray:
    """The hits against continuous Gaussian noise that costs ρ: Φ(Φ⁻¹(a) + √(2ρ))."""
    return ndtr(ndtri(false_alarms) + np.sqrt(2 * rho))


@pytest.mark.parametrize("epsilon", [0.01, 0.25, 1.0, 5.0])
def test_pure_losses_have_the_curve_of_randomised_response(epsilon):
    theirs = 1 - conversions.get_beta_from_adp(epsilon, 0.0, ALARMS)
    np.testing.assert_allclose(hits_pure(epsilon, ALARMS), theirs, rtol=1e-9)
    truth = np.exp(epsilon) / (1 + np.exp(epsilon))
    assert hits_pure(epsilon, np.array([1 - truth])) == pytest.approx(truth)


@pytest.mark.parametrize("rho", [0.02, 0.5, 2.0])
def test_gaussian_noise_has_its_own_curve(rho):
    theirs = 1 - conversions.get_beta_from_gdp(np.sqrt(2 * rho), ALARMS)
    np.testing.assert_allclose(hits_gaussian(rho, ALARMS), theirs, rtol=1e-9)


@pytest.mark.parametrize("rho", [0.02, 0.5, 2.0])
def test_the_curve_of_a_concentrated_loss_is_the_exact_one(rho):
    theirs = 1 - conversions.get_beta_from_zcdp(rho, ALARMS, grid_size=150)
    np.testing.assert_allclose(hits_zcdp(rho, ALARMS), theirs, atol=2e-3)


@pytest.mark.parametrize("rho", [0.02, 0.5, 2.0])
def test_no_noise_of_that_loss_does_worse(rho):
    """Gaussian noise: its own curve, which another library's distribution of its privacy loss confirms."""
    own = hits_zcdp(rho, ALARMS)
    assert (own >= hits_gaussian(rho, ALARMS) - 1e-9).all()
    noise = pld.from_gaussian_mechanism(1 / np.sqrt(2 * rho), value_discretization_interval=1e-2)
    for epsilon in (0.1, 1.0, 3.0):  # (ε, δ) is hits <= e^ε a + δ, and δ is what the best a leaves
        left = max(hits_gaussian(rho, ALARMS) - np.exp(epsilon) * ALARMS)
        assert noise.get_delta_for_epsilon(epsilon) >= left - 1e-6


def test_fewer_orders_promise_less():
    exact, whole = hits_zcdp(0.5, ALARMS), hits_zcdp(0.5, ALARMS, whole_orders=True)
    assert (whole >= exact - 1e-9).all() and (whole > exact + 1e-4).any()


def test_the_ends_are_certain():
    ends = np.array([0.0, 1.0])
    for hits in (hits_pure(800.0, ends), hits_zcdp(0.5, ends)):
        np.testing.assert_allclose(hits, ends, atol=1)
        assert hits[0] == 0 and hits[1] == 1
    with pytest.raises(ValueError, match="positive"):
        hits_zcdp(0.0, ends)
    with pytest.raises(ValueError, match="negative"):
        hits_pure(-1.0, ends)
