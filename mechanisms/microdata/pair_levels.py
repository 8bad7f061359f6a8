"""What measured pairs are good for, by the noise of their tables: known from their plan, not from the data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from mechanisms.microdata.plan import MeasuredTable
from mechanisms.microdata.tables import Pair

# Shares of people whom noise alone puts into a wrong cell of a measured pair, up to which it is good, and rough.
GOOD, ROUGH = 0.1, 0.3
GOOD_PAIRS = (
    "Tables of one column and of the measured pairs are near to the truth. What three or more columns do together was "
    "not measured."
)
SOME_PAIRS = (
    "Tables of one column are near to the truth; of the measured pairs only those with little noise, whose size "
    "pairs.csv has. What three or more columns do together was not measured."
)
NOISY_PAIRS = (
    "Tables of one column are near to the truth. Those of the measured pairs are mostly noise: how two columns go "
    "together cannot be read from these rows. What three or more columns do together was not measured."
)


@dataclass(frozen=True)
class PairLevels:
    """How many of the measured pairs are good, rough, and mostly noise."""

    good: int = 0
    rough: int = 0
    noisy: int = 0

    @classmethod
    def of(cls, tables: Sequence[MeasuredTable], people: int) -> PairLevels:
        """people: a public number, as the noisy total is."""
        errors = pair_errors(tables, people).values()
        good, at_most_rough = (sum(error <= end for error in errors) for end in (GOOD, ROUGH))
        return cls(good, at_most_rough - good, len(errors) - at_most_rough)

    @property
    def sentence(self) -> str:
        """What rows can be relied on for whose pairs were measured so."""
        if not self.rough + self.noisy:
            return GOOD_PAIRS
        return SOME_PAIRS if self.good + self.rough else NOISY_PAIRS


def pair_errors(tables: Sequence[MeasuredTable], people: int) -> dict[Pair, float]:
    """Of each measured pair, the total variation to expect in its groups from noise alone: E|noise| of every cell.

    Less where a pair was measured several times, as the tables' precisions add up.
    """
    of_pair: dict[Pair, list[MeasuredTable]] = {}
    for table in tables:
        of_pair.setdefault(table.pair, []).append(table)
    return {pair: own[0].values.size * _mean_absolute(own) / (2 * people) for pair, own in of_pair.items()}


def pair_error(tables: Sequence[MeasuredTable], people: int) -> float | None:
    """The mean of these over the measured pairs, at most 1; None of no pair."""
    errors = pair_errors(tables, people).values()
    return min(1.0, sum(errors) / len(errors)) if errors else None


def _mean_absolute(tables: Sequence[MeasuredTable]) -> float:
    """E|noise| of a pair's count: of one table by its law; of several, weighted by precision, about a normal one's."""
    if len(tables) == 1:
        return tables[0].noise.mean_absolute
    return math.sqrt(2 / (math.pi * sum(1 / table.variance for table in tables)))
