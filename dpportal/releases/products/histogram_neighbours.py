"""What each neighbouring relation would mean for a histogram's noise, at the same cost and by the same method."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

from mechanisms import registry
from mechanisms.accounting import Neighbours
from mechanisms.mechanism import Plan, PlanError


@dataclass(frozen=True)
class Relation:
    """One relation: whether the dataset declares it, and the noise that it takes.

    noise: standard error of one measured count in people. half_width: of a count's 95% interval, where the method
    has one.
    """

    replaced: bool
    declared: bool
    noise: float
    half_width: int | None


def relations(plan: Plan) -> list[Relation]:
    """Both relations, for the plan's method, cells and cost; one whose noise would be absurdly wide is left out."""
    found = []
    for neighbours in Neighbours:
        with suppress(PlanError):
            found.append(_relation(plan, neighbours))
    return found


def _relation(plan: Plan, neighbours: Neighbours) -> Relation:
    unit = replace(plan.loss.unit, neighbours=neighbours)
    # A public number of people changes what the counts are made into, not their noise.
    parameters = {name: value for name, value in plan.parameters.items() if name != "total"}
    other = registry.mechanism(plan.mechanism).plan(plan.domain, parameters, replace(plan.loss, unit=unit))
    return Relation(
        replaced=neighbours is Neighbours.REPLACE_ONE,
        declared=unit == plan.loss.unit,
        noise=other.noise.standard_error,
        half_width=other.half_width,
    )
