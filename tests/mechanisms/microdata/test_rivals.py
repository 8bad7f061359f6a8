"""The benchmark's AIM and MST: what they cost in all, and whether their model's rows keep siblings apart."""

from __future__ import annotations

from fractions import Fraction
from importlib.metadata import version

import numpy as np
import pytest

from mechanisms.accounting import pure_within_zcdp
from mechanisms.noise import DiscreteGaussian, Noise
from tests.mechanisms.microdata.building import DOMAIN, distance, people

WHY = "mbi is missing: pip install -r tests/benchmarks/rivals/requirements-mbi.txt"
mbi = pytest.importorskip("mbi", reason=WHY)
if int(version("mbi").partition(".")[0]) < 2:
    pytest.skip("mbi before 2.0 draws wrong rows", allow_module_level=True)

from tests.benchmarks.rivals import graphical, rival  # noqa: E402

pytestmark = pytest.mark.slow


def test_siblings_are_independent_given_their_parent_in_the_rows_of_a_model() -> None:
    """Values dealt by rank in each parent's group, as before mbi 2.0, would move together."""
    sizes = [2, 3, 3]
    tables = [np.array([[30.0, 10, 10], [10, 10, 30]]), np.array([[20.0, 20, 10], [5, 5, 40]])]
    measured = [mbi.LinearMeasurement(100 * t.ravel(), ("a", c)) for t, c in zip(tables, "bc", strict=True)]
    model = mbi.estimation.MirrorDescent().estimate(
        mbi.Domain(list("abc"), sizes), measured, known_total=10_000
    )
    rows = model.synthetic_data(rows=10_000).to_dict()
    true = tables[0].T @ (tables[1] / 50) / 100
    made = np.bincount(rows["b"].astype(int) * 3 + rows["c"], minlength=9).reshape(3, 3) / 10_000
    assert np.abs(made - true).sum() / 2 < 0.02


@pytest.mark.parametrize("name", ["aim", "mst"])
def test_columns_choices_and_tables_cost_rho_together(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    spent: list[Fraction] = []
    draw, choose = Noise.draw, graphical.ExponentialMechanism.choose

    def noted_draw(self: Noise, law: DiscreteGaussian, size: int) -> np.ndarray:
        spent.append(1 / (2 * law.variance_parameter))
        return draw(self, law, size)

    def noted_choice(self: graphical.ExponentialMechanism, rate: Fraction, *given: np.ndarray) -> np.ndarray:
        spent.append((2 * rate) ** 2 / 8)
        return choose(self, rate, *given)

    monkeypatch.setattr(Noise, "draw", noted_draw)
    monkeypatch.setattr(graphical.ExponentialMechanism, "choose", noted_choice)
    rho = Fraction(3, 10)
    true = people(3000)
    rows = rival(name)(DOMAIN, true, rho)
    assert rho * (1 - Fraction(1, 10**6)) < sum(spent) <= rho
    assert np.all(rows.max(axis=0) < DOMAIN.shape) and rows.min() >= 0
    independent = np.column_stack([np.random.default_rng(j).permutation(true[:, j]) for j in range(4)])
    assert distance(true, rows, (0, 1)) < distance(true, independent, (0, 1)) / 3


def test_a_choice_follows_the_score_and_costs_no_more_than_asked() -> None:
    rho = Fraction(1, 100)
    rate = pure_within_zcdp(4 * rho) / 2
    assert (2 * rate) ** 2 / 8 <= rho
    picks = [graphical.choose([0, 10, 0], rho, Noise()) for _ in range(4000)]
    odds = float(np.exp(10 * float(rate)))
    share, expected = picks.count(1) / 4000, odds / (odds + 2)
    assert abs(share - expected) < 6 * (expected * (1 - expected) / 4000) ** 0.5
