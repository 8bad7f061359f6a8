"""Whole releases whose noisy numbers are not shown, only what follows from them: a partition, a trained network.

The neighbours and the argument are those of `test_whole_releases`: along the same earlier answers both are asked the
same. A partition's decisions are compared by the exact probability of every tree, a network's steps by the gradients at
the same weights.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from mechanisms.accounting import Definition, Loss
from mechanisms.arrays import Integers
from mechanisms.histogram.privtree import decay
from mechanisms.histogram.spending import pure_epsilon
from mechanisms.microdata import private_partition
from mechanisms.microdata.adversarial import critic, method
from mechanisms.microdata.adversarial.critic import People, step_law
from mechanisms.microdata.constraints import Wishes
from mechanisms.microdata.mechanism import margin_laws
from mechanisms.microdata.packing import unpack
from mechanisms.microdata.plan import MicrodataPlan
from mechanisms.microdata.private_partition import HALVINGS, LEAVES, PrivatePartition
from mechanisms.microdata.spending import table_laws
from mechanisms.noise import DiscreteLaplace, Noise, NoiseLaw
from tests.mechanisms.audit import Claim, Weakened, audit
from tests.mechanisms.microdata.building import counted
from tests.mechanisms.microdata.releases import Answered, Steps
from tests.mechanisms.microdata.test_whole_releases import (
    DOMAIN,
    UNITS,
    _log_ratio,
    leaked,
    neighbours,
    sampled,
)

# Half of any method's noise is refuted in each gate.
pytestmark = pytest.mark.every_day

PARTITION, RUNS = PrivatePartition(), 100_000
every_unit = pytest.mark.parametrize("unit", UNITS)
# The kinds of budget, and units, that are audited; the exact sums go through all of them.
audited = pytest.mark.parametrize(
    ("unit", "definition"), [("add-remove", Definition.PURE), ("replace-one", Definition.ZCDP)]
)


class Unfinished(Exception):  # noqa: N818
    """A release needs decisions that nobody has made yet."""

    def __init__(self, counts: Integers, depth: int) -> None:
        super().__init__("more decisions are needed")
        self.counts, self.depth = counts, depth


@dataclass(frozen=True)
class Tree:
    """A tree of decisions: how likely it is by logarithm, and the true counts of its leaves."""

    log_probability: float
    leaves: np.ndarray


@dataclass(frozen=True)
class Partitions:
    """What two neighbours release along the same noisy counts of columns."""

    plan: MicrodataPlan
    counts: tuple[np.ndarray, np.ndarray]
    margins: tuple[np.ndarray, np.ndarray]
    monkeypatch: pytest.MonkeyPatch

    @property
    def law(self) -> DiscreteLaplace:
        return private_partition.halving_law(self.plan)

    def leaves(self, side: int, decisions: list[np.ndarray]) -> np.ndarray:
        """The true counts of the leaves under these decisions. Raises Unfinished where more are needed."""
        script = iter(decisions)

        def told(counts: Integers, depth: int, _law: NoiseLaw, _noise: Noise) -> np.ndarray:
            for flags in script:
                return flags
            if not counts.size:
                return np.zeros(0, dtype=bool)
            raise Unfinished(counts, depth)

        self.monkeypatch.setattr(private_partition, "decided", told)
        noise = Answered(np.split(self.margins[side], np.cumsum(DOMAIN.shape)[:-1]))
        return unpack(PARTITION.measure(self.plan, self.counts[side], noise).values)[2]

    def trees(self, side: int) -> dict[tuple[int, ...], Tree]:
        """Every tree by its decisions."""
        found: dict[tuple[int, ...], Tree] = {}
        open_: list[tuple[list[np.ndarray], float]] = [([], 0.0)]
        while open_:
            decisions, log_probability = open_.pop()
            try:
                leaves = self.leaves(side, decisions)
            except Unfinished as asked:
                for flags in np.ndindex((2,) * asked.counts.size):
                    halved = np.array(flags, dtype=bool)
                    more = self._log_probability(asked, halved)
                    open_.append(([*decisions, halved], log_probability + more))
            else:
                found[_key(decisions)] = Tree(log_probability, leaves)
        return found

    def _log_probability(self, asked: Unfinished, halved: np.ndarray) -> float:
        """P(K > -b) of discrete Laplace noise K, b the biased count, by its sum."""
        bias, ratio = decay(2, self.law.scale), math.exp(-1 / self.law.scale)
        biased = np.maximum(asked.counts - asked.depth * bias, -bias)
        above = np.where(
            biased > 0,
            1 - ratio ** np.maximum(biased, 0) / (1 + ratio),
            ratio ** (1 - np.minimum(biased, 0)) / (1 + ratio),
        )
        return float(np.log(np.where(halved, above, 1 - above)).sum())

    def sampled_trees(self, side: int, runs: int, noise: Noise) -> tuple[np.ndarray, list[tuple[int, ...]]]:
        """For each run the place of its tree in a list, by the method's own decisions with fresh noise."""
        place, keys = np.empty(runs, dtype=np.int64), list[tuple[int, ...]]()
        open_: list[tuple[list[np.ndarray], np.ndarray]] = [([], np.arange(runs))]
        while open_:
            decisions, at = open_.pop()
            try:
                self.leaves(side, decisions)
            except Unfinished as asked:
                self.monkeypatch.undo()
                every = private_partition.decided(
                    np.tile(asked.counts, at.size), asked.depth, self.law, noise
                )
                of_runs = every.reshape(at.size, asked.counts.size)
                for flags in np.unique(of_runs, axis=0):
                    open_.append(([*decisions, flags], at[(of_runs == flags).all(axis=1)]))
            else:
                place[at] = len(keys)
                keys.append(_key(decisions))
        return place, keys


def _key(decisions: list[np.ndarray]) -> tuple[int, ...]:
    return tuple(int(flag) for flags in decisions for flag in flags)


def partitions(unit: str, definition: Definition, amount: int, monkeypatch: pytest.MonkeyPatch) -> Partitions:
    plan = PARTITION.plan(DOMAIN, Wishes(), Loss(definition, Fraction(amount), UNITS[unit]))
    one, other = (counted(plan, rows) for rows in neighbours(unit))
    apart = one[: plan.cells] - other[: plan.cells]
    return Partitions(plan, (one, other), (np.zeros_like(apart), apart), monkeypatch)


def numbers(found: Partitions, leaves: tuple[np.ndarray, np.ndarray]) -> Steps:
    """The noisy counts of columns and of one tree's leaves, in which the neighbours differ."""
    (of_leaves,) = table_laws([1], found.plan.step(LEAVES))
    laws = [law for law, size in zip(margin_laws(found.plan), DOMAIN.shape, strict=True) for _ in range(size)]
    laws += [of_leaves] * len(leaves[0])
    apart = np.concatenate([found.margins[1], leaves[0] - leaves[1]])
    moved = np.flatnonzero(apart)
    return Steps(tuple(laws[place] for place in moved), apart[moved], ())


@every_unit
@pytest.mark.parametrize("definition", Definition)
def test_a_partition_leaks_no_more_than_stated_whatever_tree_comes_out(unit, definition, monkeypatch):
    found = partitions(unit, definition, 1, monkeypatch)
    one, other = found.trees(0), found.trees(1)
    assert one.keys() == other.keys() and len(one) == 26
    assert sum(np.exp(tree.log_probability) for tree in one.values()) == pytest.approx(1)
    decisions = max(abs(one[key].log_probability - other[key].log_probability) for key in one)
    epsilon = float(pure_epsilon(found.plan.step(HALVINGS)))
    assert epsilon / 20 < decisions <= epsilon * (1 + 1e-9)
    rest = max(leaked(numbers(found, (one[k].leaves, other[k].leaves)), definition) for k in one)
    stated = float(found.plan.loss.amount) - float(found.plan.step(HALVINGS).amount)
    assert stated / 3 < rest <= stated * (1 + 1e-9)


@pytest.mark.slow
@audited
def test_a_hundred_thousand_partitions_keep_the_promise_and_with_less_noise_do_not(
    unit, definition, monkeypatch
):
    """An outcome is the tree, and eighths of how much likelier it and all numbers are under the one neighbour."""
    found = partitions(unit, definition, 2 if definition is Definition.PURE else 1, monkeypatch)
    trees = found.trees(0), found.trees(1)
    order = {key: place for place, key in enumerate(sorted(trees[0]))}

    def sample(side: np.ndarray, runs: int, noise: Noise) -> np.ndarray:
        place, keys = found.sampled_trees(int(side[0]), runs, noise)
        outcomes = np.empty((runs, 2), dtype=np.int64)
        for tree, key in enumerate(keys):
            at = place == tree
            one, other = (both[key] for both in trees)
            steps = numbers(found, (one.leaves, other.leaves))
            likelier = np.full(at.sum(), one.log_probability - other.log_probability)
            for law, apart in zip(steps.laws, steps.apart.tolist(), strict=True):
                drawn = noise.draw(law, likelier.size) - int(side[0]) * apart
                likelier += _log_ratio(law, drawn, apart)
            outcomes[at] = np.column_stack([np.rint(8 * likelier), np.full(likelier.size, order[key])])
        return outcomes

    sides, claim = (np.array([0]), np.array([1])), Claim.of(found.plan.loss)
    verdict, broken = (audit(sample, sides, claim, RUNS, noise) for noise in (Noise(), Weakened()))
    print(unit, verdict, broken)
    assert not verdict.refuted
    assert broken.refuted


GAN = method.Adversarial()
needs_extra = pytest.mark.skipif(bool(GAN.missing), reason=GAN.missing or "all is there")


def trained(unit: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Loss, Steps]:
    """Two neighbours' releases along the first one's answers; few and steep weights clip every row."""
    monkeypatch.setattr(critic, "HIDDEN", 4)
    monkeypatch.setattr("mechanisms.microdata.adversarial.training.SPREAD", 5.0)
    plan = GAN.plan(DOMAIN, Wishes(), Loss(Definition.ZCDP, Fraction(1), UNITS[unit]))
    rows = neighbours(unit)
    one, other = (counted(plan, r) for r in rows)
    asked: list[tuple[np.ndarray, np.ndarray, int]] = []
    own = People.gradient

    def noted(self: People, weights: np.ndarray, answers: np.ndarray) -> np.ndarray:
        asked.append((weights, answers, self.cells))
        return own(self, weights, answers)

    monkeypatch.setattr(People, "gradient", noted)
    noise = Answered(())
    values = GAN.measure(plan, one, noise).values
    monkeypatch.setattr(People, "gradient", own)
    grouping = method.grouping_of(plan, unpack(values)[1])
    people = [People.of([r], grouping) for r in rows]
    gradients = [people[0].gradient(w, a) - people[1].gradient(w, a) for w, a, _cells in asked]
    apart = np.concatenate([one[: plan.cells] - other[: plan.cells], *gradients])
    laws = [law for law, size in noise.laws for _ in range(size)]
    assert laws[-1] == step_law(asked[0][2], method.STEPS, plan.step(method.TRAINING))
    moved = np.flatnonzero(apart)
    return plan.loss, Steps(tuple(laws[place] for place in moved), apart[moved], ())


@needs_extra
@every_unit
def test_training_leaks_no_more_than_stated_and_more_than_a_tenth(unit, monkeypatch):
    loss, found = trained(unit, monkeypatch)
    assert float(loss.amount) / 10 < leaked(found, Definition.ZCDP) <= float(loss.amount) * (1 + 1e-9)


@needs_extra
@pytest.mark.slow
@every_unit
def test_a_hundred_thousand_trainings_keep_the_promise_and_with_less_noise_do_not(unit, monkeypatch):
    loss, found = trained(unit, monkeypatch)

    def sample(side: np.ndarray, runs: int, noise: Noise) -> np.ndarray:
        return sampled(found, int(side[0]), runs, noise)

    sides, claim = (np.array([0]), np.array([1])), Claim.of(loss)
    verdict, broken = (audit(sample, sides, claim, RUNS, noise) for noise in (Noise(), Weakened()))
    print(unit, verdict, broken)
    assert not verdict.refuted
    assert broken.refuted
