"""What each neighbouring relation would mean for a histogram's noise, at the same cost and by the same method."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

from mechanisms import registry
from mechanisms.accounting import Neighbours, PrivacyUnit
from mechanisms.protocol import Plan, PlanError


@dataclass(frozen=True)
class Relation:
    """One relation: whether the dataset declares it, and the noise that it takes.

    total_public: whether it makes the number of people public. noise: how wide, over that of the declared relation.
    half_width: of a count's 95 % interval, where the method has one.
    """

    replaced: bool
    declared: bool
    total_public: bool
    noise: float
    half_width: int | None


def relations(plan: Plan, hides_total: bool) -> list[Relation]:
    """Both relations, for the plan's method, cells and cost; one whose noise would be absurdly wide is left out.

    hides_total: whether the number of rows is private whatever the relation.
    """
    feasible = []
    for neighbours in Neighbours:
        with suppress(PlanError):
            feasible.append(_relation(plan, neighbours, hides_total))
    return feasible


def _relation(plan: Plan, neighbours: Neighbours, hides_total: bool) -> Relation:
    unit = PrivacyUnit(neighbours, plan.loss.unit.max_rows).allowing_absence(hides_total)
    # A public number of people changes what the counts are made into, not their noise.
    parameters = {name: value for name, value in plan.parameters.items() if name != "total"}
    other = registry.mechanism(plan.mechanism).plan(plan.domain, parameters, replace(plan.loss, unit=unit))
    # At a cost of hundreds it is 0 as floats have it.
    own = plan.noise.standard_error
    return Relation(
        replaced=neighbours is Neighbours.REPLACE_ONE,
        declared=neighbours is plan.loss.unit.neighbours,
        total_public=other.loss.unit.total_public,
        noise=other.noise.standard_error / own if own else 1.0,
        half_width=other.half_width,
    )
