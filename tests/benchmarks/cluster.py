"""Several machines as processes: releases go through while workers are killed, and none is lost or paid for twice.

    python -m tests.benchmarks.cluster [--releases 200] [--alone 40] [--kills 8] [--seconds 300] [--seed 1]

Starts a database on PostgreSQL, a queue on Redis, an S3 server, two gunicorns, one sweep and workers, each with a data
folder of its own. First one worker makes some releases alone. Then three do, while every few seconds one of them is
killed and another takes its place. Releases are histograms of the demonstration data, asked for on the pages of both
gunicorns. In the end every release must be ready once, with one measurement and one charge, and the ledger must add up.
Prints a table; exits with 1 if anything is amiss, or takes longer than the seconds.
"""

from __future__ import annotations

import argparse
import hashlib
import http.client
import os
import random
import re
import secrets
import shutil
import tempfile
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from tests.conftest import POSTGRES_URL, REDIS_URL
from tests.dpportal.bucket import Bucket, bucket
from tests.dpportal.portal_command.starting import free_port
from tests.dpportal.world import World, kill, with_servers

WEB, WORKERS, VISITORS = 2, 3, 2
AMOUNT = Decimal("0.01")
COLUMNS = [["sex"], ["race"], ["sex", "race"], ["relationship"], ["age"]]
PEOPLE = "32561"
CSRF = secrets.token_hex(16)
REVIEWED = re.compile(r'name="reviewed" value="([0-9a-f]+)"')
# Whoever begins while a draft is untouched gets that one.
beginning = threading.Lock()
CELERY = ("-m", "celery", "--quiet", "-A", "dpportal", "worker", "--loglevel", "ERROR", "--concurrency", "1")


class AmissError(Exception):
    """What should not be."""


@dataclass
class Cluster:
    """The machines; until: when all must be done, by `time.monotonic`."""

    world: World
    until: float
    random: random.Random
    ports: list[int] = field(default_factory=list)
    workers: list[Any] = field(default_factory=list)
    machines: int = 0

    def machine(self) -> dict[str, str]:
        """What the environment says on a new machine: a data folder of its own."""
        self.machines += 1
        folder = self.world.folder / f"machine-{self.machines}"
        return {"DPPORTAL_DATA_DIR": str(folder)}

    def add_web(self) -> None:
        port, machine = free_port(), self.machine()
        shutil.copytree(self.world.folder / "data" / "static", Path(machine["DPPORTAL_DATA_DIR"]) / "static")
        command = ["-m", "gunicorn", "-c", "python:dpportal.serving.gunicorn_conf", "-w", "1"]
        self.world.start(*command, "--bind", f"127.0.0.1:{port}", extra=machine)
        self.ports.append(port)

    def add_worker(self) -> None:
        name = ("--hostname", f"worker-{self.machines}@%h")
        self.workers.append(self.world.start(*CELERY, *name, extra=self.machine()))

    def kill_one(self) -> None:
        """At once, without a word to anybody, with what its disk holds; another machine takes its place."""
        victim = self.workers.pop(self.random.randrange(len(self.workers)))
        kill(victim)
        self.add_worker()

    def wait(self, happened: Callable[[], bool], what: str) -> None:
        while not happened():
            if time.monotonic() > self.until:
                raise AmissError(f"Out of time before {what}.")
            time.sleep(0.2)


@contextmanager
def cluster(folder: Path, seconds: float, seed: int) -> Iterator[Cluster]:
    """PostgreSQL, Redis and S3 with nothing in them yet; all of it is gone afterwards."""
    until = time.monotonic() + seconds
    names = ("SECRET_KEY", "FINGERPRINT_KEY", "STREAM_KEY", "MASTER_KEY")
    shared = {f"DPPORTAL_{name}": secrets.token_hex(32) for name in names}
    shared["DPPORTAL_MEMORY"] = str(folder / "memory")
    with (
        bucket(folder / "bucket") as store,
        with_servers(folder, POSTGRES_URL, REDIS_URL, store, **shared) as world,
    ):
        world.run("manage.py", "collectstatic", "--noinput", "--verbosity", "0")
        made = Cluster(world, until, random.Random(seed))
        os.environ.update({**world.environment, **made.machine()})
        import django

        django.setup()
        yield made


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--releases", type=int, default=200)
    parser.add_argument("--alone", type=int, default=40)
    parser.add_argument("--kills", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        cluster(Path(folder), options.seconds, options.seed) as machines,
    ):
        try:
            return measure(machines, options)
        except AmissError as amiss:
            print(amiss)
            print(machines.world.log().read_text()[-2000:])
            return 1


def measure(machines: Cluster, options: argparse.Namespace) -> int:
    for _ in range(WEB):
        machines.add_web()
    machines.world.start("manage.py", "sweep", extra=machines.machine())
    machines.add_worker()
    dataset, cookie = prepare((options.releases + options.alone) * AMOUNT)
    machines.wait(lambda: all(answers(port) for port in machines.ports), "both gunicorns answer")
    print("| machines that work | killed | releases | seconds | a minute |\n|---|---:|---:|---:|---:|")
    row("one", 0, run(machines, dataset, cookie, options.alone, 0))
    for _ in range(WORKERS - 1):
        machines.add_worker()
    row("three", options.kills, run(machines, dataset, cookie, options.releases, options.kills))
    print(check(dataset, machines.world.bucket, options.releases + options.alone))
    return 0


def row(name: str, killed: int, times: list[tuple[datetime, datetime]]) -> None:
    seconds = (max(end for _, end in times) - min(begin for begin, _ in times)).total_seconds()
    print(
        f"| {name} | {killed} | {len(times)} | {seconds:.1f} | {60 * len(times) / seconds:.0f} |", flush=True
    )


def prepare(total: Decimal) -> tuple[Any, str]:
    """The demonstration dataset with so much budget, and its curator's session."""
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY

    from dpportal.accounts.models import Role
    from dpportal.accounts.session_store import SessionStore
    from dpportal.operations import demonstration

    demonstration.create_accounts({Role.ADMINISTRATOR: "administrator", Role.CURATOR: "curator"})
    demonstration.GRANT = total
    dataset = demonstration.load()
    if dataset is None:
        raise AmissError("The demonstration data were not read.")
    session = SessionStore()
    session[SESSION_KEY] = str(dataset.owner_id)
    session[BACKEND_SESSION_KEY] = "dpportal.accounts.backend.WrittenPeople"
    session[HASH_SESSION_KEY] = dataset.owner.get_session_auth_hash()
    session.save()
    return dataset, f"sessionid={session.session_key}; csrftoken={CSRF}"


def run(
    machines: Cluster, dataset: Any, cookie: str, releases: int, kills: int
) -> list[tuple[datetime, datetime]]:
    """Ask for releases on both gunicorns at once and wait for all; returns when each was asked for and ready."""
    from dpportal.releases.models import Release

    before = set(Release.objects.values_list("pk", flat=True))
    numbers, troubles = iter(range(releases)), []

    def visit(port: int) -> None:
        for number in numbers:
            try:
                ask(port, cookie, f"/releases/new/{dataset.pk}/", COLUMNS[number % len(COLUMNS)])
            except (AmissError, OSError) as trouble:
                troubles.append(trouble)

    threads = [threading.Thread(target=visit, args=(port,)) for port in machines.ports * VISITORS]
    for thread in threads:
        thread.start()
    mine = Release.objects.exclude(pk__in=before)
    ready = mine.filter(state=Release.State.READY)
    for killed in range(kills):
        machines.wait(lambda part=killed: ready.count() > part * releases / (kills + 1), "the next is killed")
        time.sleep(machines.random.uniform(0, 1))
        machines.kill_one()
    for thread in threads:
        thread.join()
    if troubles:
        raise AmissError(f"{len(troubles)} requests failed: {troubles[0]!r}")
    machines.wait(lambda: ready.count() == releases, "all releases are ready")
    return list(mine.values_list("job__queued_at", "job__finished_at"))


def ask(port: int, cookie: str, start: str, columns: list[str]) -> None:
    """The way through the wizard, as a browser goes it."""
    with beginning:
        product = post(port, cookie, start, {})
        to_columns = post(port, cookie, product, {"title": "Of a cluster", "product": "histogram"})
        method = post(port, cookie, to_columns, {"columns": columns, "people": PEOPLE})
    chosen = {"mechanism": "laplace-histogram", "amount": str(AMOUNT), "purpose": "cells"}
    review = post(port, cookie, method, chosen)
    _status, page = request(port, cookie, "GET", review)
    shown = REVIEWED.search(page)
    if shown is None:
        raise AmissError(f"No review at {review}.")
    post(port, cookie, review, {"reviewed": shown[1], "agreed": "on", "one_row": "on"})


def post(port: int, cookie: str, address: str, fields: dict[str, Any]) -> str:
    """Where the answer leads."""
    status, leads = request(port, cookie, "POST", address, urllib.parse.urlencode(fields, doseq=True))
    if status != 302:
        raise AmissError(f"{status} at {address}")
    return leads


def request(port: int, cookie: str, kind: str, address: str, body: str = "") -> tuple[int, str]:
    """The status, and where the answer leads or else its text."""
    headers = {"Cookie": cookie, "X-CSRFToken": CSRF, "Content-Type": "application/x-www-form-urlencoded"}
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(kind, address, body, headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        return answer.status, answer.headers.get("Location") or text
    finally:
        connection.close()


def answers(port: int) -> bool:
    try:
        return request(port, "", "GET", "/health/")[0] == 200
    except OSError:
        return False


def check(dataset: Any, store: Bucket | None, releases: int) -> str:
    """That each release was made once and paid for once, and that the bucket holds what the rows say."""
    from django.db.models import Sum

    from dpportal.budgets.models import Budget, LedgerEntry
    from dpportal.releases.models import Artifact, Release

    assert store is not None
    made = Release.objects.filter(state=Release.State.READY)
    charges = LedgerEntry.objects.filter(dataset=dataset, kind=LedgerEntry.Kind.CHARGE)
    spent = charges.filter(state=LedgerEntry.State.SPENT)
    budget = Budget.objects.get(dataset=dataset)
    paid = {"of the budget": budget.spent, "of the lines": spent.aggregate(sum=Sum("amount"))["sum"]}
    names = store.names()
    measured = [name.split("/")[1] for name in names if "/measurement/" in name]
    files = {name: digest(store.objects / name) for name in names if "/bundle/" in name}
    rows = dict(Artifact.objects.values_list("stored", "sha256"))
    wrong = {
        "not every release is ready once": made.count() != releases,
        "not one charge each": sorted(spent.values_list("key")) != sorted(made.values_list("pk")),
        "charges beyond those": charges.count() != releases,
        f"the ledger does not add up: {paid}": set(paid.values()) != {releases * AMOUNT},
        "something is still reserved": budget.reserved != 0,
        "not one measurement each": sorted(measured) != sorted(str(pk) for (pk,) in made.values_list("pk")),
        "a file is not what its row says": any(files.get(name) != sha for name, sha in rows.items()),
    }
    if amiss := [what for what, true in wrong.items() if true]:
        raise AmissError("; ".join(amiss))
    again = made.filter(job__attempts__gt=1).count()
    return (
        f"\n{releases} releases ready once each, {again} of them by a second worker; ε = {budget.spent} spent in "
        f"{releases} charges of {AMOUNT}; {len(rows)} files as their rows say"
    )


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    raise SystemExit(main())
