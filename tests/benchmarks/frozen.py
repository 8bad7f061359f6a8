"""Workers are stopped, or killed, at random moments under load; afterwards ledger, memory and files agree.

    python -m tests.benchmarks.frozen {embedded,servers,rabbitmq} {stop,kill} [--seconds 20] [--seed 1]

Two workers make releases, and publish the periods of two streams, as fast as they can, on SQLite under the supervisor,
or on PostgreSQL with Redis or RabbitMQ. All the time one of them is stopped, for up to twice the time after which it is
taken for dead, or killed. In the end every release must be ready once, with one charge that the memory knows and one
measurement that the sweep leaves, or given up after three attempts with nothing spent; every stream must have the
periods that were sent, none of which ever said something else. Prints what happened; exits with 1 if anything is amiss.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

from tests.benchmarks.storms import Currents
from tests.conftest import POSTGRES_URL, RABBITMQ_URL, REDIS_URL
from tests.dpportal.crashes.stage import Stage
from tests.dpportal.world import World, embedded, kill, with_servers

AMOUNT, MILLIONTHS = "0.001", 1000
WORKERS, MOST_WAITING = 2, 4
LONGEST_STOP_SECONDS = 16.0
# Something comes to its end within each so many seconds, until all has.
SETTLING_SECONDS = 240.0

SUPERVISED = """
import os, signal, django
django.setup()
from dpportal.jobs.embedded import load_everything, processes
from dpportal.jobs.supervisor import supervise
signal.signal(signal.SIGTERM, signal.default_int_handler)
load_everything()
supervise(processes("127.0.0.1", 0, 2)[1:3], lambda: None)
"""


class AmissError(Exception):
    """What should not be."""


@dataclass
class Storm:
    """A portal whose workers are stopped or killed."""

    stage: Stage
    random: random.Random
    currents: Currents
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)
    releases: list[UUID] = field(default_factory=list)
    strikes: int = 0
    given_up: int = 0
    slowest: float = 0.0

    @property
    def is_embedded(self) -> bool:
        return not self.stage.world.broker

    def begin(self) -> None:
        if self.is_embedded:
            self.workers = [self.stage.world.start("-c", SUPERVISED)]
        else:
            self.workers = [self.stage.worker() for _ in range(WORKERS)]

    def confirm(self) -> None:
        """Ask for as many releases as may wait, and send the streams what comes next."""
        while len(self.unfinished()) < MOST_WAITING:
            self.releases.append(UUID(self._timed("confirm", AMOUNT)))
        self.currents.go_on(self._timed)

    def _timed(self, *question: Any) -> Any:
        """Let the clerk do something, and note how long a person waits at most."""
        started = time.monotonic()
        answer = self.stage.ask(*question)
        self.slowest = max(self.slowest, time.monotonic() - started)
        return answer

    def unfinished(self) -> list[UUID]:
        active = "SELECT release_id FROM releases_releasejob WHERE state IN ('queued', 'running')"
        rows = self.stage.world.rows(active)
        return [UUID(str(row[0])) for row in rows]

    def strike(self, number: signal.Signals) -> None:
        """Stop a worker for a while, or kill it and start another."""
        self.strikes += 1
        if number == signal.SIGKILL and not self.is_embedded:
            victim = self.workers.pop(self.random.randrange(len(self.workers)))
            kill(victim)
            self.workers.append(self.stage.worker())
            self.work_on(2 * LONGEST_STOP_SECONDS)  # a worker takes seconds to start
            return
        group = self.random.choice(self._groups())
        with suppress(ProcessLookupError):
            os.killpg(group, number)
        self.work_on(LONGEST_STOP_SECONDS)
        with suppress(ProcessLookupError):
            os.killpg(group, signal.SIGCONT)

    def work_on(self, most: float) -> None:
        """For a random while, as people do who know nothing of it."""
        until = time.monotonic() + self.random.uniform(0.2, most)
        while time.monotonic() < until:
            self.keep()
            self.confirm()
            time.sleep(0.2)

    def _groups(self) -> list[int]:
        if not self.is_embedded:
            return [worker.pid for worker in self.workers]
        pid = self.workers[0].pid
        while len(children := Path(f"/proc/{pid}/task/{pid}/children").read_text().split()) < 2:
            time.sleep(0.1)
        return [int(child) for child in children]

    def settle(self) -> None:
        """Wait until all is through. Raises AmissError if it is not."""
        until, fewest = 0.0, math.inf
        while left := [*self.unfinished(), *self.currents.unfinished()]:
            if len(left) < fewest:
                until, fewest = time.monotonic() + SETTLING_SECONDS, len(left)
            if time.monotonic() > until:
                raise AmissError(f"not done: {left}")
            self.keep()
            time.sleep(0.5)

    def keep(self) -> None:
        """Start again whatever ended by itself, as a process manager does."""
        if self.is_embedded:
            return
        self.workers = [each if each.poll() is None else self.stage.worker() for each in self.workers]

    def end(self) -> None:
        for worker in self.workers:
            worker.terminate()
        for worker in self.workers:
            with suppress(subprocess.TimeoutExpired):
                worker.wait(30)
            kill(worker)

    def check(self) -> None:
        """Raises AmissError unless ledger, memory and files agree, once what no row names was swept."""
        self.stage.ask("sweep_files")
        stored = self.stage.files()
        for release in self.releases:
            seen = self.stage.see(release)
            if seen.job["attempts"] == 3 and (seen.release["state"], seen.charge["state"]) == (
                "failed",
                "void",
            ):
                self.given_up += 1
                continue
            if (seen.release["state"], seen.charge["state"]) != ("ready", "spent"):
                raise AmissError(f"{release}: {seen.release['state']}, {seen.charge['state']}")
            digests = self.stage.ask("digests", str(release))
            named = {**seen.artifacts, "measurement": seen.release["measurement"]}
            if {name: stored.get(file) for name, file in named.items()} != digests:
                raise AmissError(f"{release}: its files are not those that its rows name")
            if sum(f"{release}/measurement/" in name for name in stored) != 1:
                raise AmissError(f"{release}: it has more measurements than one")
        if faults := self.currents.amiss():
            raise AmissError("\n".join(faults))
        ready = len(self.releases) - self.given_up + self.currents.charged
        if self.stage.budget() != (MILLIONTHS * ready, 0):
            raise AmissError(f"spent and reserved: {self.stage.budget()} for {ready} charges")
        answer = self.stage.world.run("manage.py", "check_restored").strip()
        if answer != "Database and memory agree.":
            raise AmissError(answer)


@contextmanager
def world_of(kind: str, folder: Path) -> Iterator[World]:
    """A portal of this kind."""
    with ExitStack() as stack:
        if kind == "embedded":
            yield stack.enter_context(embedded(folder))
            return
        world = stack.enter_context(with_servers(folder, POSTGRES_URL, REDIS_URL))
        if kind == "rabbitmq":
            host = f"portal-{os.getpid()}"
            stack.enter_context(virtual_host(host))
            world.broker["CELERY_BROKER_URL"] = f"{RABBITMQ_URL}/{host}"
        yield world


@contextmanager
def virtual_host(name: str) -> Iterator[None]:
    """A part of RabbitMQ of its own."""

    def control(*words: str) -> None:
        subprocess.run(["rabbitmqctl", "--quiet", *words], check=True)

    control("add_vhost", name)
    try:
        control("set_permissions", "-p", name, "guest", ".*", ".*", ".*")
        yield
    finally:
        control("delete_vhost", name)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kind", choices=["embedded", "servers", "rabbitmq"])
    parser.add_argument("how", choices=["stop", "kill"])
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    number = {"stop": signal.SIGSTOP, "kill": signal.SIGKILL}[options.how]
    with tempfile.TemporaryDirectory() as folder, world_of(options.kind, Path(folder) / "world") as world:
        stage = Stage(world)
        storm = Storm(stage, random.Random(options.seed), Currents(stage, AMOUNT))
        weather(storm, options.seconds, lambda: storm.strike(number))


def weather(storm: Storm, seconds: float, strike: Callable[[], None]) -> None:
    """Strike for so long, let all come to its end, and tell of it. Raises AmissError."""
    try:
        storm.begin()
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            storm.confirm()
            time.sleep(storm.random.uniform(0.0, 2.0))
            strike()
        storm.settle()
    finally:
        storm.end()
        print(
            f"{len(storm.releases)} releases, {len(storm.currents.streams)} streams with "
            f"{len(storm.currents.seen)} periods, {storm.strikes} strikes, longest wait {storm.slowest:.1f} s"
        )
        print("what processes said:", *summary(storm.stage.world.log()), sep="\n  ")
    storm.check()
    print(f"{storm.given_up} given up after three attempts, nothing spent; ledger, memory and files agree")


def summary(log: Path) -> list[str]:
    """The lines of errors, the last part of each, with how often."""
    lines = [
        line.partition(": ")[2][:100]
        for line in log.read_text(errors="replace").splitlines()
        if " ERROR " in line
    ]
    return [f"{lines.count(line):>5}  {line}" for line in sorted(set(lines))][:40]


if __name__ == "__main__":
    main()
