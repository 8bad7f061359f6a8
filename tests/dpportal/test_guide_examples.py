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
