"""The guide's examples of queries and of running counts hold the numbers that the mechanisms give."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pytest
from django.test import Client

from mechanisms import registry
from mechanisms.accounting import Definition, Loss
from mechanisms.continual.mechanism import StreamRequest
from mechanisms.noise import DiscreteLaplace

LOSS = Loss(Definition.PURE, Fraction(1))
# As the page names them, with the strategies that they are.
STRATEGIES = {
    "each period by itself": "naive-increments",
    "binary tree (Chan, Shi and Song 2011)": "binary-tree",
    "tree with the best weights on its nodes (FDA)": "fda",
    "smooth overlapping windows (p-Identity)": "p-identity",
}
HORIZONS = (255, 1023, 65_535)
# Rows of weights over three months, and how the three counts are put together from them.
THREE_MONTHS = {
    54: ([[1, 0, 0], [1, 1, 0], [1, 1, 1]], [[1, 0, 0], [0, 1, 0], [0, 0, 1]]),
    32: ([[1, 0, 0], [1, 1, 0], [0, 0, 1]], [[1, 0, 0], [0, 1, 0], [0, 1, 1]]),
    26: ([[1, 0, 0], [1, 1, 0], [0, 0, 2]], [[1, 0, 0], [0, 1, 0], [0, 1, 0.5]]),
    12: ([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[1, 0, 0], [1, 1, 0], [1, 1, 1]]),
}


@pytest.fixture
def streams(client: Client) -> str:
    return client.get("/guide/streams/").content.decode()


def numbers(page: str, row: str) -> list[str]:
    """The numbers of the table row that begins with these words."""
    match = re.search(rf"<tr><td>{re.escape(row)}</td>(.*?)</tr>", page)
    assert match is not None
    return re.findall(r'class="number">([^<]+)<', match[1])


@pytest.mark.parametrize("error", THREE_MONTHS)
def test_three_months_have_the_error_of_their_matrices(streams: str, error: int) -> None:
    """2 (Δ/ε)² for each unit of noise, Δ the largest column sum of the strategy A, and B A the running sums."""
    strategy, mixture = (np.array(m, dtype=float) for m in THREE_MONTHS[error])
    assert (mixture @ strategy == np.tri(3)).all()
    sensitivity = int(np.abs(strategy).sum(axis=0).max())
    assert 2 * sensitivity**2 * np.sum(mixture**2) == error
    assert f'<td class="number">{sensitivity}</td><td class="number">{error}</td>' in streams


@pytest.mark.parametrize("row", STRATEGIES)
def test_the_strategies_have_the_errors_of_their_plans(streams: str, row: str) -> None:
    mechanism = registry.stream(STRATEGIES[row])
    shown = [float(text.replace(",", "")) for text in numbers(streams, row)]
    plans = [mechanism.plan(StreamRequest(horizon), LOSS).mean_squared_error for horizon in HORIZONS]
    # The plans add the twelfth of a row² that rounding costs.
    assert shown == pytest.approx(plans, rel=0.01)


def test_the_queries_page_has_the_two_groups(client: Client) -> None:
    """(r₁ + r₂)/2 and (r₁ − r₂)/2, as the page says."""
    page = client.get("/guide/queries/").content.decode()
    for first, second in ((303, -101), (305, -105), (290, 90), (300, 150), (100, 200)):
        groups = f"{(first + second) // 2}, {(first - second) // 2}"
        row = f'<td class="number">{first}, {second}</td><td class="number">{groups}</td>'
        assert row.replace("-", "−") in page


def drawn(page: str, name: str) -> np.ndarray:
    """(k, 2) of a drawn path: the number at each place across, and how high it is there."""
    match = re.search(rf'id="{name}" d="([^"]*)"', page)
    assert match is not None
    points = re.findall(r"([\d.]+) (?:170V)?([\d.]+)", match[1])
    places = np.array(points, dtype=float)
    return np.stack([10 + (places[:, 0] - 40) / 28, (170 - places[:, 1]) / 560], axis=1)


def test_laplace_noise_is_the_choice_with_the_score_minus_the_distance(client: Client) -> None:
    """Density ∝ e^(−ε|y − x|), its total one; neighbours are within e^ε; whole numbers follow their law."""
    page, epsilon = client.get("/guide/choice/").content.decode(), 0.5
    here, there = (drawn(page, f"guide-at-{x}") for x in (20, 21))
    for x, density in ((20, here), (21, there)):
        chosen = np.exp(-epsilon * np.abs(density[:, 0] - x))
        assert density[:, 1] == pytest.approx(chosen * epsilon / 2, abs=2e-4)
    # Heights are in tenths of a pixel, which tell ratios apart where they are not small.
    high = np.minimum(here[:, 1], there[:, 1]) > 0.02
    assert np.abs(np.log(here[high, 1] / there[high, 1])).max() == pytest.approx(epsilon, abs=0.01)
    sticks, law = drawn(page, "guide-sticks"), DiscreteLaplace(1 / Fraction(epsilon))
    assert sticks[:, 1] == pytest.approx([law.probability(round(y) - 20) for y in sticks[:, 0]], abs=2e-4)
