"""A process that works in a portal as people and workers do. Answers JSON lines, one a question.

What it tells holds released and true counts: it is for a test, which knows the counts.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.db import DatabaseError, connections  # noqa: E402

from dpportal.accounts.models import Role, User  # noqa: E402
from dpportal.budgets import charge_journal as charges  # noqa: E402
from dpportal.budgets.ledger import BudgetRefusedError  # noqa: E402
from dpportal.datasets.models import Dataset  # noqa: E402
from dpportal.operations import restore_check, sweeping  # noqa: E402
from dpportal.platform import storage  # noqa: E402
from dpportal.releases import execution as releasing, services as releases  # noqa: E402
from dpportal.releases.models import Release, ReleaseJob  # noqa: E402
from dpportal.releases.services import ReleaseError  # noqa: E402
from dpportal.streams import execution, job_execution, period_journal  # noqa: E402
from dpportal.streams.execution import PeriodRefusedError, Update  # noqa: E402
from dpportal.streams.models import Period, Stream, StreamJob  # noqa: E402
from dpportal.streams.vault import VaultError  # noqa: E402
from tests.dpportal import building  # noqa: E402
from tests.dpportal.streams.building import open_stream, requested_stream  # noqa: E402

REFUSALS = (PeriodRefusedError, VaultError, BudgetRefusedError)


def people() -> None:
    building.person("curator", Role.CURATOR)
    building.person("administrator", Role.ADMINISTRATOR)


def dataset(name: str, total: str = "5") -> str:
    stored = building.stored_dataset(User.objects.get(username="curator"), name)
    return str(building.granted(stored, User.objects.get(username="administrator"), total).pk)


def opened(dataset_id: str, mechanism: str, amount: str) -> str:
    return str(open_stream(_dataset(dataset_id), mechanism=mechanism, amount=Decimal(amount)).pk)


def requested_opening(dataset_id: str) -> str:
    return str(requested_stream(_dataset(dataset_id)).pk)


def open_requested(stream_id: str) -> list[str]:
    """Run its job; returns the stream's and the job's state, and why it failed."""
    job = Stream.objects.get(pk=stream_id).jobs.get()
    job_execution.STREAM_JOBS.run(job.pk)
    job.refresh_from_db()
    return [Stream.objects.get(pk=stream_id).state, job.state, job.failure]


def publish(stream_id: str, index: int, count: int) -> Any:
    """What is released as the period, or why nothing is."""
    try:
        [done] = execution.publish(stream_id, [Update(index, (count,), Period.Source.TYPED)])
    except REFUSALS as refusal:
        return str(refusal)
    return [done.period.released[0], done.new]


def publish_and_die(stream_id: str, index: int, count: int) -> None:
    """As if the machine lost power between the memory's write and the database's commit."""
    die_after(period_journal, "decide")
    publish(stream_id, index, count)


def die_after(module: Any, name: str) -> None:
    honest: Callable[..., Any] = getattr(module, name)

    def last(*args: Any) -> None:
        honest(*args)
        os.kill(os.getpid(), signal.SIGKILL)

    setattr(module, name, last)


def publish_late(stream_id: str, index: int, count: int) -> Any:
    """As if the machine was suspended just before what is about to be published is remembered."""
    stop_before(period_journal, "decide")
    return publish(stream_id, index, count)


def executed_late(release_id: str) -> list[Any]:
    """The same, just before the charge is remembered."""
    stop_before(charges, "settle")
    return executed(release_id)


def begin(deed: str, *arguments: Any) -> int:
    """Let a process of its own do something in which it stops itself; its number, once it has stopped."""
    process = os.fork()
    if process == 0:
        with suppress(DatabaseError):
            _answer_of(os.getpid()).write_text(json.dumps(DEEDS[deed](*arguments)))
        os._exit(0)
    os.waitid(os.P_PID, process, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
    return process


def wake(process: int) -> Any:
    """What it answers when it goes on; None if its transaction could not commit."""
    os.kill(process, signal.SIGCONT)
    os.waitpid(process, 0)
    answer = _answer_of(process)
    return json.loads(answer.read_text()) if answer.exists() else None


def _answer_of(process: int) -> Path:
    return Path(settings.SCRATCH_DIR) / f"answer-{process}"


def stop_before(module: Any, name: str) -> None:
    honest: Callable[..., Any] = getattr(module, name)

    def late(*args: Any, **kwargs: Any) -> Any:
        setattr(module, name, honest)
        os.kill(os.getpid(), signal.SIGSTOP)
        return honest(*args, **kwargs)

    setattr(module, name, late)


def decided(stream_id: str) -> Any:
    """What the memory says that is about to be published."""
    decision = period_journal.pending(Stream.objects.get(pk=stream_id))
    assert decision is not None
    return [[period.index, period.released[0]] for period in decision.periods]


def series(stream_id: str) -> list[list[int]]:
    return [[p.index, p.released[0]] for p in Period.objects.filter(stream=stream_id)]


def stream_state(stream_id: str) -> list[Any]:
    stream = Stream.objects.get(pk=stream_id)
    return [stream.state, stream.closed_by_restore, hasattr(stream, "sealed_state")]


def drafted(dataset_id: str) -> str:
    return str(building.complete_draft(_dataset(dataset_id)).pk)


def confirmed(release_id: str) -> str:
    """Confirm what a draft's review shows; returns why that is refused."""
    try:
        building.confirm(Release.objects.get(pk=release_id))
    except BudgetRefusedError as refusal:
        return str(refusal)
    return ""


def cancelled(release_id: str) -> str:
    """Why a job that waits again cannot be cancelled; empty if it was."""
    ReleaseJob.objects.filter(pk=release_id).update(state="queued")
    try:
        releases.cancel(Release.objects.get(pk=release_id))
    except ReleaseError as refusal:
        return str(refusal)
    return ""


def executed(release_id: str) -> list[Any]:
    """Run its job; returns states of release, job and charge, the digest of the measurement, and why it failed."""
    releasing.RELEASES.run(Release.objects.get(pk=release_id).pk)
    release = Release.objects.select_related("job", "charge").get(pk=release_id)
    assert release.charge is not None
    digest = ""
    if release.measurement:
        with storage.local_path(release.measurement) as path:
            digest = storage.sha256(path)
    return [release.state, release.job.state, release.charge.state, digest, release.job.failure]


def published(release_id: str) -> bool:
    """Whether everyone sees a release, after its curator has published it."""
    release = Release.objects.get(pk=release_id)
    releases.publish(release, release.created_by)
    return is_public(release_id)


def withdrawn(release_id: str, because: str) -> bool:
    """The same after its curator has taken it back."""
    release = Release.objects.get(pk=release_id)
    releases.withdraw(release, release.created_by, because)
    return is_public(release_id)


def is_public(release_id: str) -> bool:
    return Release.objects.get(pk=release_id).is_public


def measure_and_die(release_id: str) -> None:
    die_after(charges, "settle")
    releasing.RELEASES.run(Release.objects.get(pk=release_id).pk)


def sweep_files() -> None:
    """As the sweep does hours later."""
    sweeping.ORPHANS_AFTER = timedelta(0)
    sweeping.sweep_files()


def let_leases_end() -> None:
    """As if time had passed since the workers died."""
    for kind in (ReleaseJob, StreamJob):
        kind.objects.filter(state="running").update(lease_until="2020-01-01T00:00Z")


def account(dataset_id: str) -> list[str]:
    """Granted, spent and reserved, and the number of lines."""
    data = _dataset(dataset_id)
    [budget] = data.budgets.all()
    return [str(part.normalize()) for part in (budget.total, budget.spent, budget.reserved)]


def appoint(name: str, role: str) -> None:
    User.objects.filter(username=name).update(role=role)


def enter_missing(dataset_id: str) -> int:
    return restore_check.enter_missing(UUID(dataset_id), User.objects.get(username="administrator"))


def _dataset(dataset_id: str) -> Dataset:
    return Dataset.objects.get(pk=dataset_id)


DEEDS: dict[str, Any] = {
    f.__name__: f
    for f in (
        people, dataset, opened, requested_opening, open_requested, publish, publish_and_die, decided, series,
        stream_state, drafted, confirmed, cancelled, executed, measure_and_die, let_leases_end, account, appoint,
        enter_missing, begin, wake, publish_late, executed_late, sweep_files,
        published, withdrawn, is_public,
    )
}  # fmt: skip

if __name__ == "__main__":
    for line in sys.stdin:
        deed, *arguments = json.loads(line)
        answer = DEEDS[deed](*arguments)
        # A database is copied and put back while nobody is connected to it.
        connections.close_all()
        print(json.dumps(answer), flush=True)
