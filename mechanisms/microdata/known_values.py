"""What each value of one column has in another, as far as that is publicly known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mechanisms.arrays import Flags, Integers
from mechanisms.domain import Attribute, Categorical, Domain
from mechanisms.microdata.named_cells import cells_named, named_cell
from mechanisms.microdata.tables import Pair
from mechanisms.protocol import PlanError

UNKNOWN = -1
# (column, value, other column, its value), by name and label.
KnownValue = tuple[str, str, str, str]


def is_declared(attribute: Attribute) -> Flags:
    """(cells,) which cells are values that were declared, neither `Other` nor missing."""
    flags = np.zeros(attribute.size, dtype=bool)
    if isinstance(attribute, Categorical):
        flags[list(attribute.places)] = True
    return flags


@dataclass(frozen=True)
class KnownValues:
    """For some pairs (column, other): of each cell of the first the other's cell, or UNKNOWN, (cells,) int64."""

    cells: dict[Pair, Integers]
    domain: Domain

    @classmethod
    def read(cls, domain: Domain, known: Sequence[KnownValue]) -> KnownValues:
        """Raises PlanError for a label that no declared value has, or a value that is given two others."""
        result: dict[Pair, Integers] = {}
        columns = {name for line in known for name in line[::2]}
        named = {name: cells_named(domain.attributes[domain.names.index(name)]) for name in columns}
        declared = {name: is_declared(domain.attributes[domain.names.index(name)]) for name in columns}
        for first, value, second, other in known:
            a, b = domain.names.index(first), domain.names.index(second)
            cells = result.setdefault((a, b), np.full(domain.shape[a], UNKNOWN))
            x, y = named_cell(named[first], first, value), named_cell(named[second], second, other)
            if not declared[first][x]:
                raise PlanError(
                    "{first} = {value} stands for several values, so nothing is known of it. Take the line back.",
                    first=first,
                    value=value,
                )
            if cells[x] not in (UNKNOWN, y):
                raise PlanError(
                    "{first} = {value} has two values of {second}. Keep one of the lines.",
                    first=first,
                    value=value,
                    second=second,
                )
            cells[x] = y
        return cls(result, domain)

    def of(self, pair: Pair) -> Integers:
        """(cells,) int64 of the first column."""
        return self.cells.get(pair, np.full(self.domain.shape[pair[0]], UNKNOWN))

    def is_complete(self, pair: Pair) -> bool:
        """Whether every declared value's other value is known, so that nothing is left to measure."""
        return bool((self.of(pair)[is_declared(self.domain.attributes[pair[0]])] != UNKNOWN).all())

    def over(self, pair: Pair, estimated: Integers) -> Integers:
        """What was estimated, with what is known in its place."""
        known = self.of(pair)
        cells: Integers = np.where(known == UNKNOWN, estimated, known)
        return cells
