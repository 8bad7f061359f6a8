"""Pages while 50 curators browse, four jobs run at a time, and 500 visitors hold slow connections.

    python -m tests.benchmarks.crowd [--seconds 120]

Starts a portal as a person does, and makes curators with a table and a budget each. First one curator browses alone,
then all do, each opening a page every three seconds on average and none in step with another, while releases are
requested so that four are always under way, and while slow visitors connect again whenever they are ended. Nothing may
be lost: every page must be answered, and every release be ready. The goal for the 95th percentile is three times that
of one curator alone.
"""

from __future__ import annotations

import argparse
import http.client
import os
import random
import statistics
import tempfile
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, suppress
from itertools import cycle
from multiprocessing import get_context
from pathlib import Path
from typing import Any

CURATORS, SLOW, JOBS = 50, 500, 4
PAUSE_SECONDS = 3.0
QUIET_SECONDS = 20.0
GOAL = 3.0


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=120)
    seconds = parser.parse_args().seconds
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(DPPORTAL_DATA_DIR=f"{folder}/data", DJANGO_SETTINGS_MODULE="dpportal.settings")
        import django

        from tests.dpportal.portal_command.starting import Portal, free_port

        portal = Portal(Path(folder) / "data", free_port(), "--workers", "2")
        try:
            django.setup()
            return measure(portal.port, seconds)
        finally:
            portal.end()


def measure(port: int, seconds: float) -> int:
    people = [curator(number) for number in range(CURATORS)]
    visit(port, people[0], [], time.monotonic() + 5, 0.1)
    alone: list[float] = []
    failures = visit(port, people[0], alone, time.monotonic() + QUIET_SECONDS, 0.1)
    crowded: list[float] = []
    until = time.monotonic() + seconds
    lost: list[str] = []
    from django.db import connections

    released: list[int] = []
    threads = [
        *(threading.Thread(target=lambda p=p: lost.extend(visit(port, p, crowded, until))) for p in people),
        threading.Thread(target=hold, args=(port, until)),
    ]
    # In a process of its own, which gives way: planning releases is not what is measured.
    with ProcessPoolExecutor(1, get_context("fork"), os.nice, (10,)) as apart:
        connections.close_all()
        releasing = apart.submit(release, [str(dataset.pk) for dataset, _, _ in people], until)
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        released.append(releasing.result())
    return report(alone, crowded, [*failures, *lost], released)


def report(alone: list[float], crowded: list[float], lost: list[str], released: list[int]) -> int:
    print(f"{'':<10}{'pages':>8}{'median':>10}{'95 %':>10}{'longest':>10}")
    for name, times in (("alone", alone), ("crowded", crowded)):
        fifth = statistics.quantiles(times, n=20)[-1]
        print(
            f"{name:<10}{len(times):>8}{1000 * statistics.median(times):>7.0f} ms{1000 * fifth:>7.0f} ms"
            f"{1000 * max(times):>7.0f} ms"
        )
    ratio = statistics.quantiles(crowded, n=20)[-1] / statistics.quantiles(alone, n=20)[-1]
    print(f"95 % is {ratio:.1f} times that of one curator alone (goal {GOAL:.0f})")
    print(f"releases ready: {released[0] if released else 'not all'}; requests lost: {len(lost)}")
    for trouble in lost[:5]:
        print(f"  {trouble}")
    return 1 if lost or not released else 0


def curator(number: int) -> tuple[Any, list[str], str]:
    """A curator's table with a budget, the addresses of the pages to browse, and a cookie of a session."""
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY

    from dpportal.accounts.models import Role, User
    from dpportal.accounts.session_store import SessionStore
    from tests.dpportal import building

    owner = User.objects.create(username=f"curator{number}", role=Role.CURATOR, password="!")
    administrator = User.objects.filter(role=Role.ADMINISTRATOR).first()
    assert administrator is not None
    dataset = building.granted(building.stored_dataset(owner), administrator, total="1000")
    draft = building.complete_draft(dataset)
    session = SessionStore()
    session[SESSION_KEY] = str(owner.pk)
    session[BACKEND_SESSION_KEY] = "dpportal.accounts.backend.WrittenPeople"
    session[HASH_SESSION_KEY] = owner.get_session_auth_hash()
    session.save()
    at, todo = f"/datasets/{dataset.pk}/", f"/releases/{draft.pk}/"
    pages = [
        "/datasets/",
        at,
        f"{at}domain/",
        f"{at}ledger/",
        f"{todo}columns/",
        f"{todo}method/",
        "/releases/",
    ]
    return dataset, [*pages, "/streams/", "/guide/"], f"sessionid={session.session_key}"


def visit(
    port: int,
    person: tuple[Any, list[str], str],
    times: list[float],
    until: float,
    pause: float = PAUSE_SECONDS,
) -> list[str]:
    """Open one page after the other; returns what went wrong."""
    _, pages, cookie = person
    lost = []
    time.sleep(random.uniform(0, pause))
    for page in cycle(pages):
        begun = time.monotonic()
        if begun > until:
            return lost
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            connection.request("GET", page, headers={"Cookie": cookie})
            answer = connection.getresponse()
            answer.read()
            connection.close()
            if answer.status != 200:
                lost.append(f"{answer.status} {page}")
        except OSError as error:
            lost.append(f"{type(error).__name__} {page}")
        times.append(time.monotonic() - begun)
        time.sleep(random.uniform(0.5, 1.5) * pause)
    return lost


def release(datasets: list[str], until: float) -> int:
    """Keep four releases under way; returns how many became ready, after all of them have."""
    from dpportal.datasets.models import Dataset
    from dpportal.releases.models import Release
    from tests.dpportal import building

    made = Release.objects.exclude(state=Release.State.DRAFT)
    for dataset in cycle(datasets):
        if time.monotonic() > until:
            break
        if made.exclude(state=Release.State.READY).count() < JOBS:
            building.requested_release(Dataset.objects.get(pk=dataset))
        else:
            time.sleep(0.1)
    patience = time.monotonic() + 60
    while made.exclude(state=Release.State.READY).exists():
        assert time.monotonic() < patience, "not all releases became ready"
        time.sleep(0.5)
    return made.count()


def hold(port: int, until: float) -> None:
    """Keep 500 connections open that say part of a request, a byte more now and then, and connect again when ended."""
    from tests.dpportal.serving.visitors import PART_OF_A_BODY, PART_OF_A_HEAD, connect

    beginnings = cycle([b"", PART_OF_A_HEAD, PART_OF_A_BODY])
    with ExitStack() as stack:
        visitors = [stack.enter_context(connect(port)) for _ in range(SLOW)]
        for visitor in visitors:
            visitor.sendall(next(beginnings))
        while time.monotonic() < until:
            time.sleep(2)
            for place, visitor in enumerate(visitors):
                try:
                    visitor.sendall(b"x")
                except OSError:
                    visitor.close()
                    with suppress(OSError):
                        visitors[place] = stack.enter_context(connect(port))
                        visitors[place].sendall(next(beginnings))


if __name__ == "__main__":
    raise SystemExit(main())
