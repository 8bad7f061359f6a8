"""How the portal is: for load balancers yes or no, for administrators on a page and in a line of JSON."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from dpportal.accounts.addresses import client_address, is_in_networks
from dpportal.accounts.models import User
from dpportal.accounts.permissions import administrator_required, current_user
from dpportal.budgets.ledger import BudgetRefusedError
from dpportal.history import chain
from dpportal.jobs import broker, queues
from dpportal.jobs.claims import Job, JobState, waiting
from dpportal.jobs.clock import database_now
from dpportal.jobs.heartbeat import DEAF_AFTER_LEASES, waited_longer
from dpportal.jobs.models import Heartbeat
from dpportal.jobs.runner import kinds
from dpportal.operations import restore_check
from dpportal.platform import storage
from dpportal.platform.journal import MemoryFaultError
from dpportal.platform.json_types import Json
from dpportal.serving import durations


@dataclass(frozen=True)
class Health:
    """queue_age: seconds that the oldest queued job has waited, 0 if none does. stuck_queues: in which jobs wait long
    although a worker that listens to them is free, or none does. running: jobs that a worker has.

    free_bytes, free_files: of the data disk, where it counts files. is_full: whether nothing is begun on it.
    has_broker: whether the queue's server answers. hindered: workers and sweeps that are alive and whose machine cannot
    do jobs.
    """

    queue_age: float
    stuck_queues: tuple[str, ...]
    running: int
    workers: int
    sweeps: int
    free_bytes: int
    free_files: int | None
    is_full: bool
    has_broker: bool
    hindered: tuple[str, ...] = ()

    @property
    def signs(self) -> dict[str, bool]:
        """Whatever can be wrong, by name, and whether it is."""
        return {
            "no-worker": not self.workers,
            "no-sweep": not self.sweeps,
            "queue-stuck": bool(self.stuck_queues),
            "no-broker": not self.has_broker,
            "machine-hindered": bool(self.hindered),
            "disk-full": self.is_full,
        }

    @property
    def troubles(self) -> list[str]:
        """Names of what is not as it should be."""
        return [name for name, true in self.signs.items() if true]


def measured() -> Health:
    """Raises DatabaseError where the database does not answer."""
    oldest = [kind.jobs().filter(waiting()).order_by("queued_at").first() for kind in kinds()]
    since: list[datetime] = [job.queued_at for job in oldest if job]
    age = (database_now() - min(since)).total_seconds() if since else 0.0
    return Health(
        max(0.0, round(age, 1)),
        _stuck_queues(),
        sum(kind.jobs().filter(state=JobState.RUNNING).count() for kind in kinds()),
        Heartbeat.alive(Heartbeat.Kind.WORKER).count(),
        Heartbeat.alive(Heartbeat.Kind.SWEEP).count(),
        shutil.disk_usage(settings.DATA_DIR).free,
        storage.free_files(),
        storage.is_full(),
        broker.is_reachable(),
        tuple(each.name for kind in Heartbeat.Kind for each in Heartbeat.alive(kind).exclude(obstacle="")),
    )


def _stuck_queues() -> tuple[str, ...]:
    """The queues in which a job has waited for long, while not all workers that listen to them are busy."""
    patience = 2 * DEAF_AFTER_LEASES * settings.JOB_LEASE_SECONDS
    workers = list(Heartbeat.alive(Heartbeat.Kind.WORKER))

    def stuck(queue: str) -> bool:
        listeners = [worker for worker in workers if queue in worker.queues]
        all_busy = bool(listeners) and all(worker.busy for worker in listeners)
        return not all_busy and waited_longer(patience, [queue])

    return tuple(queue for queue in queues.NAMES if workers and stuck(queue))


@require_safe
def health(request: HttpRequest) -> HttpResponse:
    """200 while pages can be served, which is what a load balancer asks, and whether all is as it should be.

    What is wrong, and how much there is of anything, is for administrators and the networks of METRICS_NETWORKS: from
    the free space of the disk a stranger would read when somebody uploads, and how much.
    """
    try:
        state = measured()
        troubles = [*state.troubles, *restore_check.lasting_troubles()]
        knows = is_operator(request)
    except DatabaseError:
        return JsonResponse({"ok": False}, status=503)
    if not knows:
        return JsonResponse({"ok": not troubles})
    return JsonResponse(
        {
            "ok": not troubles,
            "troubles": troubles,
            "queue_age_seconds": state.queue_age,
            "workers": state.workers,
            "sweeps": state.sweeps,
            "free_disk_mb": state.free_bytes // 2**20,
        }
    )


def is_operator(request: HttpRequest) -> bool:
    """Whether whoever asks may know how much of anything there is: an administrator, or a declared network."""
    user = request.user
    is_administrator = isinstance(user, User) and user.is_administrator
    return is_administrator or is_in_networks(client_address(request), settings.METRICS_NETWORKS)


@administrator_required
@require_POST
def enter_missing(request: HttpRequest, dataset_id: UUID) -> HttpResponse:
    """Enter the charges that a dataset's ledger lacks after a restore."""
    try:
        entered = restore_check.enter_missing(dataset_id, current_user(request))
        text = _("%(number)s charges are entered, or noted where the dataset itself is missing.")
        messages.success(request, text % {"number": entered})
    except (BudgetRefusedError, MemoryFaultError) as refusal:
        messages.error(request, str(refusal))
    return redirect("health_page")


@administrator_required
def page(request: HttpRequest) -> HttpResponse:
    """The same for an administrator, with each process, its clock, and the last jobs that failed."""
    context: Json = {
        "health": measured(),
        "findings": restore_check.findings(),
        "processes": Heartbeat.objects.all(),
        "failures": last_failures(),
        "requests": durations.requests_in_flight(),
        "floor_bytes": storage.floor(),
        "last_link": chain.last_link(),
        "nav_section": "health",
    }
    return render(request, "health.html", context)


def last_failures(most: int = 10) -> list[Job]:
    """The newest failed jobs of every kind; what they say holds no value of the data."""
    ended = {"state": JobState.FAILED, "finished_at__isnull": False}
    newest = (kind.jobs().filter(**ended).order_by("-finished_at")[:most] for kind in kinds())
    failed = [job for jobs in newest for job in jobs]
    return sorted(failed, key=lambda job: job.finished_at or job.queued_at, reverse=True)[:most]
