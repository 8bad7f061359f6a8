"""The benchmark's DP-GAN: what a person can move, what noise they meet, and what three accountants say it costs."""

from __future__ import annotations

import math
from fractions import Fraction

import dp_accounting
import numpy as np
import pytest
from scipy.stats import chi2

from mechanisms.accounting import zcdp_to_epsilon
from mechanisms.noise import Noise
from tests.mechanisms.microdata.building import DOMAIN, people

WHY = "the DP-GAN's packages are missing: pip install -r tests/benchmarks/rivals/requirements-gan.txt"
torch = pytest.importorskip("torch", reason=WHY)
pytest.importorskip("opacus", reason=WHY)

from opacus.accountants import RDPAccountant  # noqa: E402
from opacus.utils.fast_gradient_clipping_utils import DPTensorFastGradientClipping  # noqa: E402

from tests.benchmarks.rivals import descent, gan  # noqa: E402

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:Full backward hook is firing"),
]
DELTA = 1e-9
ORDERS = [1 + 10 ** (k / 200) for k in range(-300, 900)]


@pytest.mark.parametrize("rho", ["0.000123996", "0.0104811406", "0.76354999"])
def test_opacus_dp_accounting_and_the_ledger_agree_on_what_the_steps_cost(rho: str) -> None:
    sigma, steps = descent.noise_multiplier(Fraction(rho), gan.STEPS), gan.STEPS
    opacus = RDPAccountant()
    opacus.history = [(sigma, 1.0, steps)]
    other = dp_accounting.rdp.RdpAccountant(orders=ORDERS)
    step = dp_accounting.PoissonSampledDpEvent(1.0, dp_accounting.GaussianDpEvent(sigma))
    other.compose(step, steps)
    ours = zcdp_to_epsilon(float(Fraction(rho)), DELTA)
    assert opacus.get_epsilon(DELTA, alphas=ORDERS) == pytest.approx(ours, rel=1e-3)
    assert other.get_epsilon(DELTA) == pytest.approx(ours, rel=1e-3)


def test_the_noise_of_all_steps_costs_exactly_rho() -> None:
    rho, parameters = Fraction(1, 7), 10_001
    law = descent.step_law(rho, 150, parameters)
    moved = descent.GRID + 101  # 101 >= √10,001
    assert 150 * Fraction(moved**2) / (2 * law.variance_parameter) == rho


def critic_for(rows: np.ndarray, rho: Fraction) -> gan.PrivateCritic:
    torch.manual_seed(3)
    return gan.PrivateCritic(gan.one_hot(rows, DOMAIN.shape), float(len(rows)), rho, Noise())


def clipped_sum(critic: gan.PrivateCritic) -> np.ndarray:
    critic.optimiser.zero_grad()
    losses = torch.nn.functional.softplus(-critic.hooked(critic.people)).squeeze(1)
    DPTensorFastGradientClipping(critic.hooked, critic.optimiser, losses, "sum").backward()
    critic.optimiser.accumulate()
    return torch.cat([p.summed_grad.flatten() for p in critic.optimiser.params]).double().numpy()


def test_what_opacus_sums_is_each_row_s_gradient_clipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gan, "CLIP", 0.3)
    critic = critic_for(people(40), Fraction(1))
    weights = list(critic.open.parameters())
    expected = 0.0
    norms = []
    for row in critic.people:
        loss = torch.nn.functional.softplus(-critic.open(row[None, :])).sum()
        own = torch.cat([g.flatten() for g in torch.autograd.grad(loss, weights)]).double().numpy()
        norms.append(np.linalg.norm(own))
        expected = expected + own * min(1, 0.3 / norms[-1])
    assert max(norms) > 0.3
    assert clipped_sum(critic) == pytest.approx(expected, abs=1e-4)


def test_one_person_moves_the_sum_by_no_more_than_the_bound() -> None:
    rows = people(60)
    whole = clipped_sum(critic_for(rows, Fraction(1)))
    moved = [
        np.linalg.norm(whole - clipped_sum(critic_for(np.delete(rows, i, 0), Fraction(1)))) for i in range(5)
    ]
    assert 0.05 < max(moved) <= gan.CLIP * (1 + 1e-4)


def test_noise_is_whole_multiples_of_the_grid_with_the_law_s_variance() -> None:
    critic = critic_for(people(20), Fraction(1, 50))
    optimiser = critic.optimiser
    for parameter in optimiser.params:
        parameter.summed_grad = torch.zeros_like(parameter)
    optimiser.add_noise()
    drawn = torch.cat([p.grad.flatten() for p in optimiser.params]).double().numpy() * descent.GRID / gan.CLIP
    law = descent.step_law(Fraction(1, 50), gan.STEPS, drawn.size)
    # float32 keeps 24 bits, so only the smaller draws show that they are whole
    small = drawn[np.abs(drawn) < 2**23]
    assert small.size > 100
    assert np.all(small == np.rint(small))
    ratio = float((drawn**2).sum()) / law.variance
    assert chi2.ppf(1e-7, drawn.size) < ratio < chi2.ppf(1 - 1e-7, drawn.size)


def test_a_release_makes_steps_as_planned_and_rows_of_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gan, "STEPS", 6)
    made_by: list[gan.PrivateCritic] = []
    begin = gan.PrivateCritic.__init__

    def noted(self: gan.PrivateCritic, *given: object) -> None:
        begin(self, *given)
        made_by.append(self)

    monkeypatch.setattr(gan.PrivateCritic, "__init__", noted)
    rho = Fraction(1, 2)
    rows = gan.synthesise(DOMAIN, people(500), rho)
    sigma = math.sqrt(6 / (2 * rho * Fraction(7, 10)))
    assert made_by[0].accountant.history == [(pytest.approx(sigma), 1.0, 6)]
    assert rows.shape[1] == 4 and 400 < len(rows) < 600
    assert rows.min() >= 0 and np.all(rows.max(axis=0) < DOMAIN.shape)
