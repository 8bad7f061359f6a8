"""Means of single columns by their noisy counts: the interval holds the truth as often as it says."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from mechanisms import registry
from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Date, Domain, Integer, Real
from mechanisms.microdata.column_means import column_means, most_noise_errors
from mechanisms.microdata.constraints import Wishes
from mechanisms.microdata.mechanism import margin_laws
from mechanisms.microdata.plan import MicrodataPlan, MicrodataResult
from mechanisms.noise import Noise

COLUMNS = Domain(
    (
        Integer("age", True, lower=17, upper=90),
        Real("gain", lower=0.0, upper=1000.0, bins=20, single_values=(0.0,)),
        Date("since", lower=dt.date(2024, 1, 1), upper=dt.date(2024, 3, 31), step="day"),
    )
)
RANDOM = np.random.default_rng(3)
PEOPLE = 2_000
CELLS = np.stack(
    [
        RANDOM.binomial(74, 0.3, PEOPLE),
        np.where(RANDOM.random(PEOPLE) < 0.8, 0, RANDOM.integers(1, 21, PEOPLE)),
        RANDOM.integers(0, 91, PEOPLE),
    ],
    axis=1,
)


COUNTS = [np.bincount(cells, minlength=size) for cells, size in zip(CELLS.T, COLUMNS.shape, strict=True)]


def released(loss: Loss) -> tuple[MicrodataPlan, MicrodataResult]:
    method = registry.microdata("independent-columns")
    plan = method.plan(COLUMNS, Wishes(), loss)
    return plan, method.reconstruct(
        plan, method.measure(plan, np.concatenate(COUNTS).astype(np.int64), Noise())
    )


@pytest.mark.parametrize("loss", [Loss(Definition.PURE, Fraction(1)), Loss(Definition.ZCDP, Fraction(1, 50))])
def test_the_interval_by_noisy_counts_holds_the_mean(loss: Loss) -> None:
    """Of 60 draws, 95 % are 57; 51 or fewer come three times in 1,000."""
    plan, result = released(loss)
    true = 17 + CELLS[CELLS[:, 0] < 74, 0].mean(), dt.date(2024, 1, 1).toordinal() + CELLS[:, 2].mean()
    laws, noise, held = margin_laws(plan), Noise(), np.zeros(2, dtype=int)
    for _ in range(60):
        noisy = tuple(own + noise.draw(law, own.size) for own, law in zip(COUNTS, laws, strict=True))
        age, gain, since = column_means(plan, replace(result, margins=noisy))
        assert age.bins == since.bins == 0 and 0 < gain.bins <= 50
        held += [
            m.counted.lower[0] <= t <= m.counted.upper[0] for m, t in zip((age, since), true, strict=True)
        ]
    assert (held > 51).all()


def test_the_rows_mean_is_that_of_their_cells_and_noise_is_foreseen_at_its_largest() -> None:
    plan, result = released(Loss(Definition.ZCDP, Fraction(1, 50)))
    ages = result.rows[result.rows[:, 0] < 74, 0]
    assert column_means(plan, result)[0].rows == pytest.approx(17 + ages.mean())
    law = margin_laws(plan)[0]
    # From one bound to the middles of 74 cells, .5 to 73.5 away.
    far = np.sqrt(np.sum((np.arange(74) + 0.5) ** 2)) * law.standard_error / PEOPLE
    error, age = most_noise_errors(plan, PEOPLE)[0]
    assert age.name == "age" and error == pytest.approx(1.96 * far, rel=0.1)
    assert most_noise_errors(plan, 1)[0][0] == 74
