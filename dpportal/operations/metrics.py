"""How the portal is, for Prometheus: for administrators and the networks that the site declares."""

from __future__ import annotations

from collections.abc import Iterator

from django.db import DatabaseError
from django.db.models import Count, Max
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe
from prometheus_client import generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector

from dpportal.jobs.claims import JobState
from dpportal.jobs.clock import database_now
from dpportal.jobs.models import Heartbeat
from dpportal.jobs.runner import kinds
from dpportal.operations import health, restore_check
from dpportal.serving import durations


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Numbers of this moment, and the requests of this machine's web server since it started; others find nothing."""
    try:
        if not health.is_operator(request):
            raise Http404
        registry = durations.registry()
        registry.register(PortalCollector())
        return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)
    except DatabaseError:
        return HttpResponse(status=503)


class PortalCollector(Collector):
    """What the database and the disk say; counts of jobs, never of anybody's data."""

    def describe(self) -> list[Metric]:
        """Nothing: to register it must not ask the database."""
        return []

    def collect(self) -> Iterator[Metric]:
        state = health.measured()
        yield _gauge("queue_age_seconds", "How long the oldest queued job has waited", state.queue_age)
        yield _gauge("workers_alive", "Workers heard of lately", state.workers)
        yield _gauge("free_disk_bytes", "Free space of the data disk", state.free_bytes)
        yield _gauge("broker_up", "Whether the queue's server answers", int(state.has_broker))
        yield from _sweep_age()
        yield _jobs()
        trouble = GaugeMetricFamily("dpportal_trouble", "1 for what is not as it should be", labels=["name"])
        lasting = restore_check.lasting_troubles()
        signs = {**state.signs, **{name: name in lasting for name in restore_check.LASTING}}
        for name, is_there in signs.items():
            trouble.add_metric([name], int(is_there))
        yield trouble


def _gauge(name: str, about: str, value: float) -> Metric:
    return GaugeMetricFamily(f"dpportal_{name}", about, value)


def _sweep_age() -> Iterator[Metric]:
    """Nothing where no sweep was ever heard of."""
    last = Heartbeat.objects.filter(kind=Heartbeat.Kind.SWEEP).aggregate(last=Max("seen_at"))["last"]
    if last is not None:
        age = (database_now() - last).total_seconds()
        yield _gauge("sweep_age_seconds", "Since the last sweep ended a round", age)


def _jobs() -> Metric:
    family = GaugeMetricFamily("dpportal_jobs", "Jobs by kind and state", labels=["kind", "state"])
    for kind in kinds():
        numbers = dict(kind.jobs().order_by().values_list("state").annotate(Count("pk")))
        for state in JobState.values:
            family.add_metric([kind.name, state], numbers.get(state, 0))
    return family
