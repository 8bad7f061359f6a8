"""Brute force: histograms whose questions follow from earlier answers, between all neighbours, for every kind of unit.

A histogram is run on a table without noise, and on its neighbour with the noise that makes it give the same answers,
step after step; choices are forced to be the same. What this noise costs by its laws, and how much likelier the choices
are on one table, must be within the loss together (`tests/mechanisms/test_sensitivity.py` does the same for questions
that are fixed). Halvings of PrivTree and blocks of DAWA are decided by noise that is not shown: their exact
probabilities are compared.
"""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from mechanisms import registry
from mechanisms.accounting import Definition, Loss, PrivacyUnit
from mechanisms.calibration import law_for
from mechanisms.domain import Domain
from mechanisms.histogram import private_selection
from mechanisms.histogram.hierarchical import HierarchicalHistogram
from mechanisms.histogram.noisy import LaplaceHistogram
from mechanisms.histogram.quadtree import Quadtree
from mechanisms.noise import DiscreteGaussian, DiscreteLaplace, Noise, NoiseLaw
from mechanisms.protocol import Measurement, Mechanism, Parameter, Parameters, Plan, PlanError
from mechanisms.selection.odds import permute_and_flip
from mechanisms.sensitivity import Sensitivity, unit_sensitivity
from tests.mechanisms.histogram.halvings import log_probability, trees
from tests.mechanisms.neighbours import UNITS, changes, name, pairs
from tests.mechanisms.test_sensitivity import LINEAR, NoNoise, box, check, exact_losses

AMOUNT = {Definition.PURE: Fraction(2), Definition.ZCDP: Fraction(1, 2)}
every_unit = pytest.mark.parametrize("unit", UNITS, ids=name)
# What the neighbours have beside the person's own rows.
OTHERS = {
    3: (np.array([0, 0, 0]), np.array([5, 0, 9])),
    4: (np.array([50, 0, 1, 90]),),
}
SMALLEST = {"rounds": 1, "clusters": 2, "levels": 2, "statistic_share": 40}


@dataclass
class Replayed(Noise):
    """Gives noise and choices in order, then zeros and first choices; remembers what was asked for."""

    noise: list[np.ndarray]
    choices: tuple[int, ...]
    laws: list[NoiseLaw] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    chances: list[np.ndarray] = field(default_factory=list)

    def draw(self, law: NoiseLaw, size: int) -> np.ndarray:
        place = len(self.laws)
        self.laws.append(law)
        self.sizes.append(size)
        return self.noise[place] if place < len(self.noise) else np.zeros(size, dtype=np.int64)

    def permutation(self, size: int) -> np.ndarray:
        return np.arange(size)

    def bernoulli_exp(self, rate: Fraction, multiples: np.ndarray) -> np.ndarray:
        place = len(self.chances)
        self.chances.append(permute_and_flip(float(rate), multiples))
        private_selection = self.choices[place] if place < len(self.choices) else 0
        return np.arange(multiples.size) == private_selection


def run(
    mechanism: Mechanism, plan: Plan, counts: np.ndarray, noise: list[np.ndarray], choices: tuple[int, ...]
) -> tuple[Replayed, list[np.ndarray]]:
    """What was asked for, and the noisy answers to each draw: the last numbers of a measurement."""
    replayed = Replayed(noise, choices)
    values = mechanism.measure(plan, counts, replayed).values
    shown = values[values.size - sum(replayed.sizes) :]
    return replayed, np.split(shown, np.cumsum(replayed.sizes)[:-1])


def all_choices(mechanism: Mechanism, plan: Plan, counts: np.ndarray) -> Iterator[tuple[int, ...]]:
    """Every sequence of choices that a run may make."""
    open_ends: list[tuple[int, ...]] = [()]
    while open_ends:
        choices = open_ends.pop()
        chances = run(mechanism, plan, counts, [], choices)[0].chances
        if len(chances) == len(choices):
            yield choices
        else:
            open_ends += [(*choices, c) for c in range(chances[len(choices)].size)]


def cost(
    mechanism: Mechanism, plan: Plan, tables: tuple[np.ndarray, np.ndarray], choices: tuple[int, ...]
) -> float:
    """The ε or ρ that the second table's noise and its chances of these choices show, for the first one's answers."""
    first, wanted = run(mechanism, plan, tables[0], [], choices)
    shifts: list[np.ndarray] = []
    while len(shifts) < len(wanted):
        second, answers = run(mechanism, plan, tables[1], shifts, choices)
        shifts.append(wanted[len(shifts)] - answers[len(shifts)])
    spent = 0.0
    for law, shift in zip(first.laws, shifts, strict=True):
        if isinstance(law, DiscreteGaussian):
            spent += float(int((shift**2).sum()) / (2 * law.variance_parameter))
        else:
            spent += float(int(np.abs(shift).sum()) / law.scale)
    likelier = sum(
        math.log(a[c] / b[c]) for a, b, c in zip(first.chances, second.chances, choices, strict=True)
    )
    return spent + abs(likelier)


STEPWISE = [
    *(
        (m, d)
        for m in ("uniform-grid", "adaptive-grid", "quadtree", "clustered-histogram")
        for d in Definition
    ),
    # Chosen privately among methods whose questions are fixed, and that show all that they draw (see the fixture).
    *(("chosen-histogram", d) for d in Definition),
    # Choices are ε-DP, and their part of ρ is that of ε²/2.
    ("bisection-histogram", Definition.PURE),
]


@pytest.fixture
def fixed_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        private_selection, "CANDIDATES", (LaplaceHistogram(), HierarchicalHistogram(), Quadtree())
    )


@pytest.mark.slow
@pytest.mark.usefixtures("fixed_candidates")
@pytest.mark.parametrize("unit", UNITS[:-1], ids=name)
@pytest.mark.parametrize(("method", "definition"), STEPWISE, ids=str)
def test_no_neighbour_costs_more_than_the_loss(
    method: str, definition: Definition, unit: PrivacyUnit
) -> None:
    mechanism = registry.mechanism(method)
    smallest = {p.name: SMALLEST[p.name] for p in mechanism.parameters if p.name in SMALLEST}
    domain = box(2, 2) if method.endswith("grid") else box(3)
    plan = mechanism.plan(domain, smallest, Loss(definition, AMOUNT[definition], unit))
    costs = [
        cost(mechanism, plan, (others + np.maximum(0, -change), others + np.maximum(0, change)), choices)
        for others, change in itertools.product(OTHERS[domain.size], changes(unit, domain.size))
        for choices in all_choices(mechanism, plan, others + np.maximum(0, -change))
    ]
    assert 0.2 * AMOUNT[definition] < max(costs) <= AMOUNT[definition] * (1 + 1e-9)


@pytest.mark.parametrize("unit", UNITS[:-1], ids=name)
def test_no_tree_of_halvings_tells_a_person_by_more_than_its_share(unit: PrivacyUnit) -> None:
    plan = registry.mechanism("privtree").plan(
        box(4), {}, Loss(Definition.PURE, AMOUNT[Definition.PURE], unit)
    )
    law, bias = plan.stage_laws["splits"], int(plan.details["decay"])
    assert isinstance(law, DiscreteLaplace)
    worst = 0.0
    for others, change in itertools.product(([0, 0, 0, 0], [bias, 0, 1, 2 * bias]), changes(unit, 4)):
        first, second = (tuple((np.array(others) + np.maximum(0, c)).tolist()) for c in (-change, change))
        for tree in trees(4):
            told = log_probability(tree, first, law.scale, bias) - log_probability(
                tree, second, law.scale, bias
            )
            worst = max(worst, abs(told))
    assert 0.1 < worst <= AMOUNT[Definition.PURE] / 2


@every_unit
def test_no_block_of_two_cells_tells_a_person_by_more_than_its_share(unit: PrivacyUnit) -> None:
    """DAWA keeps two cells a and b together if |a - b| + Z0 <= charge + Z1 + Z2, its noise Z on every block."""
    loss = Loss(Definition.PURE, AMOUNT[Definition.PURE], unit)
    plan = registry.mechanism("dawa-histogram").plan(box(2), {}, loss)
    law, charge = plan.stage_laws["partition"], int(plan.details["block_cost"])
    assert isinstance(law, DiscreteLaplace)
    reach = math.ceil(60 * law.scale)
    one = np.array([law.probability(k) for k in range(-reach, reach + 1)])
    # Z0 - Z1 - Z2 is the sum of three; both tails are added up from their thin ends.
    three = np.convolve(np.convolve(one, one), one)
    below, above = np.cumsum(three), np.cumsum(three[::-1])[::-1]
    worst = 0.0
    for before, after in zip(*pairs(unit, 2), strict=True):
        for others in (0, charge):
            places = [3 * reach + charge - abs(others + int(p[0] - p[1])) for p in (before, after)]
            for tail in (below[places], above[np.array(places) + 1]):
                worst = max(worst, abs(math.log(tail[0] / tail[1])))
    assert 0.05 < worst <= AMOUNT[Definition.PURE] * Fraction(plan.details["stages"][0]["share"])


@pytest.mark.parametrize("purpose", ["cells", "totals"])
@pytest.mark.parametrize("unit", UNITS[:-1], ids=name)
def test_no_number_of_bins_tells_a_person_by_more_than_its_share(unit: PrivacyUnit, purpose: str) -> None:
    mechanism = registry.mechanism("binned-histogram")
    loss = Loss(Definition.PURE, AMOUNT[Definition.PURE], unit)
    plan = mechanism.plan(box(64), {"purpose": purpose}, loss)
    worst, crowd = 0.0, np.zeros(64, dtype=np.int64)
    crowd[[0, 63]] = 40, 3
    for others, change in itertools.product((0 * crowd, crowd), changes(unit, 4)):
        first, second = others.copy(), others.copy()
        first[[0, 1, 31, 63]] += np.maximum(0, -change)
        second[[0, 1, 31, 63]] += np.maximum(0, change)
        a, b = (run(mechanism, plan, counts, [], ())[0].chances[0] for counts in (first, second))
        worst = max(worst, float(np.abs(np.log(a / b)).max()))
    assert 0.01 < worst <= AMOUNT[Definition.PURE] * Fraction(plan.details["stages"][0]["share"])


def is_checked_by_its_own_tests(method: Mechanism) -> bool:
    """Whether the file of tests that is named after the method's module calls `check` of `test_sensitivity`."""
    own = Path(__file__).with_name(f"test_{type(method).__module__.rpartition('.')[2]}.py")
    if not own.exists():
        return False
    tree = ast.parse(own.read_text())
    imported = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "tests.mechanisms.test_sensitivity"
        for alias in node.names
    }
    called = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return "check" in imported & called


FIXED = [m for m in registry.HISTOGRAMS if m.is_linear or is_checked_by_its_own_tests(m)]
SMALL = (box(1), box(2), box(3), box(4), box(2, 2))


def each_parameter(mechanism: Mechanism) -> Iterator[Parameters]:
    """All defaults; then every other value of each choice, and the ends of each number, with the others' defaults."""
    yield {}
    for parameter in mechanism.parameters:
        values = [value for value, _label in parameter.choices] or [parameter.minimum, parameter.maximum]
        yield from ({parameter.name: value} for value in values if value is not None)


def check_every_parameter(mechanism: Mechanism, unit: PrivacyUnit) -> None:
    """As `check`, on the smallest domains: there, what are several sums of a row elsewhere can be one."""
    for domain, parameters in itertools.product(SMALL, each_parameter(mechanism)):
        for loss in exact_losses(mechanism, unit):
            try:
                plan = mechanism.plan(domain, parameters, loss)
            except PlanError:
                continue  # a refusal spends nothing
            rows = np.eye(domain.size, dtype=np.int64)
            measured = np.array([mechanism.measure(plan, row, NoNoise()).values for row in rows]).T
            check(plan, measured, unit, reached=False)


@pytest.mark.slow
@every_unit
@pytest.mark.parametrize("mechanism", FIXED, ids=lambda m: m.name)
def test_no_parameter_lets_a_person_move_more_than_is_stated(mechanism: Mechanism, unit: PrivacyUnit) -> None:
    check_every_parameter(mechanism, unit)


class RingOfPairs(LaplaceHistogram):
    """Wrong: a cell and the one `step` further are the same cell where the step goes once around."""

    name: ClassVar[str] = "ring-of-pairs"
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter.integer("step", "Step", "", 1, 1, 4),)
    definitions: ClassVar[frozenset[Definition]] = frozenset({Definition.ZCDP})

    def plan(self, domain: Domain, parameters: Parameters, loss: Loss) -> Plan:
        moved = unit_sensitivity(loss.unit, Sensitivity(2, 2), Sensitivity(4, 4))
        plan = LaplaceHistogram().plan(domain, {}, Loss(Definition.PURE, Fraction(1), loss.unit))
        step = int(parameters.get("step", 1))
        return replace(
            plan, parameters={"step": step}, loss=loss, sensitivity=moved, noise=law_for(loss, moved)
        )

    def measure(self, plan: Plan, counts: np.ndarray, noise: Noise) -> Measurement:
        return Measurement(counts + np.roll(counts, -int(plan.parameters["step"])))


def test_a_sensitivity_that_fails_for_one_parameter_is_seen() -> None:
    with pytest.raises(AssertionError, match="state a sensitivity that holds for every domain and parameter"):
        check_every_parameter(RingOfPairs(), PrivacyUnit())


def test_every_histogram_is_gone_through() -> None:
    fixed = {m.name for m in LINEAR}
    others = {"privtree", "dawa-histogram", "binned-histogram"}
    others |= {m.name for m in registry.HISTOGRAMS if is_checked_by_its_own_tests(m)}
    found, registered = fixed | {m for m, _ in STEPWISE} | others, {m.name for m in registry.HISTOGRAMS}
    missing, gone = sorted(registered - found), sorted(found - registered)
    assert not missing, (
        f"no test bounds what {missing} tell of one person: a case in STEPWISE, or `check` in tests of its own"
    )
    assert not gone, f"not in the registry, but named here: {gone}"
