"""The DP-GAN: what a person moves, what noise that meets, what three accountants say it costs, and what comes out."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from mechanisms.accounting import zcdp_to_epsilon
from mechanisms.microdata.adversarial import critic, method
from mechanisms.microdata.adversarial.critic import CLIP, People, gradient_sensitivity, step_law, to_integers
from mechanisms.microdata.adversarial.generator import RowMaker, evened, shapes
from mechanisms.microdata.constraints import Wishes
from mechanisms.microdata.tables import Grouping
from mechanisms.noise import DiscreteGaussian, Noise, NoiseLaw, repeatable
from mechanisms.protocol import PlanError
from mechanisms.registry import microdata
from tests.mechanisms.microdata.building import DOMAIN, counted, distance, loss, people
from tests.mechanisms.neighbours import UNITS, changes, name

GAN = method.Adversarial()
needs_extra = pytest.mark.skipif(bool(GAN.missing), reason=GAN.missing or "all is there")
CELLS = sum(DOMAIN.shape)
GROUPING = Grouping(tuple(np.arange(size) for size in DOMAIN.shape))
ORDERS = [1 + 10 ** (k / 200) for k in range(-300, 900)]


def critics(spread: float) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(4)
    return to_integers(random.normal(0, spread, (CELLS, critic.HIDDEN))), to_integers(
        random.normal(0, 0.3, critic.HIDDEN)
    )


def gradient(rows: np.ndarray, weights: np.ndarray, answers: np.ndarray) -> np.ndarray:
    return People.of([rows], GROUPING).gradient(weights, answers)


def real_gradient(row: np.ndarray, weights: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """Of ln(1 + e^-critic) in floats, clipped to a norm of 1."""
    entered = np.zeros(CELLS)
    entered[row + np.array(GROUPING.offsets)] = 1
    weights, answers = weights / 2**critic.WEIGHT_BITS, answers / 2**critic.WEIGHT_BITS
    reached = entered @ weights
    slope = np.where(reached > 0, 1, 0.25)
    doubt = 1 / (1 + math.exp(slope * reached @ answers))
    whole_gradient = -doubt * np.concatenate([np.outer(entered, answers * slope).ravel(), slope * reached])
    return whole_gradient * min(1, 1 / np.linalg.norm(whole_gradient))


@pytest.mark.parametrize("spread", [0.02, 0.5, 3.0])
def test_whole_gradients_are_the_real_ones_rounded(spread):
    weights, answers = critics(spread)
    lengths = []
    for row in people(20):
        found = gradient(row[None], weights, answers) / CLIP
        lengths.append(np.linalg.norm(found))
        assert np.linalg.norm(found - real_gradient(row, weights, answers)) < 0.02
    assert max(lengths) <= 1
    assert spread < 0.5 or max(lengths) > 0.95


@pytest.mark.parametrize("spread", [0.5, 20.0])
@pytest.mark.parametrize("unit", UNITS, ids=name)
def test_nobody_moves_the_sum_further_than_the_noise_is_for(unit, spread):
    """Brute force over all neighbours of rows that are told apart most; weights as large as they can be among them."""
    rows = np.array([[0, 0, 0, 0], [12, 3, 1, 1], [5, 1, 0, 1]])
    weights, answers = critics(spread)
    each = np.array([gradient(row[None], weights, answers) for row in rows])
    assert (each**2).sum(axis=1).max() <= CLIP**2
    moved = changes(unit, len(rows)) @ each
    bound = gradient_sensitivity(CELLS, unit)
    assert (moved**2).sum(axis=1).max() <= bound.l2_squared
    assert np.abs(moved).sum(axis=1).max() <= bound.l1


def test_a_row_s_gradient_knows_nothing_of_the_others(monkeypatch):
    """To the last bit: the sum over all, in blocks of any size, is the sum of each by itself."""
    weights, answers = critics(0.5)
    rows = people(500)
    alone = sum(gradient(row[None], weights, answers) for row in rows)
    for block in (1, 7, 64, 1000):
        monkeypatch.setattr(critic, "AT_ONCE", block)
        assert np.array_equal(gradient(rows, weights, answers), alone)


@pytest.mark.parametrize("rho", ["0.000123996", "0.0104811406", "0.76354999"])
def test_dp_accounting_and_the_ledger_agree_on_what_the_steps_cost(rho):
    steps = 100
    law = step_law(CELLS, steps, loss(rho))
    assert isinstance(law, DiscreteGaussian)
    assert steps * Fraction(CLIP**2) / (2 * law.variance_parameter) == Fraction(rho)
    sigma = math.sqrt(law.variance_parameter) / CLIP
    import dp_accounting

    other = dp_accounting.rdp.RdpAccountant(orders=ORDERS)
    other.compose(dp_accounting.PoissonSampledDpEvent(1.0, dp_accounting.GaussianDpEvent(sigma)), steps)
    assert other.get_epsilon(1e-9) == pytest.approx(zcdp_to_epsilon(float(Fraction(rho)), 1e-9), rel=1e-3)


@needs_extra
def test_opacus_agrees_too_and_is_asked_before_a_step_is_taken(monkeypatch):
    from opacus.accountants import RDPAccountant

    from mechanisms.microdata.adversarial import training

    opacus = RDPAccountant()
    opacus.history = [(math.sqrt(100 / (2 * 0.3)), 1.0, 100)]
    assert opacus.get_epsilon(1e-9, alphas=ORDERS) == pytest.approx(zcdp_to_epsilon(0.3, 1e-9), rel=1e-3)
    training.check_account(0.3, 100)
    monkeypatch.setattr(training.rdp, "compute_rdp", lambda **_asked: np.ones(len(training.ORDERS)))
    with pytest.raises(RuntimeError, match="Opacus"):
        training.check_account(0.3, 100)


class Ledger(Noise):
    """Noise that writes down every law it draws from, and how often."""

    def __init__(self) -> None:
        super().__init__()
        self.draws: list[tuple[NoiseLaw, int]] = []

    def draw(self, law: NoiseLaw, size: int) -> np.ndarray:
        self.draws.append((law, size))
        return super().draw(law, size)


@needs_extra
@pytest.mark.parametrize("unit", UNITS, ids=name)
def test_a_release_draws_noise_that_costs_exactly_the_loss(unit):
    plan, ledger = GAN.plan(DOMAIN, Wishes(target="ill"), loss("2", unit=unit)), Ledger()
    GAN.measure(plan, counted(plan, people(300)), ledger)
    training = ledger.draws[len(DOMAIN.shape) :]
    groups = training[0][1] // critic.HIDDEN - 1
    assert len(training) == method.STEPS and set(training) == {training[0]}
    law = training[0][0]
    assert isinstance(law, DiscreteGaussian)
    moved = gradient_sensitivity(groups, plan.loss.unit).l2_squared
    assert method.STEPS * moved / (2 * law.variance_parameter) == plan.step(method.TRAINING).amount


@needs_extra
@pytest.mark.slow
def test_with_little_noise_rows_depend_more_than_independent_columns_do(monkeypatch):
    monkeypatch.undo()
    plan = GAN.plan(DOMAIN, Wishes(), loss("50"))
    true = people(4000)
    rows = GAN.reconstruct(plan, GAN.measure(plan, counted(plan, true), Noise())).rows
    shuffled = np.column_stack([np.random.default_rng(j).permutation(c) for j, c in enumerate(true.T)])
    assert distance(rows, true, (0, 1)) < 0.9 * distance(shuffled, true, (0, 1))


def test_without_its_packages_the_method_says_what_it_is_and_how_to_add_it(monkeypatch):
    monkeypatch.setattr(method, "NEEDS", ("a_package_that_nobody_has",))
    with pytest.raises(PlanError, match=r"neural network.*pip install -r mechanisms/.*requirements-gan.txt"):
        microdata("dp-gan").plan(DOMAIN, Wishes(), loss())


def test_a_recorded_generator_makes_rows_with_the_given_shares():
    sizes, random = (3, 4, 2), repeatable(bytes(32))
    weights = tuple(random.normal(0, 0.5, shape) for shape in shapes(sizes, 2))
    made = RowMaker(weights, sizes, 2)
    again = RowMaker.recorded(made.record(), sizes, 2)
    shares = [np.array([0.2, 0.3, 0.5]), np.array([0.7, 0.1, 0.1, 0.1]), np.array([0.5, 0.5])]
    groups = np.repeat([0, 1], 5_000)
    rows = again.rows(groups, shares, random)
    assert np.array_equal(again.record(), made.record()) and np.abs(rows[:, 2] - groups).sum() <= 1
    for column, share in zip(rows.T, shares, strict=True):
        assert np.abs(np.bincount(column) - 10_000 * share).max() <= 1


def test_as_few_rows_as_can_be_are_moved_to_a_column_s_shares():
    random = np.random.default_rng(0)
    groups = random.integers(0, 4, 1000)
    found = evened(groups, np.array([0.1, 0.2, 0.3, 0.4]), random)
    wanted = np.array([100, 200, 300, 400])
    assert np.bincount(found).tolist() == wanted.tolist()
    assert (found != groups).sum() == np.maximum(np.bincount(groups) - wanted, 0).sum()
