"""A process that does what the web server would: confirms releases. Answers JSON lines, one a question."""

from __future__ import annotations

import json
import sys
import time
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import django
from django.conf import settings
from django.core.files.base import File

django.setup()

from django.core.files.base import ContentFile  # noqa: E402
from django.test import Client  # noqa: E402
from django.test.utils import setup_test_environment  # noqa: E402

from dpportal.accounts.models import Role, User  # noqa: E402
from dpportal.budgets import charge_journal  # noqa: E402
from dpportal.datasets import services as datasets  # noqa: E402
from dpportal.datasets.models import Dataset  # noqa: E402
from dpportal.jobs import claims, lock_timeouts  # noqa: E402
from dpportal.jobs.clock import db_ago  # noqa: E402
from dpportal.notices import hosts, outbound, services as notices  # noqa: E402
from dpportal.notices.models import AllowedHost  # noqa: E402
from dpportal.operations import sweeping  # noqa: E402
from dpportal.platform import storage  # noqa: E402
from dpportal.releases import (  # noqa: E402
    drafts,
    execution,
    services as releases,
)
from dpportal.releases.models import Release, ReleaseJob  # noqa: E402
from dpportal.streams import job_execution, services, vault  # noqa: E402
from dpportal.streams.models import Stream, StreamJob  # noqa: E402
from dpportal.value_choices.models import ValueChoice  # noqa: E402
from tests.dpportal import building  # noqa: E402
from tests.dpportal.crashes import eraser, rivals  # noqa: E402
from tests.dpportal.streams.building import requested_stream  # noqa: E402


def prepare() -> str:
    """The small table with ε = 5."""
    curator = building.person("curator", Role.CURATOR)
    administrator = building.person("administrator", Role.ADMINISTRATOR)
    dataset = building.granted(building.stored_dataset(curator), administrator, "5")
    return str(dataset.pk)


def confirm(amount: str = "0.1") -> str:
    """Confirm a release of this ε; the message is in the queue when this returns."""
    return str(building.requested_release(_dataset(), amount).pk)


def sign_in() -> float:
    """The seconds that it takes the curator."""
    started = time.monotonic()
    answer = _page("/account/sign-in/", username="curator", password=building.PASSWORD)
    assert answer.status_code == 302, answer.status_code
    return time.monotonic() - started


def look_at_health() -> float:
    """The seconds that it takes."""
    started = time.monotonic()
    assert _page("/health/").status_code == 200
    return time.monotonic() - started


def press_confirm() -> list[Any]:
    """Confirm a release on its page: the seconds, the status, when to try again, and whether the page says so."""
    dataset = _dataset()
    draft = building.complete_draft(dataset)
    client = Client(raise_request_exception=False)
    client.force_login(dataset.owner)
    reviewed = releases.reviewed_as(*drafts.plan_of(draft))
    started = time.monotonic()
    answer = client.post(
        f"/releases/{draft.pk}/review/", {"agreed": "on", "useless": "on", "reviewed": reviewed}
    )
    busy = "busy" in answer.content.decode()
    return [time.monotonic() - started, answer.status_code, answer.get("Retry-After"), busy]


def sweep(*releases: str) -> list[str]:
    """Sweep once, besides the portal's own sweep; which of these have been hinted at since they waited for long."""
    claims.sweep(ReleaseJob.objects.all(), lambda pk: None, execution.RELEASES.give_up)
    hinted = ReleaseJob.objects.filter(pk__in=releases, hinted_at__gt=db_ago(1800))
    return [str(pk) for pk in hinted.values_list("pk", flat=True)]


def sweep_files() -> None:
    """Sweep files once, also those that were written a moment ago."""
    sweeping.ORPHANS_AFTER = timedelta(seconds=-60)
    sweeping.sweep_files()


def let_wait(*releases: str) -> None:
    """Have all of these waited for long, for a worker that lives."""
    building.a_worker_lives()
    ReleaseJob.objects.filter(pk__in=releases).update(hinted_at=db_ago(3600))


def claim(release: str) -> bool:
    """Try to take a job, as a worker does."""
    return claims.claim(ReleaseJob, UUID(release)) is not None


def withdraw(release: str) -> None:
    """Cancel what was confirmed."""
    releases.cancel(Release.objects.get(pk=release))


def _page(address: str, **form: str) -> Any:
    client = Client()
    return client.post(address, form) if form else client.get(address)


def choose_values() -> str:
    """Confirm a private choice of the colours at ε = 0.5 and δ = 10⁻⁷."""
    return str(building.requested_values(_dataset()).pk)


def see_choice(choice: str) -> dict[str, Any]:
    """How far it is, its charge, what was kept, and what is remembered of that outside the database."""
    row = ValueChoice.objects.select_related("charge__budget").get(pk=choice)
    remembered = charge_journal.charge_of(row.charge)
    budget = row.charge.budget
    return {
        "job": [row.state, row.attempts],
        "charge": row.charge.state,
        "kept": row.kept,
        "remembered": remembered and json.loads(remembered.outcome["values"]),
        "delta": [str(budget.delta_spent), str(budget.delta_reserved)],
    }


def ask_for_streams() -> list[str]:
    """Jobs that wait: to open a stream of ε = 0.5, and to publish a file of periods in an open one."""
    to_open = requested_stream(_dataset()).jobs.get()
    opened = requested_stream(_dataset())
    job_execution.STREAM_JOBS.run(opened.jobs.get().pk)
    opened.refresh_from_db()
    file = ContentFile(b"period,count\n1,5\n2,3\n", "counts.csv")
    to_publish = services.queue_counts(opened, file, {}, opened.created_by, confirmed=True)
    return [str(to_open.pk), str(to_publish.pk)]


def ask_for_stream(amount: str, horizon: int) -> str:
    """Confirm a stream of this ε; the message is in the queue when this returns."""
    return str(requested_stream(_dataset(), amount=Decimal(amount), horizon=horizon).pk)


def send_periods(stream_id: str, number: int) -> None:
    """Send the first so many periods of a stream in a file, the period's own number as its count."""
    stream = Stream.objects.get(pk=stream_id)
    lines = "".join(f"{index},{index}\n" for index in range(1, number + 1))
    file = ContentFile(f"period,count\n{lines}".encode(), "counts.csv")
    services.queue_counts(stream, file, {}, stream.created_by, confirmed=True)


def see_stream(stream_id: str) -> dict[str, Any]:
    """What is stored of a stream: its secrets opened, without any noise."""
    stream = Stream.objects.select_related("charge").get(pk=stream_id)
    assert stream.charge is not None
    periods = stream.periods.all()
    return {
        "state": stream.state,
        "charge": stream.charge.state,
        "attempts": stream.jobs.get(kind=StreamJob.Kind.OPEN).attempts,
        "periods": [period.index for period in periods],
        "sums": [int(true.sums[0]) for true in vault.true_counts(periods) or ()],
        "secret": vault.read(stream)[0].period if stream.is_open else None,
    }


def _dataset() -> Dataset:
    """The one that was prepared here; other tests of this portal have theirs."""
    return Dataset.objects.get(owner__username="curator", name="Small table")


def appoint(role: str) -> None:
    """Give the curator another office, or that one back."""
    User.objects.filter(username="curator").update(role=role)


def told(job_id: str) -> list[Any]:
    """How a stream's job ended: its state, the stream's, its charge's, how many periods there are, and why."""
    job = StreamJob.objects.select_related("stream__charge").get(pk=job_id)
    charge = job.stream.charge
    assert charge is not None
    return [job.state, job.stream.state, charge.state, job.stream.periods.count(), job.failure]


def deliver(release_id: str) -> None:
    """Deliver the job's message once more."""
    execution.RELEASES.hint(release_id)


def upload(path: str) -> str:
    """Give a file to be read; the message is in the queue when this returns."""
    with Path(path).open("rb") as file:
        draft = Dataset(name=Path(path).name)
        owner = User.objects.get(role=Role.CURATOR)
        return str(datasets.create_dataset(draft, File(file, name=Path(path).name), {}, owner).pk)


def webhook(address: str) -> str:
    """A webhook of the curator's at this address, which may be called, and a test for it; returns its secret."""
    place = outbound.place_of(address)
    if not AllowedHost.objects.filter(port=place.port).exists():
        line = AllowedHost(host=place.host, port=place.port, plain=True, private=True)
        hosts.allow(line, User.objects.get(role=Role.ADMINISTRATOR))
    owner = User.objects.get(role=Role.CURATOR)
    made, secret = notices.add(owner, address, ["job.finished"], "https://portal.example")
    notices.test(made)
    return secret


def cancel(dataset_id: str) -> None:
    dataset = Dataset.objects.get(pk=dataset_id)
    datasets.cancel_reading(dataset, dataset.owner)


def why_refused(dataset_id: str) -> str:
    """What the job that reads an upload says; it is sealed in the database."""
    return str(Dataset.objects.get(pk=dataset_id).conversion.failure)


def why_failed(release_id: str) -> str:
    """What the job of a release says; it is sealed, too."""
    return str(ReleaseJob.objects.get(pk=release_id).failure)


def rebuild(release_id: str) -> dict[str, str]:
    """Write the bundle anew from the stored measurement; returns the digests of the new files."""
    release = Release.objects.get(pk=release_id)
    written = building.written_again(release)
    return {artifact.name: digest(artifact.stored) for artifact in written}


def digests(release_id: str) -> dict[str, str]:
    """What the rows say of the bundle's files, and of the measurement."""
    release = Release.objects.get(pk=release_id)
    told = {artifact.name: artifact.sha256 for artifact in release.artifacts.all()}
    return {**told, "measurement": release.measurement_sha256}


def digest(name: str) -> str:
    with storage.local_path(name) as path:
        return storage.sha256(path)


DEEDS: dict[str, Any] = {
    f.__name__: f
    for f in (
        prepare,
        confirm,
        press_confirm,
        let_wait,
        sweep_files,
        sweep,
        claim,
        withdraw,
        sign_in,
        look_at_health,
        choose_values,
        see_choice,
        ask_for_streams,
        ask_for_stream,
        send_periods,
        see_stream,
        appoint,
        told,
        deliver,
        upload,
        webhook,
        cancel,
        why_refused,
        why_failed,
        rebuild,
        digests,
        digest,
    )
} | {
    "race_publication": rivals.publication,
    "race_erasing": rivals.erasing,
    "prepare_erasure": eraser.prepare,
    "see_erasure": eraser.facts,
    "erase": eraser.erase,
}

if __name__ == "__main__":
    setup_test_environment()
    lock_timeouts.keep_to(lock_timeouts.WEB)  # as the web server does
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = {**settings.STORAGES, "staticfiles": plain}
    for line in sys.stdin:
        deed, *arguments = json.loads(line)
        print(json.dumps(DEEDS[deed](*arguments)), flush=True)
