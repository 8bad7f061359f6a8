"""Columns that were declared to follow from another, for review, page and README."""

from __future__ import annotations

from typing import TypedDict

from mechanisms.microdata.plan import MicrodataPlan


class Dependency(TypedDict):
    """A declared dependency. known: of how many values it was declared, too, which value follows; complete: of all."""

    first: str
    other: str
    known: int
    complete: bool


def dependency_lines(plan: MicrodataPlan) -> list[Dependency]:
    """What rows were declared to keep, by names."""
    wishes, values = plan.wishes, plan.wishes.known_values(plan.domain)
    return [
        Dependency(
            first=first,
            other=other,
            known=len({line[1] for line in wishes.known if line[::2] == (first, other)}),
            complete=values.is_complete(pair),
        )
        for (first, other), pair in zip(wishes.follows, wishes.dependencies(plan.domain), strict=True)
    ]
