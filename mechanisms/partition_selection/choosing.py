"""Which values of a column are published: each by a coin whose chance depends on how many people have it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from mechanisms.accounting import Definition, Loss, Neighbours, pure_within_zcdp
from mechanisms.arrays import Integers
from mechanisms.noise import Noise
from mechanisms.noise.choices import CERTAIN
from mechanisms.partition_selection.keep_probabilities import keep_probabilities
from mechanisms.protocol import PlanError

# Entries of the table of probabilities: half a second's work. Below an ε of about 0.0001 a value there would be more.
MOST_PEOPLE = 200_000
TOO_LITTLE = "{symbol} is too small: a value would need more than 200,000 people. Choose a larger {symbol}."
NEEDS_DELTA = (
    "Values that nobody declared can be chosen only with a δ above 0: without one, a value that a single person has "
    "could never be told from one that nobody has."
)


@dataclass(frozen=True)
class ValueChoicePlan:
    """A choice of values at a loss, decided without data.

    loss: of the whole choice, with its δ; a person has at most `loss.unit.max_rows` of the values.
    """

    loss: Loss

    @property
    def coins(self) -> int:
        """How many values' counts one person can change, each by 1: those left, and under replace-one those entered."""
        replaced = self.loss.unit.neighbours is Neighbours.REPLACE_ONE
        return self.loss.unit.max_rows * (2 if replaced else 1)

    @property
    def epsilon(self) -> Fraction:
        """Of one value's coin: an equal share of ε, or the largest ε whose ε²/2 is an equal share of ρ."""
        share = self.loss.amount / self.coins
        return share if self.loss.definition is Definition.PURE else pure_within_zcdp(share)

    @property
    def delta(self) -> Fraction:
        """Of one value's coin."""
        return self.loss.delta / self.coins

    @cached_property
    def probabilities(self) -> list[int]:
        """By how many people have a value, the chance that it is kept, in units of 2^-128; the last is 1.

        Raises PlanError where there would be too many.
        """
        table = keep_probabilities(self.epsilon, self.delta, MOST_PEOPLE)
        if table is None:
            raise PlanError(TOO_LITTLE, symbol=self.loss.symbol)
        return table

    def people_for(self, chance: Fraction) -> int:
        """The fewest people with whom a value is kept with at least this chance, in 0..1."""
        return bisect_left(self.probabilities, chance * CERTAIN)

    def to_json(self) -> dict[str, object]:
        return {"loss": self.loss.to_json()}

    @classmethod
    def from_json(cls, value: Mapping[str, object]) -> ValueChoicePlan:
        loss = value["loss"]
        assert isinstance(loss, Mapping)
        return cls(Loss.from_json(loss))


def plan(loss: Loss) -> ValueChoicePlan:
    """The optimal choice at this loss; no data. Raises PlanError without a δ, or where the loss is too small."""
    if not loss.delta:
        raise PlanError(NEEDS_DELTA)
    choice = ValueChoicePlan(loss)
    try:
        _ = choice.probabilities
    except ValueError as refusal:
        raise PlanError(TOO_LITTLE, symbol=loss.symbol) from refusal
    return choice


def measure(chosen: ValueChoicePlan, people: Integers, noise: Noise) -> np.ndarray:
    """The private step: whether each value is kept. people: (n,) how many have each, at least 0; returns (n,) bool.

    (ε, δ)-DP, or δ-approximate ρ-zCDP, in the values that are kept: one person changes at most `coins` of the people
    counts, each by 1, of independent coins that are each private at an equal share.
    """
    places = np.minimum(people, len(chosen.probabilities) - 1)
    return noise.bernoulli_each(chosen.probabilities, places)
