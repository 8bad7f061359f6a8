"""How many requests there were and how long they took, of all processes of this machine's web server together.

With those that are in flight.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from django.http import HttpRequest, HttpResponse
from prometheus_client import CollectorRegistry, Histogram, Metric, multiprocess
from prometheus_client.registry import Collector

from dpportal.platform.middleware import Middleware
from dpportal.serving import in_flight
from dpportal.serving.in_flight import Requests

METHODS = {"GET", "HEAD", "POST"}
_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
# In no registry of this process: `registry` reads what every process wrote to its file.
_durations = Histogram(
    "dpportal_request_seconds",
    "Time until a request was answered, without sending the answer, by method and status",
    ["method", "status"],
    buckets=_SECONDS,
    registry=None,
)


class Durations(Middleware):
    """Middleware: times what the views and all other middleware take."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        begun = time.perf_counter()
        response = self.get_response(request)
        method = request.method if request.method in METHODS else "other"
        _durations.labels(method, response.status_code).observe(time.perf_counter() - begun)
        return response


class _OfAllProcesses(Collector):
    def describe(self) -> list[Metric]:
        """No metric, since registering must not read files."""
        return []

    def collect(self) -> Iterator[Metric]:
        families = _written()
        yield from (family for family in families if family.name not in (in_flight.NUMBER, in_flight.BEGUN))
        yield from in_flight.as_gauges(in_flight.requests_in(families))


def _written() -> list[Metric]:
    """What each process wrote to its file, together."""
    return list(multiprocess.MultiProcessCollector(None).collect())  # type: ignore[no-untyped-call]


def registry() -> CollectorRegistry:
    """A registry of what all processes counted."""
    counted = CollectorRegistry()
    counted.register(_OfAllProcesses())
    return counted


def requests_in_flight() -> Requests:
    """The requests in flight in all processes of this machine."""
    return in_flight.requests_in(_written())
