"""A stream as it is published so far, in arrays; and what post-processing makes of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

import numpy as np
from django.utils.translation import gettext as _

from dpportal.streams.models import Stream
from mechanisms import registry
from mechanisms.continual.consistent import never_falling


@dataclass(frozen=True)
class Series:
    """The T published periods of k running counts.

    labels: of the periods, (T,). names: of the running counts, (k,), one empty name where there is one only.
    released: (T, k) int64. half_widths: (T,) of the 95% intervals. standard_errors: (T,) before publication rounds.
    unit: what is counted. last_published_at: of the last period.
    """

    labels: list[str]
    names: list[str]
    released: np.ndarray
    half_widths: np.ndarray
    standard_errors: np.ndarray
    unit: str
    last_published_at: datetime

    @property
    def width(self) -> int:
        """The number k of running counts."""
        return len(self.names)

    @property
    def periods(self) -> np.ndarray:
        """(T,) numbers from 1."""
        return np.arange(1, len(self.labels) + 1)

    @property
    def increments(self) -> np.ndarray:
        """(T, k) released counts minus the ones before."""
        return np.diff(self.released, axis=0, prepend=0)

    @cached_property
    def consistent(self) -> np.ndarray:
        """(T, k) the nearest series that never falls and is nowhere below 0."""
        columns = [never_falling(self.released[:, i], self.standard_errors**2) for i in range(self.width)]
        return np.stack(columns, axis=1)

    @property
    def consistent_increments(self) -> np.ndarray:
        """(T, k) what the consistent series adds in each period, >= 0."""
        return np.diff(self.consistent, axis=0, prepend=0)


def published(stream: Stream) -> Series | None:
    """What everyone may see of a stream; None before its first period."""
    rows = list(stream.periods.values_list("released", "half_width", "published_at"))
    if not rows:
        return None
    calendar, plan = stream.calendar, stream.plan
    periods = np.arange(1, len(rows) + 1)
    return Series(
        labels=[calendar.label(int(index)) for index in periods],
        names=list(stream.labels),
        released=np.array([released for released, _width, _at in rows], dtype=np.int64),
        half_widths=np.array([width for _released, width, _at in rows], dtype=np.int64),
        standard_errors=np.sqrt(registry.stream(plan.mechanism).variances(plan, periods)),
        unit=unit_of(stream),
        last_published_at=rows[-1][2],
    )


def unit_of(stream: Stream) -> str:
    """What a running count counts, for axes and columns."""
    if stream.summed:
        return _("sum of %(column)s") % {"column": stream.summed}
    assert stream.domain_version is not None
    return _("people") if stream.domain_version.max_rows == 1 else _("rows")
