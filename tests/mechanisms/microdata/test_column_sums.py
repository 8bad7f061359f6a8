"""Sums of columns beside a method's own steps: what they cost, and rows whose values agree with them."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from mechanisms.accounting import Definition, PrivacyUnit
from mechanisms.domain import Boolean, Categorical, Date, Domain, Integer, Real
from mechanisms.microdata.column_means import column_means, most_noise_errors, most_sum_error, target_means
from mechanisms.microdata.column_sums import SHARE, SUMS, means_of, sums_plan
from mechanisms.microdata.constraints import Wishes
from mechanisms.microdata.features import ColumnChoice
from mechanisms.microdata.plan import MicrodataPlan
from mechanisms.moments.mechanism import exact_sums
from mechanisms.noise import DiscreteLaplace, Noise
from mechanisms.protocol import PlanError
from mechanisms.registry import microdata
from mechanisms.synthesis.table import rows_of_cells
from tests.mechanisms.microdata.building import counted, loss
from tests.mechanisms.microdata.test_privacy import Ledger, drawn_cost
from tests.mechanisms.neighbours import UNITS, name

# Nine of ten gain nothing, which a bin of 0 to 4,999 hides.
DOMAIN = Domain(
    (
        Integer("gain", lower=0, upper=99_999, width=5_000),
        Real("dose", lower=0.0, upper=1.0, bins=2),
        Date("since", lower=dt.date(2024, 1, 1), upper=dt.date(2024, 12, 31), step="quarter"),
        Boolean("ill"),
    )
)
PEOPLE = 3_000
RANDOM = np.random.default_rng(8)
GAIN = np.where(RANDOM.random(PEOPLE) < 0.9, 0, RANDOM.integers(1, 20_000, PEOPLE))
DOSE = np.round(RANDOM.beta(1, 5, PEOPLE), 3)
DAY = np.minimum(RANDOM.geometric(0.05, PEOPLE), 366) - 1
QUARTER = (pd.Timestamp("2024-01-01") + pd.to_timedelta(DAY, "D")).quarter.to_numpy() - 1
CELLS = np.stack([GAIN // 5_000, DOSE >= 0.5, QUARTER, GAIN > 9_000], axis=1).astype(np.int64)


def of_everybody(plan: MicrodataPlan) -> np.ndarray:
    """The counts and exact sums of these people."""
    powers = []
    for column, values in zip(sums_plan(plan).columns, (GAIN, DOSE, DAY), strict=True):
        v = np.floor(values / float(column.column.step) + 1e-9).astype(np.int64)
        ends = [int((v == end).sum()) for end in (0, column.column.steps)]
        powers.append([[PEOPLE, int(v.sum()), int((v**2).sum()), 0, *ends]])
    return np.concatenate(
        [counted(plan, CELLS), exact_sums(sums_plan(plan), np.array(powers, dtype=object)).ravel()]
    )


@pytest.mark.parametrize("definition", Definition)
@pytest.mark.parametrize("unit", UNITS, ids=name)
def test_sums_cost_their_share_and_all_together_the_loss(definition: Definition, unit: PrivacyUnit) -> None:
    """A column's sums are one vector, moved by what its plan says; columns add up."""
    method = microdata("independent-columns")
    plan = method.plan(DOMAIN, Wishes(), loss("2", definition, unit), sums=True)
    assert sum(plan.shares.values()) == 1 and plan.shares[SUMS] == SHARE
    ledger, sums = Ledger(), sums_plan(plan)
    method.measure(plan, of_everybody(plan), ledger)
    cost = Fraction(0)
    for own, (law, _size) in zip(sums.columns, ledger.draws[-len(sums.columns) :], strict=True):
        assert law == own.noise
        if isinstance(law, DiscreteLaplace):
            cost += own.sensitivity.l1 / law.scale
        else:
            cost += own.sensitivity.l2_squared / (2 * law.variance_parameter)
    assert cost == plan.loss.amount * SHARE
    del ledger.draws[-len(sums.columns) :]
    assert drawn_cost(ledger, plan) == plan.loss.amount * (1 - SHARE)


@pytest.mark.parametrize(
    ("method", "keep"), [("tree-of-pairs", None), ("tree-of-pairs", 2), ("private-partition", None)]
)
def test_values_inside_bins_agree_with_the_sums(method: str, keep: int | None) -> None:
    """But for what drawing 3,000 values adds (standard error 3 %); with counts alone gains are twice as large."""
    mechanism = microdata(method)
    wishes = Wishes(target="gain", required=(("gain", "dose"),)) if keep else Wishes()
    plan = mechanism.plan(DOMAIN, wishes, loss("1000"), choice=ColumnChoice(keep), sums=True)
    result = mechanism.reconstruct(plan, mechanism.measure(plan, of_everybody(plan), Noise()))
    released = plan.of_columns(result.columns).domain
    frame = pd.concat(rows_of_cells(released, result.rows, bytes(32), means=target_means(plan, result)))
    without = pd.concat(rows_of_cells(released, result.rows, bytes(32)))
    assert frame["gain"].mean() == pytest.approx(GAIN.mean(), rel=0.15)
    assert without["gain"].mean() > 1.8 * GAIN.mean()
    assert frame["dose"].mean() == pytest.approx(DOSE.mean(), rel=0.05)
    assert (frame["gain"] // 5_000 == without["gain"] // 5_000).all()
    told = {own.attribute.name: own for own in column_means(plan, result)}
    assert told["gain"].rows == pytest.approx(GAIN.mean(), rel=0.04)
    since = means_of(plan, result.sums)["since"]
    assert since.estimate[0] == pytest.approx(dt.date(2024, 1, 1).toordinal() + DAY.mean(), abs=0.5)
    if not keep:
        assert told["since"].rows == pytest.approx(dt.date(2024, 1, 1).toordinal() + DAY.mean(), abs=1)


@pytest.mark.parametrize("definition", Definition)
def test_the_margin_of_a_mean_by_its_sum_is_foreseen(definition: Definition) -> None:
    """Of gains, nearly all of which are at a bound."""
    method = microdata("independent-columns")
    plan = method.plan(DOMAIN, Wishes(), loss("20", definition), sums=True)
    result = method.reconstruct(plan, method.measure(plan, of_everybody(plan), Noise()))
    gain, foreseen = column_means(plan, result)[0].summed, most_sum_error(sums_plan(plan).columns[0], PEOPLE)
    assert (gain.upper[0] - gain.lower[0]) / 2 == pytest.approx(foreseen, rel=0.1)
    assert foreseen < most_noise_errors(plan, PEOPLE)[0][0] < 4_999


def test_noise_moves_values_seldom_and_never_out_of_their_bins() -> None:
    """At a cost that tells nothing, values mostly stay where the counts of their bins put them."""
    mechanism = microdata("independent-columns")
    plan = mechanism.plan(DOMAIN, Wishes(), loss("0.0001"), sums=True)
    moved = []
    for _ in range(20):
        result = mechanism.reconstruct(plan, mechanism.measure(plan, of_everybody(plan), Noise()))
        targets = [own for own in column_means(plan, result) if own.target is not None]
        moved += [abs(own.target - own.unmoved) / own.bins for own in targets]
    # By half a bin or more in one of ten: of sixty, twenty-five are so one time in ten million.
    assert max(moved) <= 1 and sum(share > 0.5 for share in moved) < 0.4 * len(moved)


@pytest.mark.parametrize(
    ("domain", "message"),
    [
        (Domain((DOMAIN.attributes[3], Boolean("old"))), "between 1 and 20 columns of numbers"),
        (
            Domain((*DOMAIN.attributes, Categorical("town", values=("x", "y"), closed=True))),
            "rows that do not fit the declaration are left out",
        ),
    ],
)
def test_sums_that_cannot_be_are_refused(domain: Domain, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        microdata("tree-of-pairs").plan(domain, Wishes(), loss("1"), sums=True)
