"""What a file of many periods would publish, told before it does: which periods and how many numbers, never a count."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from dpportal.streams import execution
from dpportal.streams.execution import Update
from dpportal.streams.many import ManyError
from dpportal.streams.models import Period, Stream, StreamJob


@dataclass(frozen=True)
class Preview:
    """Of a file whose every line was read: `repeated` periods that are published, then `new` ones from `first` on."""

    first: int
    new: int
    repeated: int

    def to_json(self) -> dict[str, int]:
        return asdict(self)

    @property
    def total(self) -> int:
        return self.new + self.repeated

    @property
    def last(self) -> int:
        return self.first + self.new - 1

    def told(self, stream: Stream) -> dict[str, Any]:
        """The same in the stream's calendar, with what is still missing after it."""
        label = stream.calendar.label
        missing = self._missing(stream)
        return {
            "first": label(self.first),
            "last": label(self.last),
            "new": self.new,
            "repeated": self.repeated,
            "numbers": self.new * len(stream.labels),
            "series": len(stream.labels),
            "left": None if stream.horizon is None else stream.horizon - self.last,
            "missing": missing,
            "missing_first": label(self.last + 1) if missing else "",
            "missing_last": label(self.last + missing) if missing else "",
        }

    def _missing(self, stream: Stream) -> int:
        """How many periods have begun after the last one of the file, and are not in it."""
        if stream.first_day is None:
            return 0
        begun = stream.calendar.index(timezone.localdate())
        return max(0, min(begun, stream.horizon or begun) - self.last)


def foreseen(stream: Stream, updates: Iterable[Update]) -> Preview:
    """Of what is all readable, in order, and due or published with this content.

    Raises PeriodRefusedError or ManyError for what is not, beside whatever reading the updates raises.
    """
    number, known = 0, dict[int, Period]()
    execution.catch_up(stream.pk)
    count = stream.periods.count()
    due = count + 1
    for update in updates:
        if number == 0:
            due = min(due, update.index)
            before = stream.periods.filter(index__gte=due).defer("released")
            known = {period.index: period for period in before}
        execution.check_order(stream, update.index, due + number)
        if update.index in known:
            execution.repeated(stream, known[update.index], update)
        number += 1
    if not number:
        raise ManyError(
            _("The file holds no period. Write one line for each, under the line with the names.")
        )
    repeated = min(number, count + 1 - due)
    return Preview(due + repeated, number - repeated, repeated)


def preview_of(job: StreamJob | None) -> dict[str, Any] | None:
    """What the curator is asked about, if the job waits for their word on it."""
    return Preview(**job.preview).told(job.stream) if job is not None and job.preview else None
