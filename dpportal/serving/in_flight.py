"""How many requests are being answered, or wait for a thread, and how old the oldest is, on this machine."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count

from prometheus_client import Gauge, Metric
from prometheus_client.core import GaugeMetricFamily

log = logging.getLogger(__name__)

NUMBER, BEGUN = "dpportal_requests_in_flight", "dpportal_oldest_request_begun"
# The log tells of a request that is older than that, at most once in as long: no page is computed for half of it.
OLD_SECONDS = 60.0
# In no registry, as durations are: each process writes its own to a file, which goes with it. Of processes together
# the sum, and the least; by the clock since the machine began, which all its processes share.
_number = Gauge(NUMBER, "Requests", ["of"], registry=None, multiprocess_mode="livesum")
_begun = Gauge(BEGUN, "Clock", ["of"], registry=None, multiprocess_mode="livemin")
_LABEL = "web"


@dataclass(frozen=True)
class Requests:
    """number: in flight. oldest_seconds: since the first of them had come, 0 if there is none."""

    number: int = 0
    oldest_seconds: float = 0.0


class InFlight:
    """The requests of this process whose bodies have come and whose answers are not there yet.

    For its event loop alone, which goes on while all threads are busy.
    """

    def __init__(self) -> None:
        self._numbers = count()
        # In the order in which they came.
        self._begun: dict[int, float] = {}
        self._logged = -math.inf

    @contextmanager
    def one(self) -> Iterator[None]:
        """Count a request for as long as it is in flight."""
        number = next(self._numbers)
        self._begun[number] = time.monotonic()
        self._changed()
        try:
            yield
        finally:
            del self._begun[number]
            self._changed()

    def _changed(self) -> None:
        oldest = next(iter(self._begun.values()), math.inf)
        _begun.labels(_LABEL).set(oldest)
        _number.labels(_LABEL).set(len(self._begun))
        now = time.monotonic()
        if now - max(oldest, self._logged) > OLD_SECONDS:
            self._logged = now
            requests, seconds = len(self._begun), now - oldest
            log.warning("requests in flight=%d oldest_seconds=%.0f", requests, seconds)


def requests_in(families: list[Metric]) -> Requests:
    """What the processes of this machine wrote, summed up."""
    values = {sample.name: sample.value for family in families for sample in family.samples}
    age = time.monotonic() - values.get(BEGUN, math.inf)
    return Requests(int(values.get(NUMBER, 0)), max(0.0, age))


def as_gauges(requests: Requests) -> Iterator[Metric]:
    """The requests of this process as metrics."""
    yield GaugeMetricFamily(NUMBER, "Requests that are being answered or wait for a thread", requests.number)
    yield GaugeMetricFamily(
        "dpportal_oldest_request_seconds", "Since the oldest of them had come", requests.oldest_seconds
    )
