"""The error of a column to expect of every method at a release's cost, from formulas: for everyone."""

from __future__ import annotations

from typing import Any

from mechanisms import registry
from mechanisms.microdata.foresight import foresee
from mechanisms.microdata.plan import MicrodataPlan
from mechanisms.microdata.wishes import Wishes
from mechanisms.protocol import PlanError


def expected_errors(plan: MicrodataPlan, people: int) -> list[dict[str, Any]]:
    """A line for each method that can be planned, as JSON. people: a public number, as the noisy total is."""
    lines = []
    for method in registry.MICRODATA:
        try:
            other = (
                plan
                if method.name == plan.mechanism
                else method.plan(plan.domain, Wishes(), plan.loss, total=plan.total)
            )
        except PlanError:
            continue
        found = foresee(other, people)
        lines.append(
            {
                "title": method.title,
                "used": method.name == plan.mechanism,
                "column": found.column,
                "pairs": found.pairs,
            }
        )
    return lines
