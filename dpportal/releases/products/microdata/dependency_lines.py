"""Columns that were declared to follow from another, for review, page and README; beside the true rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

import numpy as np

from mechanisms.arrays import Integers
from mechanisms.microdata.known_values import is_declared
from mechanisms.microdata.plan import MicrodataPlan
from mechanisms.microdata.tables import Pair


class Dependency(TypedDict):
    """A declared dependency. known: of how many values it was declared, too, which value follows; complete: of all."""

    first: str
    other: str
    known: int
    complete: bool


def dependency_lines(plan: MicrodataPlan) -> list[Dependency]:
    """What rows were declared to keep, by the names that readers see."""
    wishes, values, titles = plan.wishes, plan.wishes.known_values(plan.domain), plan.domain.titles
    return [
        Dependency(
            first=titles[first],
            other=titles[other],
            known=len({line[1] for line in wishes.known if line[::2] == (first, other)}),
            complete=values.is_complete(pair),
        )
        for (first, other), pair in zip(wishes.follows, wishes.dependencies(plan.domain), strict=True)
    ]


class DependencyLine(TypedDict):
    """Of rows with a declared value of the first column the share that has, of the other, what most true ones have."""

    first: str
    other: str
    true: float
    synthetic: float


def dependency_checks(
    plan: MicrodataPlan, true: Mapping[Pair, Integers], synthetic: Mapping[Pair, Integers]
) -> list[DependencyLine]:
    """How far declared dependencies hold among the true rows, and are the true ones in the synthetic rows."""
    lines = []
    for first, other in plan.wishes.dependencies(plan.domain):
        pair, declared = (min(first, other), max(first, other)), is_declared(plan.domain.attributes[first])
        of_true, of_synthetic = (
            (tables[pair] if first < other else tables[pair].T)[declared] for tables in (true, synthetic)
        )
        usual = of_true.argmax(axis=1)
        shares = [_share(table, usual) for table in (of_true, of_synthetic)]
        names = plan.domain.shown_names
        lines.append(
            DependencyLine(first=names[first], other=names[other], true=shares[0], synthetic=shares[1])
        )
    return lines


def _share(table: Integers, usual: Integers) -> float:
    """Of the rows of a table those in each line's usual cell."""
    return float(np.take_along_axis(table, usual[:, None], axis=1).sum() / max(1, int(table.sum())))
