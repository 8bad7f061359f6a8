"""How the portal is: for load balancers in a line of JSON, for administrators on a page."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.contrib.admin.views.decorators import staff_member_required
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from dpportal import storage
from dpportal.running.clock import database_now
from dpportal.running.heartbeat import DEAF_AFTER_LEASES
from dpportal.running.jobs import Job, JobState, kinds
from dpportal.running.models import Heartbeat


@dataclass(frozen=True)
class Health:
    """queue_age: seconds that the oldest queued job has waited, 0 if none does. running: jobs that a worker has.

    free_bytes: of the data disk.
    """

    queue_age: float
    running: int
    workers: int
    sweeps: int
    free_bytes: int

    @property
    def troubles(self) -> list[str]:
        """Names of what is not as it should be."""
        patience = 2 * DEAF_AFTER_LEASES * settings.JOB_LEASE_SECONDS
        found = {
            "no-worker": not self.workers,
            "no-sweep": not self.sweeps,
            "queue-stuck": self.queue_age > patience and self.running < self.workers,
            "disk-full": self.free_bytes < storage.floor(),
        }
        return [name for name, true in found.items() if true]


def measured() -> Health:
    """Raises DatabaseError where the database does not answer."""
    oldest = [
        kind._base_manager.filter(state=JobState.QUEUED).order_by("queued_at").first() for kind in kinds()
    ]
    waiting: list[datetime] = [job.queued_at for job in oldest if job]
    age = (database_now() - min(waiting)).total_seconds() if waiting else 0.0
    return Health(
        max(0.0, round(age, 1)),
        sum(kind._base_manager.filter(state=JobState.RUNNING).count() for kind in kinds()),
        Heartbeat.alive(Heartbeat.Kind.WORKER).count(),
        Heartbeat.alive(Heartbeat.Kind.SWEEP).count(),
        shutil.disk_usage(settings.DATA_DIR).free,
    )


def health(request: HttpRequest) -> HttpResponse:
    """200 while pages can be served, which is what a load balancer asks; what else is wrong stands in the answer."""
    try:
        found = measured()
    except DatabaseError:
        return JsonResponse({"status": "down", "troubles": ["database"]}, status=503)
    return JsonResponse(
        {
            "status": "degraded" if found.troubles else "ok",
            "troubles": found.troubles,
            "queue_age_seconds": found.queue_age,
            "workers": found.workers,
            "sweeps": found.sweeps,
            "free_disk_mb": found.free_bytes // 2**20,
        }
    )


@staff_member_required(login_url="accounts:sign_in")
def page(request: HttpRequest) -> HttpResponse:
    """The same for an administrator, with each process, its clock, and the last jobs that failed."""
    context: dict[str, Any] = {
        "health": measured(),
        "processes": Heartbeat.objects.all(),
        "failures": last_failures(),
        "floor_bytes": storage.floor(),
        "nav_section": "health",
    }
    return render(request, "health.html", context)


def last_failures(most: int = 10) -> list[Job]:
    """The newest failed jobs of every kind; what they say holds no value of the data."""
    ended = {"state": JobState.FAILED, "finished_at__isnull": False}
    newest = (kind._base_manager.filter(**ended).order_by("-finished_at")[:most] for kind in kinds())
    failed = [job for jobs in newest for job in jobs]
    return sorted(failed, key=lambda job: job.finished_at or job.queued_at, reverse=True)[:most]
