"""What a release's job takes, said before anything is spent, and why it cannot be made here."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from django.conf import settings
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext as _, ngettext

from dpportal.jobs import memory_limits
from dpportal.platform import storage
from mechanisms.domain import Attribute, Domain

# Labels of a column of more cells are not written out to measure them.
LABELS = 20_000
LONG_LABEL = 24
# What a page tells of the work, above.
MUCH_SECONDS, MUCH_BYTES = 60, 2**30


def duration_text(seconds: float) -> str:
    """A time in words."""
    minutes = round(seconds / 60)
    if minutes < 1:
        return _("less than a minute")
    return ngettext("about %(minutes)s minute", "about %(minutes)s minutes", minutes) % {"minutes": minutes}


@dataclass(frozen=True)
class JobCost:
    """About how many seconds of one processor, and bytes of memory and of disk, a job takes."""

    seconds: float
    memory: int
    disk: int

    @property
    def is_much(self) -> bool:
        """Whether it is worth telling: more than a minute, or than what any machine has to spare."""
        return self.seconds > MUCH_SECONDS or max(self.memory, self.disk) > MUCH_BYTES

    @property
    def duration(self) -> str:
        """The time in words; alone on the machine."""
        return duration_text(self.seconds)

    def obstacle(self) -> str:
        """Why no job of this size can be done here; empty if one can. Other machines' memory is not known here."""
        if settings.EMBEDDED and self.memory > memory_limits.memory():
            return self._lacks_memory(memory_limits.memory())
        return self._lacks_disk() or self._lacks_time()

    def obstacle_now(self) -> str:
        """Why this process cannot do the job at this moment; empty if it can."""
        there = memory_limits.free_memory() + memory_limits.own_memory()
        return self._lacks_memory(there) if self.memory > there else self._lacks_disk()

    def _lacks_memory(self, bytes_there: int) -> str:
        text = _(
            "This takes about %(needed)s of memory, and there are %(there)s. Choose fewer columns or wider bins, wait "
            "until other jobs are done, or ask an administrator for a larger machine."
        )
        return text % {"needed": filesizeformat(self.memory), "there": filesizeformat(bytes_there)}

    def _lacks_disk(self) -> str:
        # A disk that is full already is told of wherever something begins.
        if storage.is_full() or not storage.is_full(self.disk):
            return ""
        text = _(
            "This takes about %(needed)s of disk, more than is free. Choose fewer columns or wider bins, or ask an "
            "administrator to make space."
        )
        return text % {"needed": filesizeformat(self.disk)}

    def _lacks_time(self) -> str:
        if self.seconds <= settings.TASK_SECONDS:
            return ""
        text = _(
            "This takes about %(needed)s minutes, and a job may take %(most)s. Choose fewer columns or wider bins."
        )
        return text % {"needed": round(self.seconds / 60), "most": round(settings.TASK_SECONDS / 60)}


def label_bytes(domain: Domain) -> float:
    """Of a row of labels in a file, with their commas, on average."""
    return sum(map(_mean_label, domain.attributes))


@lru_cache(maxsize=256)
def _mean_label(attribute: Attribute) -> float:
    """Bytes of a label in the file, on average."""
    if attribute.size > LABELS:
        return LONG_LABEL
    return sum(len(label.encode()) for label in attribute.labels()) / attribute.size
