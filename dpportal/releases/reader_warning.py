"""Whether readers are warned that a release is mostly noise: foreseen from its plan, not from the data."""

from __future__ import annotations

from copy import copy

from dpportal.platform.json_types import Json
from dpportal.publications.verdict import VerdictLevel
from dpportal.releases.models import Release
from dpportal.releases.products import ReleasePlan, planner_of, presenter_of

WARNED = (VerdictLevel.DOUBTFUL, VerdictLevel.USELESS)


def warned_level(release: Release, plan: ReleasePlan, page: Json) -> str:
    """The level that readers are warned of; empty where they need no warning, or nobody can tell.

    page: what the public page shows. What the curator said of people and purpose is nobody else's business: it is the
    noisy number of people that counts, and single numbers.
    """
    finding = page.get("finding")
    # Means begin with a sentence for each column, and none with a number of people.
    people = finding.get("people") if isinstance(finding, dict) else None
    if people is None:
        return ""
    public = copy(release)
    public.people, public.purpose = max(1, people), Release.Purpose.CELLS
    verdict = planner_of(public).verdict(plan, public)
    level = presenter_of(public).reader_level(plan, public.people) or (verdict.level if verdict else None)
    return level.value if level in WARNED else ""
