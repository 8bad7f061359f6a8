"""The log-linear model: iterative proportional fitting, an indicator matrix, and what nobody can be."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from mechanisms.domain import Boolean, Categorical, Integer
from mechanisms.microdata.impossible import Impossible
from mechanisms.microdata.log_linear import Evidence, LogLinear
from mechanisms.microdata.margins import Margins
from mechanisms.microdata.tables import Grouping

ATTRIBUTES = (
    Integer("age", lower=0, upper=3, missing_cell=True),
    Categorical("job", values=("a", "b")),
    Boolean("ill"),
)
SHAPE = tuple(attribute.size for attribute in ATTRIBUTES)
PAIRS = list(combinations(range(3), 2))
PEOPLE = 10**7


def truth() -> np.ndarray:
    """Shares with an interaction of all three columns, which no model of pairs holds."""
    shares = np.random.default_rng(4).gamma(5.0, size=SHAPE)
    return shares / shares.sum()


def margin(shares: np.ndarray, *columns: int) -> np.ndarray:
    return shares.sum(axis=tuple(axis for axis in range(3) if axis not in columns))


def model(impossible: Impossible | None = None) -> LogLinear:
    grouping = Grouping(tuple(np.arange(size) for size in SHAPE))
    counts = tuple(margin(truth(), column) * PEOPLE for column in range(3))
    return LogLinear(
        ATTRIBUTES, grouping, Margins(PEOPLE, counts, (1.0,) * 3, counts), PAIRS, impossible or Impossible({})
    )


def evidence(shares: np.ndarray, variance: float = 1.0) -> Evidence:
    """What is measured of so many people that there is next to no noise."""
    tables = [margin(shares, *columns).ravel() for columns in [(0,), (1,), (2,), *PAIRS]]
    counts = PEOPLE * np.concatenate(tables)
    return Evidence(counts, np.full(counts.size, variance), PEOPLE)


def test_it_is_the_fit_of_all_pairs_by_proportional_fitting() -> None:
    """The table of largest entropy with these tables of pairs (Deming, Stephan 1940)."""
    fitted = np.ones(SHAPE)
    for _ in range(200):
        for pair in PAIRS:
            third = next(axis for axis in range(3) if axis not in pair)
            fitted *= np.expand_dims(margin(truth(), *pair) / margin(fitted, *pair), third)
    found = model()
    shares = found.shares(found.fitted(evidence(truth()))).reshape(SHAPE)
    assert shares == pytest.approx(fitted, abs=1e-5)
    assert np.abs(shares - truth()).max() > 1e-3, "the interaction is not in it"


def test_where_noise_hides_everything_columns_are_independent() -> None:
    found = model()
    shares = found.shares(found.fitted(evidence(truth(), variance=1e20))).reshape(SHAPE)
    one, other, third = (margin(truth(), column) for column in range(3))
    assert shares == pytest.approx(np.einsum("a,b,c->abc", one, other, third), abs=1e-6)


def test_what_cannot_occur_has_no_share() -> None:
    found = model(Impossible({(1, 2): ((0, 1),)}))
    shares = found.shares(found.fitted(evidence(truth()))).reshape(SHAPE)
    assert (shares[:, 0, 1] == 0).all() and shares.sum() == pytest.approx(1)


def test_counts_are_those_of_the_people() -> None:
    people = np.random.default_rng(2).integers(0, 9, SHAPE)
    counts = model().counts(people.ravel())
    expected = [margin(people, *columns).ravel() for columns in [(0,), (1,), (2,), *PAIRS]]
    assert all((own == other).all() for own, other in zip(counts, expected, strict=True))


def test_noisy_counts_that_leave_everybody_in_one_cell_are_fitted_too() -> None:
    """As a column of many cells has them at a small loss: the others are then no millions of deviations away."""
    attributes = (Integer("age", lower=0, upper=24), Integer("rooms", lower=0, upper=15))
    sizes = [attribute.size for attribute in attributes]
    counts = [np.where(np.arange(size) == size // 2, 300.0, 0.0) for size in sizes]
    found = LogLinear(
        attributes,
        Grouping(tuple(np.arange(size) for size in sizes)),
        Margins(300.0, tuple(counts), (1e5,) * 2, tuple(counts)),
        [(0, 1)],
        Impossible({}),
    )
    number = sum(sizes) + math.prod(sizes)
    noise = np.random.default_rng(1).normal(0, 300, number)
    shares = found.shares(found.fitted(Evidence(noise, np.full(number, 1e5), 300.0)))
    assert np.isfinite(shares).all() and shares.sum() == pytest.approx(1)
