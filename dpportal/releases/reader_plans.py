"""Plans of releases for pages of readers: those that were asked for last stay, so that no visitor waits for them."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from uuid import UUID

from django.db.models import TextField
from django.db.models.functions import Cast

from dpportal.releases.models import Release
from dpportal.releases.products import ReleasePlan, planner_of

# Characters of all plans that stay, as they are stored; in memory a plan takes a few times as much. A plan stays as it
# was confirmed.
MOST_CHARACTERS = 2**25
# Each with its length, by its release, the last that was asked for at the end.
_plans: OrderedDict[UUID, tuple[int, ReleasePlan]] = OrderedDict()
_changing = threading.Lock()


def confirmed_plan(release: Release) -> ReleasePlan:
    """The plan that was confirmed, not to be changed."""
    with _changing:
        if (known := _plans.get(release.pk)) is not None:
            _plans.move_to_end(release.pk)
            return known[1]
    text = _stored(release.pk)
    plan: ReleasePlan = planner_of(release).read_plan(json.loads(text))
    with _changing:
        _plans[release.pk] = len(text), plan
        while sum(length for length, _plan in _plans.values()) > MOST_CHARACTERS:
            _plans.popitem(last=False)
    return plan


def _stored(release_id: UUID) -> str:
    stored = Release.objects.annotate(plan=Cast("plan_json", TextField()))
    return str(stored.values_list("plan", flat=True).get(pk=release_id))
