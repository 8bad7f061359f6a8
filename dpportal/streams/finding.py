"""What the first sentences of a running count's page say: how many there are in all, and of which group most."""

from __future__ import annotations

import numpy as np

from dpportal.charts.cell_names import named
from dpportal.platform.json_types import Json
from dpportal.publications.extremes import is_certainly_largest
from dpportal.streams.models import Stream
from dpportal.streams.series import Series
from mechanisms import registry

# Of so many groups at most each is named.
FEW = 3


def finding(stream: Stream, latest: Series) -> Json:
    """The newest period: the count of all groups together and what is new, with margins; then the groups.

    latest: the newest periods, of every running count. period: its number; day: its last one, None without a
    calendar. groups: name, noisy count and margin of each if they are few;
    largest: of the one that is certainly the largest of many. Each row adds to one group, so that groups add up.
    """
    mechanism, last, count = registry.stream(latest.plan.mechanism), latest.periods[-1:], latest.width
    released, half_width = latest.released[-1].tolist(), int(latest.half_widths[-1])
    # The one count that there is has the margin that stands in the table and in the files.
    of_all = half_width if count == 1 else int(mechanism.half_widths(latest.plan, last, count)[0])
    shown: Json = {
        "period": int(last[0]),
        "day": stream.calendar.last_day(int(last[0])),
        "count": sum(released),
        "margin": of_all,
        "added": int(latest.increments[-1].sum()),
        "added_margin": int(mechanism.increment_half_widths(latest.plan, last, count)[0]),
        "column": stream.column,
        "has_groups": count > 1,
    }
    if count == 1:
        return shown
    groups = list(zip(named(latest.names), released, [half_width] * count, strict=True))
    if count <= FEW:
        return {**shown, "groups": groups}
    second, largest = np.argsort(latest.released[-1])[-2:].tolist()
    is_certain = is_certainly_largest(released[largest], released[second], half_width, count)
    return {**shown, "largest": groups[largest] if is_certain else None}
