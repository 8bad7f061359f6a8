"""What a file of many periods would publish, told before it does: which periods and how many numbers, never a count."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

from django.utils import timezone
from django.utils.translation import gettext as _

from dpportal.platform.json_types import Json
from dpportal.streams import execution
from dpportal.streams.bulk_csv import ManyError
from dpportal.streams.execution import Update
from dpportal.streams.measure import largest_increment
from dpportal.streams.models import Stream, StreamJob


@dataclass(frozen=True)
class Preview:
    """Of a file whose every line was read: `repeated` periods that are published, then `new` ones from `first` on.

    clipped: counts of the new ones that are larger than the largest that was declared.
    """

    first: int
    new: int
    repeated: int
    clipped: int = 0

    def to_json(self) -> dict[str, int]:
        return asdict(self)

    @property
    def total(self) -> int:
        return self.new + self.repeated

    @property
    def last(self) -> int:
        return self.first + self.new - 1

    def in_calendar(self, stream: Stream) -> Json:
        """The same in the stream's calendar, with what is still missing after it."""
        name = stream.calendar.name
        missing = self._missing(stream)
        return {
            "first": name(self.first),
            "last": name(self.last),
            "new": self.new,
            "repeated": self.repeated,
            "clipped": self.clipped,
            "largest": largest_increment(stream),
            "numbers": self.new * len(stream.labels),
            "series": len(stream.labels),
            "left": None if stream.horizon is None else stream.horizon - self.last,
            "missing": missing,
            "missing_first": name(self.last + 1) if missing else "",
            "missing_last": name(self.last + missing) if missing else "",
        }

    def _missing(self, stream: Stream) -> int:
        """How many periods have begun after the last one of the file, and are not in it."""
        if stream.first_day is None:
            return 0
        begun = stream.calendar.index(timezone.localdate())
        return max(0, min(begun, stream.horizon or begun) - self.last)


def previewed(stream: Stream, updates: Iterable[Update]) -> Preview:
    """Of what is all readable, in order, and due or published; what is published is not compared with the file.

    Raises PeriodRefusedError or ManyError for what is not, beside whatever reading the updates raises.
    """
    number = clipped = 0
    largest = largest_increment(stream)
    execution.catch_up(stream.pk)
    count = stream.periods.count()
    due = count + 1
    for update in updates:
        if number == 0:
            due = min(due, update.index)
        else:
            _check_follows(stream, update.index, due + number)
        execution.check_order(stream, update.index, due + number)
        if update.index > count:
            clipped += sum(increment > largest for increment in update.increments)
        number += 1
    if not number:
        raise ManyError(
            _("The file holds no period. Write one line for each, under the line with the names.")
        )
    repeated = min(number, count + 1 - due)
    return Preview(due + repeated, number - repeated, repeated, clipped)


def _check_follows(stream: Stream, index: int, due: int) -> None:
    """Whether a line has the period after that of the line before, which is due in the file and nowhere else yet."""
    if index != due:
        label = stream.calendar.label
        raise ManyError(
            _(
                "In the file another period than %(due)s follows %(before)s. Write every period once, in order, with "
                "0 where nothing happened."
            )
            % {"before": label(due - 1), "due": label(due)}
        )


def preview_of(job: StreamJob | None) -> Json | None:
    """What the curator is asked about, if the job waits for their word on it."""
    return Preview(**job.preview).in_calendar(job.stream) if job is not None and job.preview else None
