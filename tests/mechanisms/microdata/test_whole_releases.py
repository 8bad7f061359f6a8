"""Whole releases of neighbours that are built against it: a pair that only one person makes, scores that tie.

Along the same earlier answers every step asks both neighbours the same, so what a release leaks is what its steps leak
together (adaptive composition). It is added up exactly, and audited: 100,000 runs on each, in which right noise is
refuted with probability at most 10^-6 over all audits.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from mechanisms.accounting import Definition, Loss, Neighbours, PrivacyUnit
from mechanisms.domain import Domain, Integer
from mechanisms.microdata import mixture
from mechanisms.microdata.constraints import Wishes
from mechanisms.microdata.features import ColumnChoice
from mechanisms.noise import DiscreteGaussian, DiscreteLaplace, Noise, NoiseLaw
from mechanisms.registry import MICRODATA, microdata
from tests.mechanisms.audit import Claim, Weakened, audit
from tests.mechanisms.microdata.building import counted
from tests.mechanisms.microdata.releases import Steps, steps

# Half of any method's noise is refuted in each gate.
pytestmark = pytest.mark.every_day

DOMAIN = Domain(tuple(Integer(name, lower=0, upper=1) for name in "abc"))
MAJOR = 30
# Of releases with ε many small noises add up, so that large losses are rare.
RUNS = {Definition.PURE: 400_000, Definition.ZCDP: 100_000}
MANY = np.repeat(np.array([[0, 0, 0], [0, 0, 1]]), MAJOR, axis=0)
# Nobody else has a = b = 1; without this person columns are independent and all scores tie.
LONER, ANOTHER = np.array([[1, 1, 0]]), np.array([[0, 0, 1]])
UNITS = {
    "add-remove": PrivacyUnit(),
    "replace-one": PrivacyUnit(Neighbours.REPLACE_ONE),
    "three rows": PrivacyUnit(Neighbours.ADD_REMOVE, 3),
    "three replaced": PrivacyUnit(Neighbours.REPLACE_ONE, 3),
}
# Those whose noise is not all in the record have tests of their own, in `test_grown_releases`.
every_method = pytest.mark.parametrize(
    "method", [m.name for m in MICRODATA if m.name not in ("private-partition", "dp-gan")]
)
every_unit = pytest.mark.parametrize("unit", UNITS)


@pytest.fixture(autouse=True)
def quick_fits(monkeypatch) -> None:
    """What is believed between rounds follows from noisy answers alone, however well it is fitted."""
    monkeypatch.setattr(mixture, "MOST_STEPS", 2)
    monkeypatch.setattr(mixture, "CLASSES", 3)


def neighbours(unit: str) -> tuple[np.ndarray, np.ndarray]:
    """Everybody else, with all rows that the loner may have, and without them or with another's."""
    rows, removed = UNITS[unit].max_rows, UNITS[unit].neighbours is Neighbours.ADD_REMOVE
    without = MANY if removed else np.vstack([MANY, *[ANOTHER] * rows])
    return np.vstack([MANY, *[LONER] * rows]), without


def released(method: str, unit: str, definition: Definition, amount: int, **choices) -> tuple[Loss, Steps]:
    loss = Loss(definition, Fraction(amount), UNITS[unit])
    plan = microdata(method).plan(DOMAIN, choices.pop("wishes", Wishes()), loss, **choices)
    one, other = (counted(plan, rows) for rows in neighbours(unit))
    return plan.loss, steps(microdata(method), plan, one, other)


def leaked(found: Steps, definition: Definition) -> float:
    """ε or ρ of all steps: of noise exactly, of picks at most."""
    total = 0.0
    for law, apart in zip(found.laws, found.apart.tolist(), strict=True):
        if definition is Definition.PURE:
            assert isinstance(law, DiscreteLaplace)
            total += float(abs(apart) / law.scale)
        else:
            assert isinstance(law, DiscreteGaussian)
            total += float(apart**2 / (2 * law.variance_parameter))
    for (_kind, rate, points, left), (_k, other_rate, others, other_left) in found.picks:
        assert rate == other_rate and np.array_equal(left, other_left)
        moved = (points - others)[left[0]]
        epsilon = float(rate) * float(moved.max() - moved.min())
        total += epsilon if definition is Definition.PURE else epsilon**2 / 8
    return total


@every_method
@every_unit
@pytest.mark.parametrize("definition", Definition)
def test_a_release_leaks_no_more_than_stated_and_more_than_a_third(method, unit, definition):
    loss, found = released(method, unit, definition, 1)
    assert float(loss.amount) / 3 < leaked(found, definition) <= float(loss.amount) * (1 + 1e-9)


@every_method
@pytest.mark.parametrize("definition", Definition)
def test_so_does_one_whose_columns_are_chosen_first(method, definition):
    loss, found = released(
        method, "add-remove", definition, 1, wishes=Wishes(target="c"), choice=ColumnChoice(2)
    )
    assert len(found.picks) == 1
    assert leaked(found, definition) <= float(loss.amount) * (1 + 1e-9)


def sampled(found: Steps, side: int, runs: int, noise: Noise) -> np.ndarray:
    """(runs, k) of the one or the other neighbour: picks, noisy numbers from the first one's answers, and before them
    eighths of how much likelier all numbers are under the one, which is a function of them.
    """
    drawn = [noise.draw(law, runs) for law in found.laws]
    numbers = [d - side * apart for d, apart in zip(drawn, found.apart.tolist(), strict=True)]
    picks = []
    for pick in found.picks:
        kind, rate, points, left = pick[side]
        picks.append(kind().choose(rate, points, np.tile(left, (runs, 1)), noise))
    likelier = sum(_log_ratio(law, x, a) for law, x, a in zip(found.laws, numbers, found.apart, strict=True))
    return np.column_stack([np.rint(8 * likelier).astype(np.int64), *picks, *numbers])


def _log_ratio(law: NoiseLaw, numbers: np.ndarray, apart: int) -> np.ndarray:
    if isinstance(law, DiscreteLaplace):
        return (np.abs(numbers + apart) - np.abs(numbers)) / float(law.scale)
    assert isinstance(law, DiscreteGaussian)
    return ((numbers + apart) ** 2 - numbers**2) / float(2 * law.variance_parameter)


@pytest.mark.slow
@every_method
@pytest.mark.parametrize(
    ("unit", "definition"), [("add-remove", Definition.PURE), ("replace-one", Definition.ZCDP)]
)
def test_many_releases_keep_the_promise_and_with_less_noise_do_not(method, unit, definition):
    loss, found = released(method, unit, definition, 3 if definition is Definition.PURE else 1)

    def sample(side: np.ndarray, runs: int, noise: Noise) -> np.ndarray:
        return sampled(found, int(side[0]), runs, noise)

    sides, claim = (np.array([0]), np.array([1])), Claim.of(loss)
    verdict, broken = (
        audit(sample, sides, claim, RUNS[definition], noise) for noise in (Noise(), Weakened())
    )
    print(method, unit, verdict, broken)
    assert not verdict.refuted
    assert broken.refuted
