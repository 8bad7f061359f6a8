"""Plans of releases for pages of readers: those that were asked for last stay, so that no visitor waits for them."""

from __future__ import annotations

import json
from functools import partial
from operator import itemgetter
from uuid import UUID

from django.db.models import TextField
from django.db.models.functions import Cast

from dpportal.platform.bounded_cache import BoundedCache
from dpportal.releases.models import Release
from dpportal.releases.products import ReleasePlan, planner_of

# Characters of all plans that stay, as they are stored; in memory a plan takes a few times as much. A plan stays as it
# was confirmed.
_plans = BoundedCache[UUID, tuple[int, ReleasePlan]](2**25, size=itemgetter(0))


def confirmed_plan(release: Release) -> ReleasePlan:
    """The plan that was confirmed, not to be changed."""
    return _plans.get(release.pk, partial(_read, release))[1]


def _read(release: Release) -> tuple[int, ReleasePlan]:
    """A plan, after the number of characters that it has as it is stored."""
    text = _stored(release.pk)
    return len(text), planner_of(release).read_plan(json.loads(text))


def _stored(release_id: UUID) -> str:
    stored = Release.objects.annotate(plan=Cast("plan_json", TextField()))
    return str(stored.values_list("plan", flat=True).get(pk=release_id))
